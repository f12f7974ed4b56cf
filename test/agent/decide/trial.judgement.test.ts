import type { Observation } from '#agent/decide/observation.ts';
import { run, notReady, unreadNode, table } from '../../support/agent/decision-table.ts';
import { B, DOWN, judging, onTrial, RESTARTING, seen, wanting } from '../../support/agent/states.ts';

const FORGIVING = { ...B, trial: { ...B.trial, maxRestarts: 4 } };
/** Nothing is queued that would start it: a start limit, or `Restart=no`. */
const GIVEN_UP: Partial<Observation> = { service: { state: 'failed', run: null, automaticRestarts: 0 } };

table('a trial that is judged', {
  'is taken back after 15 seconds where the service manager has given the kubelet up': [
    onTrial(judging({ healthy: false, unhealthyMs: 10_000 })),
    seen(wanting(B), GIVEN_UP, DOWN),
    'falling-back (install): B, active A, NotHealthy → install A',
  ],
  'is not taken back before that': [
    onTrial(judging({ healthy: false, unhealthyMs: 9_999 })),
    seen(wanting(B), GIVEN_UP, DOWN),
    'trial (judge): B, good A',
  ],
  'does not fail for time that went by before nobody could tell': [
    onTrial(judging({ healthy: false, unhealthyMs: 120_000 })),
    seen(wanting(B), unreadNode),
    'trial (judge): B, good A',
  ],
  'fails as a crash loop where the kubelet was restarted and stays down': [
    onTrial(judging({ restarts: 1, healthy: false, unhealthyMs: 115_000 })),
    seen(wanting(B), DOWN),
    'falling-back (install): B, active A, CrashLoop → install A',
  ],
  'fails for the Node where that is not Ready, whether or not the kubelet was restarted': [
    onTrial(judging({ restarts: 1, healthy: false, unhealthyMs: 115_000 })),
    seen(wanting(B), notReady),
    'falling-back (install): B, active A, NodeNotReady → install A',
  ],
  'one look before the kubelet has been unhealthy for too long': [
    onTrial(judging({ healthy: false, unhealthyMs: 114_999 })),
    seen(wanting(B), DOWN),
    'trial (judge): B, good A',
  ],
  'fails when the kubelet has been unhealthy for too long': [
    onTrial(judging({ healthy: false, unhealthyMs: 115_000 })),
    seen(wanting(B), DOWN),
    'falling-back (install): B, active A, NotHealthy → install A',
  ],
  'forgives as many crashes as it is told to': [
    onTrial(judging({ automaticRestarts: 0 })),
    seen(wanting(B), run('run-2', 2)),
    'trial (judge): B, good A',
  ],
  'fails at one crash more': [
    onTrial(judging({ automaticRestarts: 0 })),
    seen(wanting(B), run('run-2', 3)),
    'falling-back (install): B, active A, CrashLoop → install A',
  ],
  'counts runs where nobody counts restarts': [
    onTrial(judging({ automaticRestarts: null, restarts: 2 })),
    seen(wanting(B), run('run-2', null)),
    'falling-back (install): B, active A, CrashLoop → install A',
  ],
  'does not count what a person restarts': [
    onTrial(judging({ automaticRestarts: 0, restarts: 2 })),
    seen(wanting(B), run('run-2', 0)),
    'trial (judge): B, good A',
  ],
  'does not take a reboot for a crash': [
    onTrial(judging({ automaticRestarts: 0, restarts: 2 })),
    seen(wanting(B), { bootId: 'boot-2', ...run('run-9', 5) }),
    'trial (judge): B, good A',
  ],
  'goes on after a second boot that nobody ordered': [
    onTrial(judging(), { boots: 1 }),
    seen(wanting(B), { bootId: 'boot-2', ...run('run-9') }),
    'trial (judge): B, good A',
  ],
  'fails at a third': [
    onTrial(judging(), { boots: 2 }),
    seen(wanting(B), { bootId: 'boot-2', ...run('run-9') }),
    'falling-back (install): B, active A, MachineRebooted → install A',
  ],
  'counts a boot that came before its own restart was seen': [
    onTrial(RESTARTING, { boots: 2 }),
    seen(wanting(B), { bootId: 'boot-2', ...run('run-9') }),
    'falling-back (install): B, active A, MachineRebooted → install A',
  ],
  'goes on after as many as crashes are forgiven, where that is more': [
    onTrial(judging(), { boots: 3, config: FORGIVING }),
    seen(wanting(FORGIVING), { bootId: 'boot-2', ...run('run-9') }),
    'trial (judge): B, good A',
  ],
  'does not count the boot that its pool ordered': [
    onTrial(
      { step: 'reboot', bootId: 'boot-1', orders: 1, waitedMs: 0 },
      { boots: 2, config: { ...B, reboot: { by: 'systemd', boot: 'boot-1', timeoutMs: 60_000 } } },
    ),
    seen(wanting(B), { bootId: 'boot-2', ...run('run-9') }),
    'trial (judge): B, good A → withdraw-reboot',
  ],
  'goes on for a Node that has not been Ready for less than the start timeout': [
    onTrial(judging({ healthy: false, unhealthyMs: 114_999 })),
    seen(wanting(B), notReady),
    'trial (judge): B, good A',
  ],
  'fails when the Node is no longer Ready': [
    onTrial(judging({ healthy: false, unhealthyMs: 115_000 })),
    seen(wanting(B), notReady),
    'falling-back (install): B, active A, NodeNotReady → install A',
  ],
  'does not blame the config for a Node that was not Ready before': [
    onTrial(judging({ healthyMs: 595_000 }), { wasReady: false }),
    seen(wanting(B), notReady),
    'idle: B → collect-garbage',
  ],
  'falls back to local where nothing was good before': [
    onTrial(judging({ healthy: false, unhealthyMs: 115_000 }), {}, null),
    seen(wanting(B), DOWN),
    'falling-back (install): B, active local, NotHealthy → install local',
  ],
});
