import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { targetIdOf } from '#agent/decide/trial-guard.ts';
import type { Observation } from '#agent/decide/observation.ts';
import { neededConfigs, type State, type Target, type Unproven } from '#agent/decide/state.ts';
import { pendingAssignment } from '#agent/report/pending-assignment.ts';
import { turnNeeded } from '#agent/decide/restart-turn.ts';
import { ready, table } from '../../support/agent/decision-table.ts';
import {
  A,
  AT,
  B,
  C,
  fallingBack,
  INSTALLING,
  judging,
  onTrial,
  seen,
  TERMS,
  wanting,
} from '../../support/agent/states.ts';
import { asked, nextBoot, promoted, tookBack, tookBackNow, unwatched, watching } from './support/boots.ts';

const proven = judging({ healthyMs: TERMS.durationMs - 1 });
const armedForTrial: Partial<Observation> = {
  guard: {
    guard: 'armed',
    trial: `${B.source.name}/${B.source.sha256}/overlay@${AT}`,
    to: targetIdOf(A),
    boots: { guard: 'disarmed' },
  },
};
const promotion = (state: State, ...parts: readonly Partial<Observation>[]) =>
  decide(state, seen(wanting(B), { elapsedMs: 5_000 }, armedForTrial, ...parts));

describe('a promotion', () => {
  it('is remembered with what an agent came up under before, and looked after at once', () => {
    const { next, actions } = promotion(onTrial(proven));
    assert.deepEqual(next.unproved, { sha256: B.source.sha256, to: A, bootId: 'boot-1', absences: 0 });
    assert.deepEqual(
      actions.map((action) => action.do),
      ['collect-garbage', 'arm-guard'],
    );
    assert.deepEqual(neededConfigs(next, null), [B, B, B, A], 'the way back needs its payload');
  });

  const rows: readonly (readonly [string, State, Partial<Observation>, Target | undefined, number])[] = [
    [
      'over a config that no boot has shown',
      { ...onTrial(proven), unproved: { sha256: A.source.sha256, to: C, bootId: 'boot-1', absences: 1 } },
      {},
      C,
      0,
    ],
    ['over local', onTrial(proven, {}, null), {}, null, 0],
    [
      'of what the guard took back once',
      { ...onTrial(proven), unproved: { sha256: B.source.sha256, to: A, bootId: 'boot-2', absences: 1 } },
      {},
      A,
      1,
    ],
    [
      'that was half written down',
      { ...onTrial(proven, {}, C), unproved: { sha256: B.source.sha256, to: A, bootId: 'boot-1', absences: 0 } },
      {},
      A,
      0,
    ],
    [
      'over something else than what it was about',
      { ...onTrial(proven), unproved: { sha256: C.source.sha256, to: null, bootId: 'boot-1', absences: 1 } },
      {},
      A,
      0,
    ],
  ];
  for (const [what, state, observation, to, absences] of rows) {
    it(`${what}: where the guard leads, and how often no agent came`, () => {
      const { unproved } = promotion(state, observation).next;
      assert.deepEqual([unproved?.to, unproved?.absences], [to, absences]);
    });
  }

  it('back to what an agent came up under, or where nobody watches boots, leaves nothing to watch', () => {
    const back: State = {
      ...onTrial(proven),
      unproved: { sha256: A.source.sha256, to: B, bootId: 'boot-1', absences: 0 },
    };
    assert.equal('unproved' in promotion(back).next, false);
    assert.equal('unproved' in promotion(onTrial(proven), { guard: { guard: 'none', why: 'off' } }).next, false);
  });
});

table('a config that was promoted and not booted with', {
  'is watched over the next boot': [promoted(), seen(wanting(B), unwatched), 'idle: B → arm-guard'],
  'is watched once': [promoted(), seen(wanting(B), watching()), 'idle: B'],
  'is watched in place of another': [promoted(), seen(wanting(B), watching('other@boots')), 'idle: B → arm-guard'],
  'is proven by an agent that is there after a boot': [
    promoted(),
    seen(wanting(B), watching(), nextBoot),
    'idle: B → reassure-guard, disarm-guard',
  ],
  'is watched no more while the next one is tried': [
    promoted(),
    seen(wanting(C), { staged: { config: C, outcome: 'ready', warnings: [] } }, watching()),
    'trial (install): C, good B → arm-guard',
  ],
  'is watched no more on the way to local': [
    promoted(),
    seen(wanting(null), watching()),
    'falling-back (install): local → reassure-guard, disarm-guard, install local',
  ],
  'goes back to what an agent came up under, and is not blamed': [
    promoted(),
    seen(wanting(B), tookBack()),
    'falling-back (install): A → reassure-guard, disarm-guard, install A',
  ],
  'is rejected after the second boot': [
    promoted({ absences: 1 }),
    seen(wanting(B), tookBack()),
    'falling-back (install): B, active A, AgentSilent → reassure-guard, disarm-guard, install A',
  ],
  'counts one boot once: the agent died before the rest was written down': [
    promoted({ absences: 1, bootId: 'boot-2' }),
    seen(wanting(B), tookBack()),
    'falling-back (install): A → reassure-guard, disarm-guard, install A',
  ],
  'goes back, and is not blamed, after a start of the kubelet in the boot of the promotion': [
    promoted({ bootId: 'boot-2' }),
    seen(wanting(B), tookBackNow()),
    'falling-back (install): A → reassure-guard, disarm-guard, install A',
  ],
  'is rejected after the second such start in one boot': [
    promoted({ bootId: 'boot-2', absences: 1 }),
    seen(wanting(B), tookBackNow()),
    'falling-back (install): B, active A, AgentSilent → reassure-guard, disarm-guard, install A',
  ],
  'counts one start once: the agent died before the rest was written down': [
    promoted({ bootId: 'boot-2 start', absences: 1 }),
    seen(wanting(B), tookBackNow()),
    'falling-back (install): A → reassure-guard, disarm-guard, install A',
  ],
  'goes back, and is not blamed, where the machine went down in boot after boot for the first time': [
    promoted({ absences: 0 }),
    seen(wanting(B), tookBack({ cause: 'boots', starts: 2 })),
    'falling-back (install): A → reassure-guard, disarm-guard, install A',
  ],
  'goes back, and is not blamed, where it did so for the second time': [
    promoted({ absences: 1 }),
    seen(wanting(B), tookBack({ cause: 'boots', starts: 2 })),
    'falling-back (install): A → reassure-guard, disarm-guard, install A',
  ],
  'is rejected where it did so for the third time': [
    promoted({ absences: 2 }),
    seen(wanting(B), tookBack({ cause: 'boots', starts: 2 })),
    'falling-back (install): B, active A, AgentSilent → reassure-guard, disarm-guard, install A',
  ],
  'counts boots that were lost once: the agent died before the rest was written down': [
    promoted({ absences: 2, bootId: 'boot-2 boots' }),
    seen(wanting(B), tookBack({ cause: 'boots', starts: 2 })),
    'falling-back (install): A → reassure-guard, disarm-guard, install A',
  ],
  'is rejected after a boot beside other pods that follows on boots that were lost': [
    promoted({ absences: 1, bootId: 'boot-1' }),
    seen(wanting(B), tookBack()),
    'falling-back (install): B, active A, AgentSilent → reassure-guard, disarm-guard, install A',
  ],
  'tells the guard after a start of the kubelet that the agent lives on': [
    promoted(),
    seen(wanting(B), asked()),
    'idle: B → reassure-guard',
  ],
  'does not as long as the kubelet may not have heard of its pods': [
    promoted(),
    seen(wanting(B), asked({ nodeReady: 'unknown' })),
    'idle: B',
  ],
  'tells the guard once in each process which pod the agent is in': [
    promoted(),
    seen(wanting(B), watching(), { first: true, nodeReady: 'unknown' }),
    'idle: B → reassure-guard, collect-garbage',
  ],
  'leaves alone what is assigned beside it': [
    { ...promoted(), assigned: C },
    seen(tookBack()),
    'falling-back (install): C, active A → reassure-guard, disarm-guard, install A',
  ],
  'says nothing of another that runs since': [
    promoted({}, C),
    seen(wanting(C), tookBack()),
    'idle: C → reassure-guard, disarm-guard',
  ],
  'says nothing of a watch for another': [
    promoted(),
    seen(wanting(B), tookBack({ trial: 'other@boots' }), { bootId: 'boot-1' }),
    'idle: B → arm-guard',
  ],
  'waits for its turn once the way back is over': [
    promoted({ absences: 1, bootId: 'boot-2' }, A),
    seen(wanting(B), { staged: ready }, unwatched, nextBoot),
    'idle: A',
  ],
  'is tried again when it has it': [
    promoted({ absences: 1, bootId: 'boot-2' }, A),
    seen({ intent: { intent: 'config', config: B, turn: 'f00d' }, staged: ready }, unwatched, nextBoot),
    'trial (install): B, good A → arm-guard',
  ],
  'holds up nothing else': [
    promoted({ absences: 1, bootId: 'boot-2' }, A),
    seen(wanting(C), { staged: { config: C, outcome: 'ready', warnings: [] } }, unwatched, nextBoot),
    'trial (install): C, good A → arm-guard',
  ],
});

describe('the turn for another trial', () => {
  const waits = promoted({ absences: 1, bootId: 'boot-2' }, A);

  it('is asked for by the payload, in words that say why', () => {
    const now = seen(wanting(B), unwatched, nextBoot);
    const message = `no agent came up under ${B.source.name} after a boot, so the guard took it back without a verdict: it is tried again in its turn`;
    assert.deepEqual(turnNeeded(waits, now), { reason: 'StateLost', seen: 'f00d', config: B.source.sha256, message });
    assert.deepEqual(pendingAssignment(waits, now), { reason: 'AwaitsTurn', message });
  });

  it('says whether it was a start of the kubelet', () => {
    const of = promoted({ absences: 1, bootId: 'boot-2 start' }, A);
    assert.match(
      turnNeeded(of, seen(wanting(B), unwatched))?.message ?? '',
      / after a start of the kubelet, so the guard/,
    );
  });

  it('is asked for twice after boots that were lost, and says so', () => {
    const after = (absences: number) =>
      turnNeeded(promoted({ absences, bootId: 'boot-2 boots' }, A), seen(wanting(B), unwatched, nextBoot));
    assert.match(after(1)?.message ?? '', / in boots that ended soon, so the guard/);
    assert.deepEqual([after(2), after(3)], [after(1), null]);
  });

  it('is asked for by a node that went back to its own config', () => {
    const local = { ...promoted({ to: null, absences: 1, bootId: 'boot-2' }, null) };
    assert.equal(turnNeeded(local, seen(wanting(B), unwatched, nextBoot))?.config, B.source.sha256);
  });

  it('is asked for by nobody else', () => {
    assert.equal(
      turnNeeded({ ...waits, unproved: promoted({ absences: 2 }).unproved as Unproven }, seen(wanting(B), unwatched)),
      null,
      'an assignment after the blame is a turn',
    );
    assert.equal(turnNeeded(waits, seen(wanting(C), unwatched)), null);
    assert.equal(turnNeeded(waits, seen(unwatched)), null);
    assert.equal(turnNeeded(promoted({}, A), seen(wanting(B), unwatched)), null);
    assert.equal(turnNeeded(promoted({ absences: 1 }), seen(wanting(B), unwatched)), null);
    assert.equal(turnNeeded({ ...waits, doing: fallingBack(A, INSTALLING).doing }, seen(wanting(B), unwatched)), null);
  });
});
