import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isInPlace,
  isUnavailable,
  LIFECYCLE,
  type Lifecycle,
  lifecycleIn,
} from '#reconciler/policy/rollout/lifecycle.ts';
import {
  isInChange,
  isProvenAndAwaitsTurn,
  type Member,
  memberOf,
  probationIn,
  soakOf,
} from '#reconciler/policy/rollout/membership.ts';
import type { NodesPlan } from '#reconciler/policy/rollout/plan-nodes.ts';
import type { KubeletNode, KubeletNodeSpec, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { commit, COMMIT_A, desiredPool, nodeView, NOW, validPool } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';
import { fc } from '../../../support/property.ts';
import { holds, replayFrom } from '../../../support/replayable.ts';
import { disruptions, MOST_NODES, roughEvents, rollouts, RolloutStory } from '../../../support/rollout-story.ts';
import { sizedNode, sizedPool } from '../../../support/rollout/sized-pool.ts';
import { runsOf } from '../../../support/sample.ts';

const MINUTE = 60_000;
const WHY = { apply: 'overlay', reason: 'CrashLoop', message: '' } as const;
const replay = replayFrom(process.env, 30_112_026);

const wordOf = (lifecycle: Lifecycle): string =>
  Object.entries(LIFECYCLE).find(([, each]) => each === lifecycle)?.[0] ?? 'none';

/** Holds the word of a node against what its booleans say. */
function compare(member: Member): void {
  const { node, progress, changing, pastProbation, forgive } = member;
  const { shown, mayBeTold, inChange, takesPlace, updated, failed } = lifecycleIn(member);
  const word = {
    unavailable: isUnavailable(member),
    isInChange: inChange,
    isInPlace: isInPlace(member),
    pastProbation: inChange && !takesPlace,
    changing: inChange && shown !== 'soaking',
    updated,
    failed,
    mayBeTold,
    progress: shown === 'awaits-turn' ? 'outdated' : shown,
    asks: shown === 'awaits-turn',
  };
  const booleans = {
    unavailable: member.unavailable,
    isInChange: isInChange(member),
    isInPlace: isInChange(member) && !pastProbation,
    pastProbation,
    changing,
    updated: progress === 'settled' || progress === 'soaking' || isProvenAndAwaitsTurn(member),
    failed: progress === 'failed',
    mayBeTold: progress === 'outdated',
    progress,
    asks: member.turnRequest !== undefined,
  };
  assert.deepEqual(word, booleans, `${node.name} is ${wordOf(member.lifecycle)}, forgiven: ${forgive}`);
}

function note({ lifecycle, forgive }: Member, seen: Map<string, number>): void {
  const word = `${forgive ? 'forgiven ' : ''}${wordOf(lifecycle)}`;
  seen.set(word, (seen.get(word) ?? 0) + 1);
}

function compareAll({ groups }: NodesPlan, seen: Map<string, number>): void {
  for (const { group, decisions } of groups) {
    for (const member of [...group.members, ...decisions.map(({ member }) => member)]) {
      compare(member);
      note(member, seen);
    }
  }
}

const SIZES = [
  [2, 7.7],
  [16, 62.3],
  [64, 250],
] as const;
const [TENTH, FIFTH, THIRD] = [0.1, 0.2, 0.3].map(
  (share) => `computed: {systemReserved: {memory: 'memory * ${share}'}}\n`,
);

const sizedEvents = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ event: 'round' } as const) },
  { weight: 2, arbitrary: fc.record({ event: fc.constant('commit' as const), of: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ event: fc.constant('time' as const), minutes: fc.integer({ min: 1, max: 8 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      event: fc.constantFrom('ready' as const, 'cordon' as const, 'resize' as const),
      of: fc.nat(8),
    }),
  },
);

describe('the word of a node says what its booleans say', () => {
  it('in any history of a rollout', (t) => {
    const seen = new Map<string, number>();
    holds(
      'a word says what booleans say',
      fc.property(
        rollouts,
        fc.integer({ min: 1, max: MOST_NODES }),
        disruptions,
        fc.array(fc.oneof({ weight: 20, arbitrary: roughEvents }, { weight: 1, arbitrary: fc.constant(null) }), {
          minLength: 100,
          maxLength: 100,
        }),
        (rollout, nodes, disruption, story) => {
          const told = new RolloutStory(rollout, nodes, disruption);
          for (const event of story) {
            // Nothing happens for so long that all agents count as silent.
            if (event === null) told.fleet.now += 11 * MINUTE;
            else told.happen(event);
            compareAll(told.fleet.reconcile().nodes, seen);
          }
        },
      ),
      runsOf(500, 25),
      replay,
    );
    t.diagnostic(JSON.stringify(Object.fromEntries(seen)));
  });

  it('where values are computed', (t) => {
    const seen = new Map<string, number>();
    const rolloutText = fc.constantFrom(
      '{maxUnavailable: 2}',
      '{maxUnavailable: 2, probation: full, soak: 5m}',
      '{maxUnavailable: 4, soak: 5m, canary: {nodes: 1, perClass: true}}',
    );
    holds(
      'a word says what booleans say with classes',
      fc.property(rolloutText, fc.array(sizedEvents, { minLength: 60, maxLength: 60 }), (rollout, story) => {
        const pools = [TENTH, FIFTH, THIRD].map((computed) => sizedPool(computed ?? '', rollout));
        const fleet = new FleetSimulation();
        const nodeOf = (index: number, size: number) => {
          const [cpu, memory] = SIZES[size % SIZES.length] ?? [1, 1];
          return sizedNode(`n${index}`, cpu, memory, { uid: `u${index}` });
        };
        for (let index = 0; index < 9; index += 1) fleet.addNode(nodeOf(index, index));
        const commitOf = (of: number): void => {
          const pool = pools[of];
          if (pool !== undefined) fleet.inForce = commit(COMMIT_A, pool);
        };
        commitOf(0);
        for (const event of story) {
          if (event.event === 'round') fleet.agentsStep();
          else if (event.event === 'commit') commitOf(event.of);
          else if (event.event === 'time') {
            fleet.now += event.minutes * MINUTE;
            for (const name of fleet.fleet.nodes.keys()) fleet.healthy(name, event.minutes * 60);
          } else {
            const view = fleet.fleet.nodes.get(`n${event.of}`);
            if (view === undefined) continue;
            if (event.event === 'cordon') fleet.addNode({ ...view, cordoned: !view.cordoned });
            else if (event.event === 'ready') fleet.addNode({ ...view, ready: !view.ready, readySince: fleet.now });
            else fleet.addNode({ ...nodeOf(event.of, event.of + 1), firstSeen: view.createdAt });
          }
          compareAll(fleet.reconcile().nodes, seen);
        }
      }),
      runsOf(200, 25),
      replay,
    );
    t.diagnostic(JSON.stringify(Object.fromEntries(seen)));
  });

  it('whatever an agent reports', (t) => {
    const seen = new Map<string, number>();
    const configs = [validPool('workers', 110), validPool('workers', 120)].map(({ configName, sha256 }) => ({
      name: configName,
      sha256,
    }));
    const config = fc.constantFrom(...configs);
    const reference = fc.oneof(config, fc.constant({ name: 'local' }));
    const at = fc.constantFrom(0, 0, 1, 4, 20).map((minutes) => toTimestamp(NOW - minutes * MINUTE));
    const status: fc.Arbitrary<KubeletNodeStatus> = fc.record(
      {
        phase: fc.constantFrom('Idle', 'Drifted', 'Staging', 'Trial', 'Trial', 'FallingBack', 'Broken'),
        heartbeat: at,
        observedGeneration: fc.constantFrom(1, 2, 2, 2),
        assigned: reference,
        active: reference,
        lastKnownGood: reference,
        promotedAt: at,
        awaitsTurn: fc.record({
          reason: fc.constantFrom('NewBase', 'StateLost'),
          seen: fc.constantFrom('s', 't'),
          message: fc.constant(''),
        }),
        rejected: fc.tuple(config, at).map(([of, since]) => [{ ...of, ...WHY, at: since }]),
        preflight: fc
          .tuple(config, at)
          .map(([{ sha256 }, since]) => ({ outcome: 'refused' as const, sha256, at: since })),
        trial: fc.record({
          config: reference.map(({ name }) => name),
          since: at,
          healthySeconds: fc.constantFrom(0, 200, 200),
          durationSeconds: fc.constant(600),
          restarts: fc.constant(0),
        }),
      },
      { requiredKeys: ['heartbeat', 'phase', 'observedGeneration', 'active', 'lastKnownGood', 'trial'] },
    );
    const source = config.map((of) => ({ ...of, namespace: 'n', uid: 'u', resourceVersion: '1', key: 'kubelet' }));
    const spec: fc.Arbitrary<KubeletNodeSpec> = fc.record(
      {
        pool: fc.constant('workers'),
        configSource: source,
        turn: fc.record({ seen: fc.constant('s') }),
        forgive: at,
        preflight: fc.record({ configSource: source }),
      },
      { requiredKeys: [] },
    );
    const kubeletNode: fc.Arbitrary<KubeletNode | undefined> = fc.option(
      fc.record(
        { metadata: fc.constant({ name: 'n', generation: 2 }), spec, status },
        { requiredKeys: ['metadata', 'status'] },
      ),
      { nil: undefined, freq: 50 },
    );
    const pools = ['full', '1m'].map((probation) => {
      const { spec: of, ...pool } = validPool('workers', 110);
      return desiredPool({ ...pool, spec: { ...of, rollout: { ...of.rollout, probation, soak: '10m' } } });
    });
    holds(
      'a word says what booleans say of any report',
      fc.property(
        kubeletNode,
        fc.constantFrom(...configs, null),
        fc.constantFrom(...pools),
        fc.record({ ready: fc.boolean(), cordoned: fc.boolean(), readySince: fc.constantFrom(NOW, NOW - 5 * MINUTE) }),
        (of, config, pool, view) => {
          const target = config === null ? null : { sha256: config.sha256, apply: 'overlay' as const };
          const node = nodeView('n', 'workers', view);
          const member = memberOf(node, of, target, soakOf(pool), NOW, undefined, probationIn(pool));
          // A node without a word of ours that is at work on its way to its local config: the booleans contradict each other.
          fc.pre(!(member.progress === 'settled' && member.changing));
          compare(member);
          note(member, seen);
        },
      ),
      runsOf(500_000, 20),
      replay,
    );
    t.diagnostic(JSON.stringify(Object.fromEntries(seen)));
    assert.equal(seen.size, 14, [...seen.keys()].join());
  });
});
