import { differ, lost, table } from '../../support/agent/decision-table.ts';
import type { Observation } from '#agent/decide/observation.ts';
import { A, fallingBack, idle, judging, rejecting, seen, wanting } from '../../support/agent/states.ts';

const asked: Partial<Observation> = { leaving: 'asked', ...wanting(null) };

table('a node that is to be given up', {
  'goes back to local first': [idle(A), seen(asked), 'falling-back (install): local → install local'],
  'is not left while it is on its way': [
    fallingBack(null, judging(), { because: 'unassigned' }),
    seen(asked),
    'falling-back (judge): local, CrashLoop',
  ],
  'is left when it is at rest with its own config': [idle(null), seen(asked), 'idle: local → leave'],
  'goes back to local where its files are not in place, as after its records were lost': [
    idle(null),
    seen(asked, differ),
    'falling-back (install): local → install local',
  ],
  'is not left while something guards it': [
    idle(null),
    seen(asked, { guard: { guard: 'armed', trial: 'some', to: 'local' } }),
    'idle: local → disarm-guard',
  ],
  'is left when its guard is put away': [
    idle(null),
    seen(asked, { guard: { guard: 'disarmed' } }),
    'idle: local → leave',
  ],
  'is left without a clean-up: everything goes': [idle(null), seen(asked, { first: true }), 'idle: local → leave'],
  'is not left while nobody can tell its files': [idle(null), seen(asked, lost), 'idle: local'],
  'is not left with a config of ours: the news that it is unassigned has yet to come': [
    idle(A),
    seen({ leaving: 'asked' }),
    'idle: A',
  ],
  'is not left with a config of ours whose assignment nobody remembers': [
    { ...idle(A), assigned: null },
    seen({ leaving: 'asked' }),
    'idle: local, active A',
  ],
  'is not left with an assignment, though it runs local': [
    rejecting(null),
    seen({ leaving: 'asked' }),
    'idle: B, active local, CrashLoop',
  ],
  'is left once': [idle(null), seen(asked, { leaving: 'done' }), 'idle: local'],
});
