import { writtenKeep } from '#shared/contract/api/config-identity.ts';
import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import { minorName, minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { choosePool } from '#reconciler/policy/pool-selection/choose-pool.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { chooseCluster } from '../choose-cluster.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import { connectNodes } from '../inventory/live-nodes.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { readInventory } from '../inventory/read-inventory.ts';
import type { Io } from '../io.ts';
import { ALLOW_OPTION, allowedOutside, CLUSTER_OPTIONS, kubeletVersions, PATH_OPTION, wordOf } from '../options.ts';
import { oneLine } from '../one-line.ts';
import { paintFor } from '../paint.ts';
import { openConfig, requirePools } from '../revision/config-folder.ts';
import { readNamed, type Revision, revisionLabel } from '../revision/read-revision.ts';
import { requirePoolFor, poolValueForDisplay } from '../class-of-node.ts';
import { effectiveValuesOf, type EffectiveValue } from './effective-values.ts';
import { differenceOf, effectiveAsYaml } from './render.ts';

const FORMATS = ['yaml', 'json'] as const;

export const RENDER: Command = {
  name: 'render',
  summary: 'prints the config that a pool gives its nodes, with the file and line of each value',
  takes: 'POOL|NODE',
  mostWords: 1,
  about: [
    'Merges the layers of a pool as the reconciler does. For a node, it renders the node’s pool; nodes come from the cluster or\n' +
      'from an inventory. With --base, it shows what two revisions render differently, and ends with 1 if they do.',
  ],
  options: {
    repo: { type: 'string', value: 'DIRECTORY', about: 'a checkout of the config repository (default .)' },
    ...PATH_OPTION,
    revision: {
      type: 'string',
      value: 'REV',
      about: 'the revision to render (default ".", the files as you see them)',
    },
    base: { type: 'string', value: 'REV', about: 'the revision to compare it with' },
    cluster: {
      type: 'string',
      value: 'NAME',
      about: 'the cluster whose clusters/NAME.yaml counts (needed if there are several)',
    },
    'kubelet-version': {
      type: 'string',
      value: '1.34',
      about: 'also say what a kubelet of this version drops (default: the node’s version)',
    },
    defaults: { type: 'boolean', about: 'add the defaults of that version for fields that nobody sets' },
    ...ALLOW_OPTION,
    inventory: {
      type: 'string',
      value: 'FILE',
      about: 'nodes, as kubectl get nodes -o json prints them; then no cluster is asked',
    },
    kubeconfig: CLUSTER_OPTIONS.kubeconfig,
    context: CLUSTER_OPTIONS.context,
    output: {
      type: 'string',
      short: 'o',
      words: FORMATS,
      about: 'for people and kubelets (the default), or for programs',
    },
  },
  examples: [
    'kubelet-gitops render general',
    'kubelet-gitops render general --base origin/main --revision .',
    'kubelet-gitops render worker-1 --inventory nodes.json --defaults',
  ],
  run: runRender,
};

async function runRender(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'yaml');
  const [name] = given.words;
  if (name === undefined) throw new UsageError('render needs a pool or a node: render general');
  const config = await openConfig(given, io.err);
  const { repository, folder } = config;
  const base = given.text('base');
  const head = await readNamed(repository, given.text('revision'), folder);
  const before = base === undefined ? undefined : await readNamed(repository, base, folder);
  await requirePools(config, [head, ...(before === undefined ? [] : [before])]);
  const cluster = chooseCluster(given, [...head.files.keys(), ...(before?.files.keys() ?? [])], io.err, folder);
  const allowFields = allowedOutside(given);
  const load = ({ files, findings }: Revision): LoadedRepo =>
    loadRepo(files, { cluster, gitFindings: findings, folder, allowFields });
  const now = load(head);
  const node = now.pools.some((pool) => pool.name === name) ? undefined : await nodeOf(name, now, given, io);
  const minor = minorOf(given, node);
  const withDefaults = given.flag('defaults');
  if (withDefaults && minor === undefined) throw new UsageError('--defaults needs a node, or --kubelet-version');

  const leavesIn = (repo: LoadedRepo): { readonly pool: ValidPool; readonly leaves: readonly EffectiveValue[] } => {
    const loaded = poolOf(repo, name, node);
    const pool = node === undefined ? loaded : requirePoolFor(loaded, node);
    const template = node === undefined ? undefined : loaded.template;
    return { pool, leaves: effectiveValuesOf(pool, minor, withDefaults, template) };
  };
  const { pool, leaves } = leavesIn(now);
  if (before !== undefined) {
    const old = leavesIn(load(before)).leaves;
    const difference = differenceOf(old, leaves, paintFor(io.out, io.env));
    io.out.write(difference);
    return difference === '' ? 0 : 1;
  }
  const version = minor === undefined ? {} : { kubeletVersion: minorName(minor) };
  const { configName, sha256 } = pool;
  const value = poolValueForDisplay(pool);
  io.out.write(
    format === 'json'
      ? `${JSON.stringify({ revision: revisionLabel(head), pool: pool.name, configName, sha256, apply: pool.spec.apply, ...writtenKeep(pool.spec), ...version, config: value, values: leaves }, plainNumbers, 2)}\n`
      : `# pool ${pool.name}, ${configName}, ${APPLIES[pool.spec.apply]}\n# as of ${oneLine(revisionLabel(head))}\n${keepNote(pool)}${templateNote(pool)}${effectiveAsYaml(leaves)}`,
  );
  return 0;
}

const templateNote = ({ template }: ValidPool): string =>
  template === undefined
    ? ''
    : '# values that begin with computed: follow the machine; give a node to see what it gets\n';

const keepNote = ({ spec: { keepFields = [] } }: ValidPool): string =>
  keepFields.length === 0 ? '' : `# nodes keep their own ${keepFields.join(', ')}\n`;

const APPLIES: Readonly<Record<ApplyMode, string>> = {
  overlay: "apply: overlay (over the node's own config, which counts for what is not set here)",
  replace: "apply: replace (instead of the node's own config, but for what policy denies)",
};

const plainNumbers = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);

function minorOf(given: Given, node: InventoryNode | undefined): number | undefined {
  const [written] = kubeletVersions(given);
  return minorNumber(written ?? node?.kubeletVersion ?? '');
}

async function nodeOf(name: string, repo: LoadedRepo, given: Given, io: Io): Promise<InventoryNode> {
  const names = repo.pools.map((pool) => pool.name);
  const meant = didYouMean(name, names);
  const known = meant === undefined ? `there is ${names.join(', ') || 'none'}` : `did you mean ${meant}?`;
  const noPool = `there is no pool ${name} (${known})`;
  const file = given.text('inventory');
  if (file !== undefined) {
    const node = (await readInventory(file)).find((each) => each.name === name);
    if (node === undefined) throw new GitopsError('NODE_UNKNOWN', `${noPool}, and no such node in ${file}`);
    return node;
  }
  const hasCluster = given.text('kubeconfig') ?? given.text('context') ?? io.env['KUBECONFIG'];
  if (hasCluster === undefined) throw new UsageError(`${noPool}; for a node, give --inventory or --context`);
  try {
    return await (await connectNodes(given, io)).get(name);
  } catch (error) {
    throw new GitopsError('NODE_UNKNOWN', `${noPool}, and ${reasonOf(error)}`);
  }
}

/** @throws GitopsError where the node belongs to no pool, or the pool has errors */
function poolOf(repo: LoadedRepo, name: string, node: InventoryNode | undefined): ValidPool {
  const valid = repo.pools.filter((pool): pool is ValidPool => pool.status === 'valid');
  const choice =
    node === undefined
      ? ({ choice: 'pool', pool: name } as const)
      : choosePool(
          node,
          valid.map(({ name: pool, spec }) => ({
            name: pool,
            priority: spec.priority,
            nodeSelector: spec.nodeSelector,
          })),
        );
  if (choice.choice === 'conflict') {
    throw new GitopsError(
      'NODE_CONTESTED',
      `${choice.pools.join(' and ')} select ${name} with the same priority: it stays as it is`,
    );
  }
  if (choice.choice === 'unsupported')
    throw new GitopsError('NODE_UNASSIGNED', `${name} is in no pool: ${choice.because}`);
  if (choice.choice !== 'pool') {
    throw new GitopsError('NODE_UNASSIGNED', `no pool selects ${name}: it runs its local config`);
  }
  const pool = repo.pools.find((each) => each.name === choice.pool);
  if (pool === undefined) throw new GitopsError('POOL_UNKNOWN', `there is no pool ${choice.pool} in that revision`);
  if (pool.status === 'valid') return pool;
  const errors = pool.findings.filter(({ severity }) => severity === 'error').map(formatFinding);
  throw new GitopsError('POOL_INVALID', `pool ${pool.name} has errors:\n${errors.join('\n')}`);
}
