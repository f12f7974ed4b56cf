import type { Observation } from '#agent/decide/observation.ts';
import type { Config } from '#agent/decide/state.ts';
import { ready, table } from '../../support/agent/decision-table.ts';
import { A, B, C, DOWN, fallingBack, idle, judging, onTrial, seen, wanting } from '../../support/agent/states.ts';

const ON_TRIAL = 'trial (install): B, good local';
const LOCAL = 'idle: local';
const runsIt: Partial<Observation> = { staged: ready, runsStaged: true };
const REBOOTED: Config = { ...B, reboot: { by: 'systemd', boot: 'boot-1', timeoutMs: 600_000 } };

table('the trial of a config that the kubelet runs already', {
  'is left out on a node at rest, where nothing is in doubt': [
    idle(null),
    seen(wanting(B), runsIt),
    'idle: B → install B, collect-garbage',
  ],
  'is held where the kubelet is not healthy with it': [
    idle(null),
    seen(wanting(B), runsIt, DOWN),
    `${ON_TRIAL} → install B`,
  ],
  'is held where the machine is to boot with it': [
    idle(null),
    seen(wanting(REBOOTED), runsIt),
    `${ON_TRIAL} → install B`,
  ],
  'is held where another one is on trial: who knows what that left behind': [
    onTrial(judging()),
    seen(wanting(C), { staged: { ...ready, config: C }, runsStaged: true }),
    'trial (install): C, good A → install C',
  ],
  'waits for the end of a way back': [
    fallingBack(A, judging()),
    seen(wanting(C), { staged: { ...ready, config: C }, runsStaged: true }),
    'falling-back (judge): B, active A, CrashLoop',
  ],
});

const spent = (turn?: string): Partial<Observation> => ({
  intent: { intent: 'config', config: B, isSpent: true, ...(turn === undefined ? {} : { turn }) },
  staged: ready,
});

table('a config that was carried out before the agent lost its state', {
  'is not tried again: it waits for a turn': [idle(null), seen(spent()), LOCAL],
  'is not tried again in the turn for something else': [idle(null), seen(spent('another')), LOCAL],
  'is tried again in its turn': [idle(null), seen(spent(seen().fingerprint)), `${ON_TRIAL} → install B`],
  'is tried as any other where the agent has not lost what was good': [
    idle(A),
    seen(spent()),
    'trial (install): B, good A → install B',
  ],
});
