import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { releaseValue } from '#reconciler/policy/rollout/halt.ts';
import { NO_SIGNALS, type Signals } from '#reconciler/policy/signals.ts';
import { writtenRecords } from '#reconciler/policy/proof/own-records.ts';
import { RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode, KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  commit,
  COMMIT_B,
  configSource,
  failedNode,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  poolSpec,
  settledNode,
  settledOn,
  validPool,
} from '../../support/fleet.ts';

const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
const AT = toTimestamp(NOW);
const [old, next] = [validPool('workers', 110), validPool('workers', 120)];
const node = nodeView('a', 'workers');
const stray = nodeView('a', 'nobody');
const quick = { trial: { duration: '1m', startTimeout: '30s', maxRestarts: 0 } };
const reboot = { by: 'systemd', boot: 'boot-1', timeout: '1h' } as const;
const asks = { phase: 'Drifted', awaitsTurn: { reason: 'NewBase', seen: 's', message: 'its file' } } as const;
const HALT = { config: next.configName, sha256: next.sha256, at: AT, message: 'it failed', action: 'halt' } as const;
const released = poolInCluster(old, { halt: HALT });
const RELEASED: KubeletPool = {
  ...released,
  metadata: { ...released.metadata, annotations: { [RELEASE_ANNOTATION]: releaseValue(HALT) } },
};

const { probation: _, ...soon } = poolSpec().rollout;
const full = poolSpec().trial;
const short = { ...full, duration: '2m30s' };
/** The same pools where places are given back. */
const [oldSoon, nextSoon] = [
  validPool('workers', 110, { rollout: soon }),
  validPool('workers', 120, { rollout: soon }),
];
const poolSettledOn = (pool: ValidPool) => poolInCluster(old, settledOn(pool));

interface Case {
  readonly view?: NodeView;
  readonly present?: KubeletPool;
  readonly signals?: Signals;
  /** The object of another node. */
  readonly beside?: KubeletNode;
}

const withSpec = (of: KubeletNode, spec: Partial<KubeletNodeSpec>): KubeletNode => ({
  ...of,
  spec: { ...of.spec, ...spec },
});
const USUAL = ['apply', 'commit', 'configSource', 'pool', 'trial'];
const BLOCKED = validPool('workers', 120, { blockers: { pods: { selector: {} } } });
const answered = (quiet: boolean): Signals => ({
  blockers: new Map([['workers', { quiet, because: '' }]]),
  drains: new Map(),
});
const { metadata } = idleNode(node);

const [SETTLED, ASKING] = [settledNode(node, old), settledNode(node, old, asks)];
const STRAY = settledNode(stray, old);
const SHORT = withSpec(SETTLED, { trial: short });
const QUICK = validPool('workers', 110, quick);

/** What a node is and what its pool wants: the step and the keys of the spec that it is told, some of its values, and what else there is. */
const ROWS: readonly (readonly [
  string,
  KubeletNode,
  ValidPool,
  told: string | null,
  Partial<KubeletNodeSpec>?,
  Case?,
])[] = [
  ['that is the first to try a config has the full trial', SETTLED, nextSoon, 'assign usual', { trial: full }],
  [
    'that is told what the pool settled on has the shorter trial',
    SETTLED,
    nextSoon,
    'assign usual',
    { trial: short },
    { present: poolSettledOn(next) },
  ],
  [
    'that is new, and told what the pool settled on before, has the shorter trial',
    idleNode(node),
    nextSoon,
    'assign usual',
    { trial: short },
    {
      view: { ...node, createdAt: NOW },
      present: poolSettledOn(old),
      beside: settledNode(nodeView('b', 'workers'), old),
    },
  ],
  [
    'that asks for a restart has the full trial, whatever it was told',
    withSpec(ASKING, { trial: short }),
    oldSoon,
    'assign usual turn',
    { trial: full },
  ],
  ['keeps the trial that it was told, whether full or not', SHORT, oldSoon, null],
  ['that failed keeps the trial that it was told', withSpec(failedNode(node, old), { trial: short }), oldSoon, null],
  ['hears of the full trial again where places are held to the end', SHORT, old, 'amend usual', { trial: full }],
  ['in its turn is told the config and nothing else', SETTLED, next, 'assign usual'],
  ['that never reported is told nothing', { metadata }, next, null],
  [
    'that failed and was forgiven is told which failure that was',
    failedNode(node, next),
    next,
    'assign usual forgive',
    { forgive: AT },
    { present: RELEASED },
  ],
  ['that failed hears of other trial settings', failedNode(node, old), QUICK, 'amend usual', quick],
  ['that is done hears of other trial settings', SETTLED, QUICK, 'amend usual', quick],
  ['that asks for a restart is granted what it saw', ASKING, old, 'assign usual turn', { turn: { seen: 's' } }],
  [
    'that asks for a restart keeps its order to reboot in this boot',
    withSpec(ASKING, { reboot }),
    old,
    'assign usual reboot turn',
    { reboot },
  ],
  [
    'that asks for a restart loses its order to reboot once it has',
    withSpec(ASKING, { reboot: { ...reboot, boot: 'boot-0' } }),
    old,
    'assign usual turn',
  ],
  [
    'that asks for a restart and does not say which boot it is in has no order to reboot',
    withSpec(settledNode(node, old, { ...asks, bootID: '' }), { reboot }),
    old,
    'assign usual turn',
  ],
  [
    'that leaves its pool keeps the name of it until it has left',
    STRAY,
    old,
    'unassign pool',
    { pool: 'workers' },
    { view: stray },
  ],
  [
    'that leaves and that nobody remembers the pool of is told nothing but that',
    { metadata: STRAY.metadata, status: STRAY.status ?? {} },
    old,
    'unassign',
    {},
    { view: stray },
  ],
  [
    'that is told another config is told under the next number',
    withSpec(settledNode(node, old, { obeyedOrder: 8 }), { order: 7 }),
    next,
    'assign usual',
    { order: 9 },
  ],
  [
    'that leaves its pool is told under the next number',
    withSpec(STRAY, { order: 7 }),
    old,
    'unassign pool',
    { order: 8 },
    { view: stray },
  ],
  [
    'that hears of other trial settings hears of them under the number that it has',
    withSpec(SETTLED, { order: 7 }),
    QUICK,
    'amend usual order',
    { order: 7 },
  ],
  [
    'that has left its pool forgets the name of it',
    { ...idleNode(stray), spec: { pool: 'workers' } },
    old,
    'amend',
    {},
    { view: stray },
  ],
  ['is told when what has to be quiet is', SETTLED, BLOCKED, 'assign usual', {}, { signals: answered(true) }],
  ['is told nothing while it is not', SETTLED, BLOCKED, null, {}, { signals: answered(false) }],
];

describe('a node', () => {
  for (const [name, is, wants, says, values = {}, there = {}] of ROWS) {
    it(name, () => {
      const { view = node, present = poolInCluster(old), signals, beside } = there;
      const [step = null, ...keys] = says?.split(' ') ?? [];
      const expected = keys.flatMap((key) => (key === 'usual' ? USUAL : [key]));
      const fleet = fleetOf({
        nodes: [view],
        kubeletNodes: beside === undefined ? [is] : [is, beside],
        configSources: [configSource(old), configSource(next)],
        pools: [present],
      });
      const desired = desiredState(commit(COMMIT_B, wants), fleet, () => []);
      const { steps } = plan(desired, fleet, SETTINGS, NOW, {
        ...(signals ?? NO_SIGNALS),
        records: writtenRecords(fleet.pools),
      });
      const [told, ...more] = steps.flatMap((each) =>
        each.step === 'assign' || each.step === 'unassign' || each.step === 'amend' ? [each] : [],
      );
      assert.deepEqual([told?.step ?? null, more], [step, []]);
      const spec = told?.spec ?? {};
      // Every order has a number, and other terms are no order.
      const numbered = step === 'assign' || step === 'unassign' ? ['order'] : [];
      assert.deepEqual(Object.keys(spec).toSorted(), [...expected, ...numbered].toSorted());
      assert.deepEqual({ ...spec, ...values }, spec);
    });
  }

  it('that is gone takes its KubeletNode with it: that very one', () => {
    const fleet = fleetOf({ kubeletNodes: [settledNode(node, old)], pools: [poolInCluster(old)] });
    const { steps } = plan(
      desiredState(commit(COMMIT_B, old), fleet, () => []),
      fleet,
      SETTINGS,
      NOW,
    );
    assert.deepEqual(
      steps.find(({ step }) => step === 'delete-node'),
      { step: 'delete-node', node: 'a', uid: 'k-a' },
    );
  });
});

describe('the waves of a pool', () => {
  const rollout = { ...poolSpec().rollout, maxUnavailable: 3 };
  const wavesOf = (nodes: readonly NodeView[], status: KubeletPool['status'], wants: ValidPool) => {
    const fleet = fleetOf({
      nodes,
      kubeletNodes: nodes.map((each) => settledNode(each, old)),
      configSources: [configSource(old), configSource(next)],
      pools: [poolInCluster(old, status)],
    });
    const { pools } = plan(
      desiredState(commit(COMMIT_B, wants), fleet, () => []),
      fleet,
      SETTINGS,
      NOW,
    );
    return pools.get('workers')?.rollout?.waves.map(({ name, nodes: count, state }) => `${name} ${count} ${state}`);
  };

  it('have no node that leaves it', () => {
    const nodes = [nodeView('a', 'workers'), nodeView('b', 'workers'), nodeView('c', 'nobody')];
    assert.deepEqual(wavesOf(nodes, {}, validPool('workers', 120, { rollout })), ['rest 2 waiting']);
  });

  it('are stopped by as many nodes that are not Ready as stop the rollout; fewer only have it wait', () => {
    const nodes = ['a', 'b', 'c'].map((name) => nodeView(name, 'workers', { ready: name !== 'c' }));
    const wavesBy = (threshold: number) => {
      const onFailure = { threshold, action: 'halt' } as const;
      return wavesOf(nodes, {}, validPool('workers', 110, { rollout: { ...rollout, onFailure } }));
    };
    assert.deepEqual([wavesBy(1), wavesBy(2)], [['rest 3 stopped'], ['rest 3 soaking']]);
  });

  it('stay stopped while it is halted, though the node that failed is gone', () => {
    const waves = [{ name: 'rest', nodes: 2, state: 'rolling', startedAt: AT }] as const;
    const about = { configName: next.configName, sha256: next.sha256, startedAt: AT, waves };
    const halted = wavesOf([nodeView('a', 'workers')], { halt: HALT, rollout: about }, next);
    assert.deepEqual(halted, ['rest 2 stopped']);
  });
});
