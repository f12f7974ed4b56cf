import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { sourceObject } from '../../support/source-object.ts';
import { parse } from 'yaml';
import { plain } from '#cli/paint.ts';
import { filterStatus } from '#cli/status/filter-status.ts';
import { renderStatus, type StatusView } from '#cli/status/render.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import { policyOf } from '#reconciler/policy/cluster-policy.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { DEFAULT_NAMESPACE, SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { KUBELET_SOURCES, KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import {
  COMMIT_A,
  failedNode,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../../support/fleet.ts';
import { aCluster } from '../support/cluster.ts';
import { column } from '../../support/columns.ts';

const [workers, gpu] = [validPool('workers', 110), validPool('gpu', 50)];
const ALL: StatusView = {
  source: { ...NO_STATE, commit: COMMIT_A },
  pools: [
    poolInCluster(workers, { phase: 'Settled' }),
    poolInCluster(gpu, { phase: 'Halted', message: 'failed on g-1' }),
  ],
  nodes: [
    settledNode(nodeView('w-1', 'workers'), workers),
    settledNode(nodeView('w-2', 'workers'), workers),
    failedNode(nodeView('g-1', 'gpu'), gpu),
    settledNode(nodeView('g-2', 'gpu'), gpu),
  ],
};
const annotations = { [SUSPEND_ANNOTATION]: 'freeze' };
const NOTHING = { pool: undefined, node: undefined, hasProblems: false };
const named = ({ pools, nodes }: StatusView): readonly string[] =>
  [...pools, ...nodes].map((each) => each.metadata.name);

describe('the part of a status that is asked for', () => {
  it('with problems, has suspended pools as well: nobody else reminds of them', () => {
    const suspended = {
      ...ALL,
      pools: ALL.pools.map((pool) => ({ ...pool, metadata: { ...pool.metadata, annotations } })),
    };
    const byFile = { ...ALL, pools: ALL.pools.map((pool) => ({ ...pool, spec: { ...workers.spec, suspend: true } })) };
    const policy = JSON.stringify({ ...policyOf(DEFAULT_CLUSTER), suspend: true });
    for (const view of [suspended, byFile, { ...ALL, source: { ...ALL.source, policy } }]) {
      assert.deepEqual(named(filterStatus(view, { ...NOTHING, hasProblems: true }, NOW).shown), [
        'workers',
        'gpu',
        'g-1',
      ]);
    }
  });

  for (const [what, question, shown] of [
    ['all of it', {}, ['workers', 'gpu', 'w-1', 'w-2', 'g-1', 'g-2']],
    ['a pool', { pool: 'workers' }, ['workers', 'w-1', 'w-2']],
    ['a node', { node: 'w-2' }, ['workers', 'w-2']],
    ['a node of another pool than the one that is named', { node: 'w-2', pool: 'gpu' }, ['gpu']],
    ['problems', { hasProblems: true }, ['gpu', 'g-1']],
    ['problems of a pool without any', { hasProblems: true, pool: 'workers' }, []],
  ] as const) {
    it(`is ${what}`, () => {
      const { shown: view, isShown } = filterStatus(ALL, { ...NOTHING, ...question }, NOW);
      assert.deepEqual(named(view), shown);
      const reasons = ALL.nodes.map(({ metadata, spec }) => ({ node: metadata.name, pool: spec?.pool ?? '' }));
      assert.deepEqual(
        column(reasons.filter(isShown), 'node'),
        view.nodes.map(({ metadata }) => metadata.name),
      );
    });
  }

  it('counts what it leaves out', () => {
    const { shown } = filterStatus(ALL, { ...NOTHING, hasProblems: true }, NOW);
    assert.match(renderStatus(shown, plain, NOW), /^1 pool is settled$[^]*^3 nodes are as assigned$/m);
    const well = filterStatus(ALL, { ...NOTHING, hasProblems: true, pool: 'workers' }, NOW);
    assert.doesNotMatch(renderStatus(well.shown, plain, NOW), /no pools|no nodes/);
  });

  it('counts the selected nodes of a pool whose nodes have nothing assigned yet', () => {
    const counts = { nodes: 2, updated: 0, updating: 0, pending: 2, failed: 0, noAgent: 0 };
    const look = (status: object): string => {
      const waiting = { ...ALL, nodes: [], pools: ALL.pools.map((pool) => ({ ...pool, status })) };
      return renderStatus(filterStatus(waiting, { ...NOTHING, pool: 'gpu' }, NOW).shown, plain, NOW);
    };
    assert.match(look({ counts }), /^2 nodes are selected, with nothing assigned yet; --why says why$/m);
    assert.match(look({}), /^no nodes$/m);
  });

  it('has a node whose agent is silent, or which has yet to get its config, among the problems', () => {
    const hasProblems = (nodes: StatusView['nodes'], now: number): readonly string[] =>
      filterStatus({ ...ALL, pools: [], nodes }, { ...NOTHING, hasProblems: true }, now).shown.nodes.map(
        ({ metadata }) => metadata.name,
      );
    const [settled] = ALL.nodes;
    assert.ok(settled);
    assert.deepEqual(hasProblems([settled], NOW), []);
    assert.deepEqual(hasProblems([settled], NOW + 16 * 60_000), ['w-1']);
    const { configSource, ...spec } = settled.spec ?? {};
    assert.ok(configSource);
    assert.deepEqual(hasProblems([{ ...settled, spec }], NOW), ['w-1']);
  });

  it('does not have a node that runs its own config, as it should, among the problems', () => {
    const node = idleNode(nodeView('own', 'workers'));
    const { shown } = filterStatus({ ...ALL, pools: [], nodes: [node] }, { ...NOTHING, hasProblems: true }, NOW);
    assert.deepEqual([shown.nodes, shown.leftOut], [[], { pools: 0, nodes: 1 }]);
  });

  it('has a node whose agent does not know what it runs among the problems, with what its agent says of that', () => {
    const unknown = { name: 'unknown' };
    const [type, at, message] = ['KubeletConfigHealthy', new Date(NOW).toISOString(), 'its state was lost'];
    const conditions = [{ type, status: 'Unknown', reason: 'StateLost', message, lastTransitionTime: at }] as const;
    const node = idleNode(nodeView('own', 'workers'), { active: unknown, lastKnownGood: unknown, conditions });
    const { shown } = filterStatus({ ...ALL, pools: [], nodes: [node] }, { ...NOTHING, hasProblems: true }, NOW);
    assert.deepEqual(shown.nodes, [node]);
    assert.match(renderStatus(shown, plain, NOW), /^own .* local +unknown +unknown .*\n {2}its state was lost$/m);
  });

  it('names what the cluster has where there is no such pool or node', () => {
    assert.throws(
      () => filterStatus(ALL, { ...NOTHING, pool: 'worker' }, NOW),
      /no pool worker \(did you mean workers\?\)/,
    );
    assert.throws(() => filterStatus(ALL, { ...NOTHING, node: 'x' }, NOW), /no node x; it has w-1, w-2, g-1, g-2/);
  });

  it('decides the exit code by what was named, shown or not, and speaks YAML', async () => {
    await using cluster = await aCluster();
    const { store } = cluster.sandbox.server;
    store.seed(KUBELET_SOURCES, sourceObject({ commit: COMMIT_A }));
    for (const [name, phase] of [
      ['workers', 'Settled'],
      ['gpu', 'Halted'],
    ] as const)
      store.seed(KUBELET_POOLS, { metadata: { name }, status: { phase } });
    store.seed(KUBELET_NODES, { metadata: { name: 'g-1' }, spec: { pool: 'gpu' }, status: { phase: 'Idle' } });
    const workersOnly = await cluster.cli('status', '-n', DEFAULT_NAMESPACE, '--pool', 'workers', '-o', 'yaml');
    assert.equal(workersOnly.code, 0, workersOnly.err);
    const { settled, pools } = parse(workersOnly.out) as { settled: boolean; pools: readonly { name: string }[] };
    assert.deepEqual([settled, pools.map(({ name }) => name)], [true, ['workers']]);
    assert.equal((await cluster.cli('status', '--problems')).code, 1);
    store.remove(KUBELET_SOURCES, SOURCE_NAME);
    const unread = await cluster.cli('status', '--pool', 'workers');
    assert.deepEqual([unread.code, /none in force yet/.test(unread.out)], [1, true]);
  });
});
