import { resolve } from 'node:path';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedRepo, PoolBounds } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { type Given, UsageError, type OptionSpecs } from '../command.ts';
import { fetchRunningConfigs } from '../inventory/fetch-running-configs.ts';
import { connectNodes } from '../inventory/live-nodes.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { configFiles } from '../inventory/config-file-arguments.ts';
import { readConfigs } from '../inventory/read-configs.ts';
import { readRunningConfig } from '../inventory/read-running-config.ts';
import { readInventory } from '../inventory/read-inventory.ts';
import type { Io } from '../io.ts';
import { openConfig, requirePools } from '../revision/config-folder.ts';
import { allowedOutside } from '../options.ts';
import { chooseCluster } from '../choose-cluster.ts';
import type { LocalRepository } from '../revision/local-repository.ts';
import { lastValidPools } from './last-valid-pools.ts';
import { readIfThere, readNamed, type Revision, revisionLabel } from '../revision/read-revision.ts';

type Config = Readonly<Record<string, unknown>>;

/** A revision with what its files mean. */
interface LoadedRevision {
  readonly name: string;
  /** Undefined for the working copy, and before the first commit. */
  readonly commit: string | undefined;
  readonly repo: LoadedRepo;
}

/** What a change is compared with: what the reconciler makes of it, so that a pool with errors is what it keeps. */
interface LoadedBase extends LoadedRevision {
  /** Of pools with errors, the commit of what they keep. */
  readonly kept: ReadonlyMap<string, string>;
}

/** The two revisions that a question about a change names, and the cluster that it is about. */
interface LoadedRevisions {
  readonly base: LoadedBase;
  readonly head: LoadedRevision;
  readonly cluster: string;
  /** The folder of the repository that they are of; empty for its root. */
  readonly folder: string;
}

/** Reads --repo, --path, --base, --head and --cluster. @throws Mistake, and errors of git where a revision cannot be read */
export async function loadRevisions(given: Given, { err }: Io): Promise<LoadedRevisions> {
  const config = await openConfig(given, err);
  const { repository, folder } = config;
  const head = await readNamed(repository, given.text('head'), folder);
  const base = await baseOf(repository, given.text('base'), folder, head);
  await requirePools(config, [head, base]);
  const cluster = chooseCluster(given, [...base.files.keys(), ...head.files.keys()], err, folder);
  const allowFields = allowedOutside(given);
  const load = (revision: Revision, boundsBefore?: PoolBounds): LoadedRevision => ({
    name: revisionLabel(revision),
    commit: revision.commit?.oid,
    repo: loadRepo(revision.files, {
      cluster,
      gitFindings: revision.findings,
      folder,
      allowFields,
      ...(boundsBefore && { boundsBefore }),
    }),
  });
  const asWritten = load(base);
  const kept = await lastValidPools(repository, base.commit, asWritten.repo.pools, { cluster, folder });
  const pools = asWritten.repo.pools.map((pool) => {
    const valid = kept.get(pool.name)?.pool;
    return valid === undefined ? pool : { ...valid, findings: pool.findings };
  });
  const { fields, trial } = asWritten.repo.cluster;
  const commits = new Map([...kept].map(([name, { commit }]) => [name, commit] as const));
  return {
    base: { ...asWritten, repo: { ...asWritten.repo, pools }, kept: commits },
    head: load(head, base.commit === null ? { fields } : { fields, trial }),
    cluster,
    folder,
  };
}

async function baseOf(
  repository: LocalRepository,
  written: string | undefined,
  folder: string,
  head: Revision,
): Promise<Revision> {
  if (written !== undefined) return readIfThere(repository, written, folder);
  const upstream = await readIfThere(repository, 'refs/remotes/origin/HEAD', folder).catch(() => undefined);
  if (upstream !== undefined) return { ...upstream, name: 'origin/HEAD' };
  // What is not committed comes on top of HEAD; before the first commit, of nothing.
  if (head.commit === null)
    return head.uncommitted === undefined ? BEFORE_THE_FIRST : readIfThere(repository, 'HEAD', folder);
  const { parents } = await repository.commit('HEAD');
  return parents.length === 0 ? BEFORE_THE_FIRST : readIfThere(repository, 'HEAD~1', folder);
}

/** What was in force before the first commit. */
const BEFORE_THE_FIRST: Revision = { name: 'nothing', commit: null, files: new Map(), findings: [] };

/** Nodes from a file, or from the cluster, which `--running cluster` names as well; undefined where neither was named. */
export async function nodesOf(given: Given, io: Io): Promise<readonly InventoryNode[] | undefined> {
  const file = given.text('inventory');
  if (file !== undefined) return readInventory(file);
  const isNamed = given.text('kubeconfig') !== undefined || given.text('context') !== undefined;
  if (!isNamed && !given.texts('running').includes('cluster')) return undefined;
  const live = await connectNodes(given, io);
  return live.listWithPods().catch((error: unknown) => {
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
    io.err.write(
      'You may not list pods here, so the plan cannot tell whether a config leaves room for the pods that a node needs.\n',
    );
    return live.list();
  });
}

export const RUNNING_OPTION = {
  running: {
    type: 'string',
    multiple: true,
    value: 'WORD',
    about: 'what kubelets run now: "cluster" asks them; NODE=FILE, or a directory, pattern or file as import takes it',
  },
} as const satisfies OptionSpecs;

/** The nodes, with what `--running` says of them. @throws Mistake, and errors where a file cannot be read */
export async function withRunning(
  nodes: readonly InventoryNode[] | undefined,
  given: Given,
  io: Io,
): Promise<readonly InventoryNode[] | undefined> {
  const words = given.texts('running');
  const asked = words.includes('cluster') ? await askAll(nodes ?? [], given, io) : new Map<string, Config>();
  const named = words.filter((word) => word !== 'cluster');
  const written = await Promise.all(named.filter(isOfOneNode).map(readRunning));
  const found = await readOthers(
    named.filter((word) => !isOfOneNode(word)),
    nodes ?? [],
    given,
    io,
  );
  const running = new Map([...asked, ...found, ...written]);
  const stranger = [...running.keys()].find((name) => nodes?.every((node) => node.name !== name) ?? true);
  if (stranger !== undefined) throw new UsageError(`--running ${stranger}=…: there is no such node among those given`);
  return nodes?.map((node) => {
    const config = running.get(node.name);
    return config === undefined ? node : { ...node, running: config };
  });
}

const askAll = async (nodes: readonly InventoryNode[], given: Given, io: Io): Promise<ReadonlyMap<string, Config>> =>
  fetchRunningConfigs(
    await connectNodes(given, io),
    nodes.map(({ name }) => name),
    io.err,
  );

const isOfOneNode = (word: string): boolean => /^[^=/]+=/.test(word);

async function readRunning(word: string): Promise<readonly [string, Config]> {
  const [, name, path] = /^([^=]+)=(.+)$/.exec(word) ?? [];
  if (name === undefined || path === undefined) throw new UsageError(`--running ${word}: write NODE=FILE`);
  return [name, await readRunningConfig(path)];
}

/** From directories and files that are named after nodes. What cannot be used is said, and its nodes count as not asked. */
async function readOthers(
  words: readonly string[],
  nodes: readonly InventoryNode[],
  given: Given,
  io: Io,
): Promise<readonly (readonly [string, Config])[]> {
  if (words.length === 0) return [];
  const inventory = resolve(given.text('inventory') ?? '');
  const { files, leftOut } = await configFiles(words);
  const [nowhere] = leftOut;
  if (nowhere !== undefined) throw new UsageError(`--running ${nowhere.what}: ${nowhere.why}`);
  const read = await readConfigs(
    files.filter(({ path }) => resolve(path) !== inventory),
    io.in,
  );
  const known = new Set(nodes.map(({ name }) => name));
  const foreign = read.configs
    .filter(({ node }) => !known.has(node))
    .map(({ node, from }) => ({ what: from, why: `there is no node ${node} among those given` }));
  for (const { what, why } of [...read.leftOut, ...foreign]) io.err.write(`left out: ${what}: ${why}\n`);
  return read.configs.flatMap(({ node, config }) => (known.has(node) ? [[node, config] as const] : []));
}
