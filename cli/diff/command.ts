import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { CONFIG_SOURCE_SELECTOR, viewConfigSource } from '#reconciler/cluster/object-views.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import { connectTo } from '../connect-cluster.ts';
import { findByName } from '../find-by-name.ts';
import { connectNodes } from '../inventory/live-nodes.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS, wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { columnsOf, wrapFor } from '../wrap.ts';
import { compareConfigs } from './compare.ts';
import { reportedConfig, sidesOfNode, sidesOfPool, type Sources } from './read-sides.ts';
import { type Difference, differenceAsText, type Running } from './render.ts';

const FORMATS = ['text', 'json'] as const;

export const DIFF: Command = {
  name: 'diff',
  summary: 'shows what a pool or node settled on, what it is to run, and what runs, field by field',
  takes: 'POOL|NODE',
  mostWords: 1,
  about: [
    'Reads the cluster alone, no checkout: ConfigMaps, KubeletPools and KubeletNodes. Of a node it asks the kubelet what it\n' +
      'runs (/configz: needs get on nodes/proxy), and goes by the report of its agent where it may not.',
    'Where a pool and a node have the same name: pool/NAME, node/NAME. Exit code 0 where nothing differs, 1 where something does.',
  ],
  options: {
    ...CLUSTER_OPTIONS,
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: ['kubelet-gitops diff general', 'kubelet-gitops diff worker-1 -o json'],
  run: runDiff,
};

async function runDiff(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const [word] = given.words;
  if (word === undefined) throw new UsageError('diff needs a pool or a node: diff general');
  const kube = await connectTo(given, io);
  const namespace = given.text('namespace') ?? DEFAULT_NAMESPACE;
  const cluster = await readCluster(kube, namespace);
  const { pool, node } = subjectOf(word, cluster);
  const found =
    node === undefined ? ofPool(pool, cluster) : await ofNode(node, cluster, () => configzOf(node, given, io));
  const text = differenceAsText(found, paintFor(io.out, io.env), columnsOf(io.out));
  io.out.write(format === 'json' ? `${JSON.stringify(found, null, 2)}\n` : wrapFor(io.out)(text));
  return differs(found) ? 1 : 0;
}

interface ClusterConfigs {
  readonly pools: readonly KubeletPool[];
  readonly nodes: readonly KubeletNode[];
  readonly sources: Sources;
}

async function readCluster(kube: Kube, namespace: string): Promise<ClusterConfigs> {
  const [pools, nodes, sources] = await Promise.all([
    kube.list<KubeletPool>({ resource: KUBELET_POOLS }),
    kube.list<KubeletNode>({ resource: KUBELET_NODES }),
    kube.list<KubeObject>({ resource: CONFIG_MAPS, namespace, labelSelector: CONFIG_SOURCE_SELECTOR }),
  ]);
  return { pools: pools.items, nodes: nodes.items, sources: sources.items.map(viewConfigSource) };
}

type Subject =
  | { readonly pool: KubeletPool; readonly node?: undefined }
  | { readonly node: KubeletNode; readonly pool?: undefined };

/** @throws UsageError for a name that is neither's, or both's */
function subjectOf(word: string, { pools, nodes }: ClusterConfigs): Subject {
  const [, kind, name = word] = /^(pool|node)\/(.+)$/.exec(word) ?? [];
  if (kind === 'pool') return { pool: findByName('pool', pools, name) };
  if (kind === 'node') return { node: findByName('node', nodes, name) };
  const pool = pools.find(({ metadata }) => metadata.name === name);
  const node = nodes.find(({ metadata }) => metadata.name === name);
  if (pool !== undefined && node !== undefined)
    throw new UsageError(`${name} is a pool and a node: say pool/${name} or node/${name}`);
  if (pool !== undefined) return { pool };
  return { node: node ?? findByName<KubeletNode>('pool or node', [...pools, ...nodes] as KubeletNode[], name) };
}

function ofPool(pool: KubeletPool, { nodes, sources }: ClusterConfigs): Difference {
  const { name } = pool.metadata;
  const comparisons = sidesOfPool(pool, sources).map(({ name: of, settled, wanted }) => ({
    class: of,
    settled: settled.name,
    wanted: wanted.name,
    fields: compareConfigs(settled, wanted, undefined),
  }));
  const members = nodes.filter(({ spec }) => spec?.pool === name);
  const byConfig = Map.groupBy(members, ({ status }) => status?.active?.name ?? 'unknown');
  const running = [...byConfig].map(([config, each]): Running => ({
    config,
    nodes: each.map(({ metadata }) => metadata.name),
  }));
  return { pool: name, node: null, comparisons, running };
}

async function ofNode(
  node: KubeletNode,
  { pools, sources }: ClusterConfigs,
  configz: () => Promise<Readonly<Record<string, unknown>>>,
): Promise<Difference> {
  const pool = pools.find(({ metadata }) => metadata.name === node.spec?.pool);
  const { name, settled, wanted } = sidesOfNode(node, pool, sources);
  const reported = node.status?.active?.name ?? 'unknown';
  const { running, seen } = await configz().then(
    (config) => ({ running: config, seen: `the kubelet says so (/configz); its agent reports ${reported}` }),
    (error: unknown) => ({
      running: reportedConfig(node, sources),
      seen: `${reported}, by its agent's report; the kubelet was not asked: ${reasonOf(error)}`,
    }),
  );
  const fields = compareConfigs(settled, wanted, running, node.status?.kubeletVersion);
  return {
    pool: node.spec?.pool ?? null,
    node: node.metadata.name,
    comparisons: [{ class: name, settled: settled.name, wanted: wanted.name, fields }],
    running: [],
    seen,
  };
}

const configzOf = async ({ metadata: { name } }: KubeletNode, given: Given, io: Io) =>
  (await connectNodes(given, io)).configz(name);

/** A pool that was renamed runs the same under another name. */
const differs = ({ comparisons }: Difference): boolean => comparisons.some(({ fields }) => fields.length > 0);
