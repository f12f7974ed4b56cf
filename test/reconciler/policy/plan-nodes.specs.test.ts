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
const settledOn = ({ configName, sha256 }: ValidPool) =>
  poolInCluster(old, { settled: { configName, sha256, apply: 'overlay', at: AT } });

interface Case {
  readonly is: KubeletNode;
  readonly wants: ValidPool;
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

/** What a node is and what its pool wants: the step, the keys of the spec that it is told besides the usual, and some of its values. */
const ROWS: readonly (readonly [string, Case, string | null, readonly string[], Partial<KubeletNodeSpec>?])[] = [
  [
    'that is the first to try a config has the full trial',
    { is: settledNode(node, old), wants: nextSoon },
    'assign',
    USUAL,
    { trial: full },
  ],
  [
    'that is told what the pool settled on has the shorter trial',
    { is: settledNode(node, old), wants: nextSoon, present: settledOn(next) },
    'assign',
    USUAL,
    { trial: short },
  ],
  [
    'that is new, and told what the pool settled on before, has the shorter trial',
    {
      is: idleNode(node),
      wants: nextSoon,
      view: { ...node, createdAt: NOW },
      present: settledOn(old),
      beside: settledNode(nodeView('b', 'workers'), old),
    },
    'assign',
    USUAL,
    { trial: short },
  ],
  [
    'that asks for a restart has the full trial, whatever it was told',
    { is: withSpec(settledNode(node, old, asks), { trial: short }), wants: oldSoon },
    'assign',
    [...USUAL, 'turn'],
    { trial: full },
  ],
  [
    'keeps the trial that it was told, whether full or not',
    { is: withSpec(settledNode(node, old), { trial: short }), wants: oldSoon },
    null,
    [],
  ],
  [
    'that failed keeps the trial that it was told',
    { is: withSpec(failedNode(node, old), { trial: short }), wants: oldSoon },
    null,
    [],
  ],
  [
    'hears of the full trial again where places are held to the end',
    { is: withSpec(settledNode(node, old), { trial: short }), wants: old },
    'amend',
    USUAL,
    { trial: full },
  ],
  ['in its turn is told the config and nothing else', { is: settledNode(node, old), wants: next }, 'assign', USUAL],
  ['that never reported is told nothing', { is: { metadata }, wants: next }, null, []],
  [
    'that failed and was forgiven is told which failure that was',
    { is: failedNode(node, next), wants: next, present: RELEASED },
    'assign',
    [...USUAL, 'forgive'],
    { forgive: AT },
  ],
  [
    'that failed hears of other trial settings',
    { is: failedNode(node, old), wants: validPool('workers', 110, quick) },
    'amend',
    USUAL,
    quick,
  ],
  [
    'that is done hears of other trial settings',
    { is: settledNode(node, old), wants: validPool('workers', 110, quick) },
    'amend',
    USUAL,
    quick,
  ],
  [
    'that asks for a restart is granted what it saw',
    { is: settledNode(node, old, asks), wants: old },
    'assign',
    [...USUAL, 'turn'],
    { turn: { seen: 's' } },
  ],
  [
    'that asks for a restart keeps its order to reboot in this boot',
    { is: withSpec(settledNode(node, old, asks), { reboot }), wants: old },
    'assign',
    [...USUAL, 'reboot', 'turn'],
    { reboot },
  ],
  [
    'that asks for a restart loses its order to reboot once it has',
    { is: withSpec(settledNode(node, old, asks), { reboot: { ...reboot, boot: 'boot-0' } }), wants: old },
    'assign',
    [...USUAL, 'turn'],
  ],
  [
    'that asks for a restart and does not say which boot it is in has no order to reboot',
    { is: withSpec(settledNode(node, old, { ...asks, bootID: '' }), { reboot }), wants: old },
    'assign',
    [...USUAL, 'turn'],
  ],
  [
    'that leaves its pool keeps the name of it until it has left',
    { is: settledNode(stray, old), wants: old, view: stray },
    'unassign',
    ['pool'],
    { pool: 'workers' },
  ],
  [
    'that leaves and that nobody remembers the pool of is told nothing but that',
    {
      is: { metadata: settledNode(stray, old).metadata, status: settledNode(stray, old).status ?? {} },
      wants: old,
      view: stray,
    },
    'unassign',
    [],
  ],
  [
    'that is told another config is told under the next number',
    { is: withSpec(settledNode(node, old, { obeyedOrder: 8 }), { order: 7 }), wants: next },
    'assign',
    USUAL,
    { order: 9 },
  ],
  [
    'that leaves its pool is told under the next number',
    { is: withSpec(settledNode(stray, old), { order: 7 }), wants: old, view: stray },
    'unassign',
    ['pool'],
    { order: 8 },
  ],
  [
    'that hears of other trial settings hears of them under the number that it has',
    { is: withSpec(settledNode(node, old), { order: 7 }), wants: validPool('workers', 110, quick) },
    'amend',
    [...USUAL, 'order'],
    { order: 7 },
  ],
  [
    'that has left its pool forgets the name of it',
    { is: { ...idleNode(stray), spec: { pool: 'workers' } }, wants: old, view: stray },
    'amend',
    [],
  ],
  [
    'is told when what has to be quiet is',
    { is: settledNode(node, old), wants: BLOCKED, signals: answered(true) },
    'assign',
    USUAL,
  ],
  [
    'is told nothing while it is not',
    { is: settledNode(node, old), wants: BLOCKED, signals: answered(false) },
    null,
    [],
  ],
];

describe('a node', () => {
  for (const [
    name,
    { is, wants, view = node, present = poolInCluster(old), signals, beside },
    step,
    keys,
    values = {},
  ] of ROWS) {
    it(name, () => {
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
      assert.deepEqual(Object.keys(spec).toSorted(), [...keys, ...numbered].toSorted());
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
