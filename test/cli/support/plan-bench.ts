import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MergePlan } from '#cli/plan/merge-plan.ts';
import { createRepository, layer, pool, type TestRepository } from './repository.ts';
import { run } from './run.ts';

const node = (name: string, label: string, parts: Readonly<Record<string, unknown>> = {}) => ({
  kind: 'Node',
  metadata: { name, labels: { pool: label, 'topology.kubernetes.io/zone': name.endsWith('1') ? 'b' : 'a' } },
  status: {
    nodeInfo: { kubeletVersion: 'v1.34.2' },
    capacity: { cpu: '4', memory: '16Gi', pods: '110', 'ephemeral-storage': '100Gi' },
    allocatable: { cpu: '3800m', memory: '15Gi', pods: '110', 'ephemeral-storage': '90Gi' },
    conditions: [{ type: 'Ready', status: 'True' }],
    ...parts,
  },
});
const podOn = (nodeName: string) => ({ kind: 'Pod', spec: { nodeName }, status: { phase: 'Running' } });
/** One that its node cannot do without. */
const vitalOn = (nodeName: string, memory: string) => ({
  ...podOn(nodeName),
  metadata: { ownerReferences: [{ kind: 'DaemonSet' }] },
  spec: { nodeName, containers: [{ resources: { requests: { memory } } }] },
});
const NODES = [
  ...['100Mi', '200Mi', '1Gi'].map((memory) => vitalOn('a-3', memory)),
  { ...node('a-1', 'a'), spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] } },
  node('a-2', 'a'),
  {
    ...node('a-3', 'a', { nodeInfo: { kubeletVersion: 'v1.26.1' } }),
    spec: { podCIDRs: ['fd00:0:0:3::/64', '10.3.0.0/24'] },
  },
  node('b-1', 'b'),
  ...Array.from({ length: 30 }, () => podOn('a-1')),
];

export const START = {
  'clusters/prod.yaml':
    'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nmetadata: {name: prod}\nspec: {maxUnassign: 0}\n',
  'pools/a/pool.yaml': pool(
    'a',
    'a',
    'rollout: {maxUnavailable: 2, probation: full, soak: 1m}',
    'trial: {duration: 5m}',
  ),
  'pools/a/kubelet.yaml': layer('maxPods: 110', 'kubeReserved: {cpu: 100m, memory: 512Mi}'),
  'pools/b/pool.yaml': pool('b', 'b'),
  'pools/b/kubelet.yaml': layer('maxPods: 50'),
  'pools/c/pool.yaml': pool('c', 'c'),
  'pools/c/kubelet.yaml': layer('maxPods: 50'),
};

type Files = Readonly<Record<string, string | null>>;

/** A checkout that holds `START`, and an inventory of four nodes. */
export interface PlanBench {
  readonly repository: TestRepository;
  /** What a change of these files comes to; taken back afterwards. */
  planned(files: Files, ...more: readonly string[]): ReturnType<typeof run>;
  planOf(files: Files): Promise<MergePlan>;
  remove(): Promise<void>;
}

export async function createPlanBench(): Promise<PlanBench> {
  const repository = await createRepository();
  const { directory } = repository;
  const inventory = join(directory, 'nodes.json');
  await repository.commit('start', START);
  await writeFile(inventory, JSON.stringify({ items: NODES }));
  const bench: PlanBench = {
    repository,
    async planned(files, ...more) {
      await repository.write(files);
      const revisions = ['--repo', directory, '--base', 'HEAD', '--head', '.'];
      const ran = await run('plan', ...revisions, '--inventory', inventory, ...more);
      const known: Files = START;
      const back = Object.keys(files).map((path) => [path, known[path] ?? null] as const);
      await repository.write(Object.fromEntries(back));
      return ran;
    },
    planOf: async (files) => JSON.parse((await bench.planned(files, '-o', 'json')).out) as MergePlan,
    remove: () => repository.remove(),
  };
  return bench;
}
