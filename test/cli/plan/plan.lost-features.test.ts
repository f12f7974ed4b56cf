import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { MergePlan } from '#cli/plan/merge-plan.ts';
import { createRepository, layer, pool, type TestRepository } from '../support/repository.ts';
import { run } from '../support/run.ts';

const USERS = 'UserNamespacesHostNetworkSupport';

const node = (name: string, label: string, declaredFeatures: readonly string[]) => ({
  kind: 'Node',
  metadata: { name, labels: { pool: label } },
  status: {
    nodeInfo: { kubeletVersion: 'v1.36.2' },
    conditions: [{ type: 'Ready', status: 'True' }],
    declaredFeatures,
  },
});

/** A pod that kubelets admit only with the feature. */
const needing = (nodeName: string, name: string) => ({
  kind: 'Pod',
  metadata: { name, namespace: 'prod' },
  spec: { nodeName, hostNetwork: true, hostUsers: false },
  status: { phase: 'Running' },
});

const NODES = [
  node('a-1', 'a', [USERS]),
  node('a-2', 'a', ['ExtendWebSocketsToKubelet']),
  ...['w', 'x', 'y', 'z'].map((name) => needing('a-1', name)),
  needing('a-2', 'v'),
  node('b-1', 'b', [USERS]),
];

const DRAINS = 'disruption: {allow: [restart, drain]}';

describe('a plan in which a feature goes off that pods need', () => {
  let repository: TestRepository;
  before(async () => {
    repository = await createRepository();
    const files = ['a', 'b'].flatMap((name) => [
      [`pools/${name}/pool.yaml`, pool(name, name)],
      [`pools/${name}/kubelet.yaml`, layer(`featureGates: {${USERS}: true}`)],
    ]);
    await repository.commit('start', {
      'clusters/prod.yaml': 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nmetadata: {name: prod}\n',
      ...(Object.fromEntries(files) as Readonly<Record<string, string>>),
    });
    await writeFile(join(repository.directory, 'nodes.json'), JSON.stringify({ items: NODES }));
    const off = layer('maxPods: 110');
    await repository.write({ 'pools/a/kubelet.yaml': off, 'pools/b/kubelet.yaml': off });
  });
  after(() => repository.remove());

  const poolsOf = async (...inventory: readonly string[]): Promise<MergePlan['pools']> => {
    const revisions = ['--repo', repository.directory, '--base', 'HEAD', '--head', '.'];
    const { out } = await run('plan', ...revisions, ...inventory, '-o', 'json');
    return (JSON.parse(out) as MergePlan).pools;
  };
  const pools = () => poolsOf('--inventory', join(repository.directory, 'nodes.json'));

  it('names the first three of them on each node that admits by the feature', async () => {
    assert.deepEqual(
      (await pools()).flatMap(({ nodes }) =>
        nodes.map(({ name, warnings }) => [name, ...warnings.map(({ here }) => here)]),
      ),
      [['a-1', `featureGates.${USERS} (needed by prod/w, prod/x, prod/y and 1 more)`], ['a-2'], ['b-1']],
    );
  });

  it('waits for a drain to be allowed where there are some, and not where there are none', async () => {
    const [a, b] = await pools();
    const bar = new RegExp(
      `^the change of featureGates.${USERS} \\(needed by prod/w, .*\\) needs the node to be drained`,
    );
    const held = (nodes: typeof a) => (nodes?.nodes ?? []).flatMap(({ held: why }) => why ?? []);
    assert.deepEqual([held(a).length, held(b).length, a?.waits], [1, 0, undefined], 'the others go on');
    assert.match(held(a)[0] ?? '', bar);
    assert.match(a?.rollout?.absent?.[0]?.because ?? '', bar);
    assert.equal(b?.waits, undefined);
    assert.match((await poolsOf())[1]?.waits ?? '', /needs the node to be drained/, 'nobody knows of its nodes');
    await repository.write({ 'pools/a/pool.yaml': pool('a', 'a', DRAINS) });
    assert.equal((await pools())[0]?.waits, undefined);
  });
});
