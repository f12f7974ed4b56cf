import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { StatusView } from '#cli/status/render.ts';
import type { RepoFile } from '#reconciler/policy/commit-snapshot.ts';
import { judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { NODES } from '#shared/kube/kube.ts';
import { GPU, PATIENCE_MS, phaseOf, type Scenario, settled, startScenario } from '../stories/support.ts';
import { payloadOf } from '../support/agent/whole-node.ts';
import { type Scenario as DkcScenario, see } from './scenario.ts';
import { stagingBench } from './support/staging.ts';
import { GOOD } from './support/steps.ts';

const POOL = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nspec:\n  nodeSelector: {}\n';
const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** What is found in a pool with such a kubelet.yaml, as CI and the reconciler find it. */
function review(kubelet: string) {
  const files = { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': kubelet };
  const read = Object.entries(files).map(([path, text]): readonly [string, RepoFile] => {
    const bytes = Buffer.from(text);
    return [path, { path, bytes, oid: createHash('sha1').update(bytes).digest('hex') }];
  });
  const [pool] = loadRepo(new Map(read), { cluster: 'prod' }).pools;
  const judged = pool?.status === 'valid' ? judgePool(pool, ['1.34']) : [];
  return [...(pool?.findings ?? []), ...judged].map(
    ({ code, severity, file, line }) => `${severity} ${code} ${file}:${line}`,
  );
}

let started: Promise<Scenario> | undefined;
/** One for all: each of these only adds to it. */
const fleet = (): Promise<Scenario> => (started ??= startScenario());

const list: readonly DkcScenario[] = [
  {
    dkc: 189,
    title: 'what a kubelet would silently read otherwise than people do is refused in review, with its line',
    see() {
      const at = (code: string, line: number): string => `error ${code} pools/x/kubelet.yaml:${line}`;
      assert.deepEqual(review(`${HEADER}maxPods: 1\n`), []);
      assert.deepEqual(review(`${HEADER}maxPodz: 1\n`), [at('unknown-field', 3)]);
      assert.deepEqual(review(`${HEADER}MaxPods: 1\n`), [at('wrong-case', 3)]);
      assert.deepEqual(review(`${HEADER}maxPods: 1\nmaxPods: 2\n`), [at('duplicate-key', 4)]);
      assert.deepEqual(review(`${HEADER}maxPods: 1\n---\n${HEADER}maxPods: 2\n`), [at('several-documents', 4)]);
    },
  },
  {
    dkc: 190,
    title: 'a ConfigMap whose content is not what its name or the assignment says is taken by no node',
    async see() {
      const bench = stagingBench();
      const config = bench.source({ kubelet: GOOD });
      const { name } = config.source;
      const other = payloadOf({ maxPods: 9999 });
      bench.kube.put('configmaps', { metadata: { name, namespace: 'kubelet-gitops' }, data: { kubelet: other } });
      const told = { ...config, source: { ...config.source, sha256: payloadSha256(other) } };
      for (const [what, because] of [
        [config, /is not what was assigned: its SHA-256 is/],
        [told, /should end in .{10}, the hash of its content/],
      ] as const) {
        const staged = await bench.stage(what);
        assert.ok(staged.outcome === 'unavailable');
        assert.equal(staged.failure.reason, 'PayloadMismatch');
        assert.match(staged.failure.message, because);
        assert.deepEqual(await bench.disk.list('/var/lib/kubelet-gitops/checkpoints'), []);
      }
    },
  },
  {
    dkc: 192,
    title: 'a node that joins runs what its pool runs, and nobody has to do anything for it',
    async see() {
      const { world } = await fleet();
      await world.addNode({ name: 'gpu-2', labels: GPU });
      const isThere = (): boolean => world.nodes.get('gpu-2')?.kubelet.running()?.['maxPods'] === 50;
      // A new node that takes what is proven is no news of its pool: what it has proven itself is asked for.
      const hasProved = ({ nodes }: StatusView): boolean => {
        const node = nodes.find(({ metadata }) => metadata.name === 'gpu-2');
        const good = node?.status?.lastKnownGood?.name;
        return good !== undefined && good === node?.spec?.configSource?.name;
      };
      const view = await world.until('gpu-2 has it', (now) => isThere() && hasProved(now) && settled(now), PATIENCE_MS);
      const [one, two] = ['gpu-1', 'gpu-2'].map((name) => view.nodes.find(({ metadata }) => metadata.name === name));
      assert.deepEqual(two?.spec, one?.spec);
      assert.equal(two?.status?.lastKnownGood?.name, one?.spec?.configSource?.name);
    },
  },
  {
    dkc: 194,
    title: 'a node without an agent is one that nothing is known of, and its pool is not settled',
    async see() {
      const { world } = await fleet();
      const status = { nodeInfo: { kubeletVersion: 'v1.34.2' }, conditions: [{ type: 'Ready', status: 'True' }] };
      world.api.store.seed(NODES, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'gpu-9', labels: GPU },
        status,
      });
      const view = await world.until('gpu-9 is counted', (now) => phaseOf(now, 'gpu') === 'Waiting', PATIENCE_MS);
      const gpu = view.pools.find(({ metadata }) => metadata.name === 'gpu');
      const { nodes, updated, noAgent } = gpu?.status?.counts ?? {};
      assert.deepEqual([nodes, updated, noAgent], [3, 2, 1]);
      assert.match(gpu?.status?.message ?? '', /gpu-9 waits: no agent reports from this node/);
    },
  },
  {
    dkc: 193,
    title: 'a node that no pool selects, or two of one priority, runs on as it is, and that is to be seen',
    async see() {
      const { world, files } = await fleet();
      await world.addNode({ name: 'stranger', labels: { role: 'none' } });
      const rival = (files['pools/gpu/pool.yaml'] ?? '').replace('./kubelet.yaml', '../gpu/kubelet.yaml');
      await world.git.commit({ files: { 'pools/rival/pool.yaml': rival }, message: 'A rival' });
      const view = await world.until(
        'both are told',
        ({ source, nodes }) =>
          source.findings !== '' &&
          nodes.some(({ metadata, status }) => metadata.name === 'stranger' && status?.phase === 'Idle'),
        PATIENCE_MS,
      );
      assert.match(
        view.source.findings,
        /gpu-1.* left as (?:it is|they are): gpu and rival select (?:it|them) with the same priority/,
      );
      const stranger = view.nodes.find(({ metadata }) => metadata.name === 'stranger');
      assert.deepEqual([stranger?.spec?.pool, stranger?.status?.active?.name], [undefined, 'local']);
      assert.equal(world.nodes.get('stranger')?.kubelet.starts(), 1);
      const counted = view.pools.reduce((sum, { status }) => sum + (status?.counts?.nodes ?? 0), 0);
      assert.ok(counted <= 3, 'none of them is in a pool');
    },
  },
];

export const scenarios = see('a fleet', list, async () => {
  await (await started)?.[Symbol.asyncDispose]();
});
