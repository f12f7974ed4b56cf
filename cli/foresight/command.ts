import { join } from 'node:path';
import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedPool, LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { choosePool } from '#reconciler/policy/pool-selection/choose-pool.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { NEWEST_MINOR, minorName, minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS, folderOf, kubeletVersions, PATH_OPTION, VERSION_OPTION, wordOf } from '../options.ts';
import { type Paint, paintFor } from '../paint.ts';
import { chooseCluster } from '../choose-cluster.ts';
import { connectTo } from '../connect-cluster.ts';
import { count } from '../doctor/diagnosis.ts';
import { wrapFor } from '../wrap.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import { connectNodes } from '../inventory/live-nodes.ts';
import { readInventory } from '../inventory/read-inventory.ts';
import { readDirectory } from '../revision/read-directory.ts';
import { foreseeUpgrades, upgradeLines, type UpgradeForesight } from './foresee-upgrades.ts';
import { type FlagsOfNodes, removedFlagsOf } from '../inventory/nodes-with-removed-flags.ts';

const FORMATS = ['text', 'json'] as const;

export const FORESIGHT: Command = {
  name: 'foresight',
  summary: 'shows what newer kubelets will refuse, drop or do differently',
  takes: '[DIRECTORY]',
  mostWords: 1,
  about: [
    'Judges every pool of a config repository step by step, from the oldest version in use to the newest that is known. In\n' +
      'use is what --kubelet-version says, or else what the nodes of the pool run, or else what clusters/NAME.yaml lists.\n' +
      'Run it before you upgrade nodes.',
    'Nodes come from the cluster (--kubeconfig or --context) or from --inventory. With a cluster, it also names the flags\n' +
      'that agents report from their kubelets’ command lines and that would keep a newer kubelet from starting.',
  ],
  options: {
    ...VERSION_OPTION,
    ...PATH_OPTION,
    cluster: {
      type: 'string',
      value: 'NAME',
      about: 'the cluster whose clusters/NAME.yaml counts (needed if there are several)',
    },
    inventory: { type: 'string', value: 'FILE', about: 'nodes, as kubectl get nodes -o json prints them' },
    kubeconfig: CLUSTER_OPTIONS.kubeconfig,
    context: CLUSTER_OPTIONS.context,
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: [
    'kubelet-gitops foresight .',
    'kubelet-gitops foresight . --kubelet-version 1.31 -o json',
    'kubelet-gitops foresight . --context prod',
  ],
  run: runForesight,
};

async function runForesight(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const [directory = '.'] = given.words;
  const folder = folderOf(given);
  const { files, findings } = await readDirectory(directory, { folder });
  const cluster = chooseCluster(given, files.keys(), io.err, folder);
  const repo = loadRepo(files, { cluster, gitFindings: findings, folder });
  if (repo.pools.length === 0) {
    throw new GitopsError(
      'NOTHING_TO_FORESEE',
      `${join(directory, folder)} has no pools/: name the root of a config repository`,
    );
  }
  const inUse = versionsInUse(repo, kubeletVersions(given), await nodesOf(given, io));
  const versions = repo.pools.flatMap(({ name }) => inUse(name));
  if (versions.length === 0) {
    const ways =
      'name them with --kubelet-version, list them in clusters/NAME.yaml, or name the nodes with --inventory';
    throw new UsageError(`which versions are in use? ${ways} or --context`);
  }
  const steps = repo.pools.flatMap((pool) => (pool.status === 'valid' ? foreseeUpgrades(pool, inUse(pool.name)) : []));
  const { flags, unseen } = removedFlagsOf(await agentsOf(given, io));
  const leftOut = repo.pools.filter((pool) => pool.status === 'invalid').map(leftOutOf);
  io.out.write(
    format === 'json'
      ? `${JSON.stringify({ steps, leftOut, flags, flagsUnseen: unseen }, null, 2)}\n`
      : wrapFor(io.out)(asText(oldestOf(versions), steps, leftOut, flags, paintFor(io.out, io.env))),
  );
  if (unseen.length > 0) {
    io.err.write(`${count('node', unseen)}: the agent does not say which flags its kubelet was started with\n`);
  }
  return steps.length + leftOut.length + flags.length === 0 ? 0 : 1;
}

/**
 * The minor versions by which a pool is judged: those that were asked for, or what its nodes run, or what all nodes run where
 * it has none, or what the cluster's file lists.
 */
function versionsInUse(
  repo: LoadedRepo,
  asked: readonly string[],
  nodes: readonly InventoryNode[],
): (pool: string) => readonly string[] {
  if (asked.length > 0) return () => asked;
  const pools = repo.pools.flatMap((pool) => (pool.status === 'valid' ? [{ name: pool.name, ...pool.spec }] : []));
  const known = nodes.flatMap((node) => {
    const minor = minorNumber(node.kubeletVersion);
    const choice = choosePool(node, pools);
    const pool = choice.choice === 'pool' ? choice.pool : undefined;
    return minor === undefined ? [] : [{ pool, version: minorName(minor) }];
  });
  const otherwise = known.length === 0 ? repo.cluster.kubeletVersions : known.map(({ version }) => version);
  return (name) => {
    const own = known.filter(({ pool }) => pool === name).map(({ version }) => version);
    return own.length === 0 ? otherwise : own;
  };
}

const oldestOf = (versions: readonly string[]): string =>
  minorName(Math.min(...versions.map((version) => minorNumber(version) ?? NEWEST_MINOR)));

/** From a file or a cluster; none where neither was named. @throws GitopsError, KubeError where they cannot be read */
async function nodesOf(given: Given, io: Io): Promise<readonly InventoryNode[]> {
  const file = given.text('inventory');
  if (file !== undefined) return readInventory(file);
  if (!namesCluster(given) || given.texts('kubelet-version').length > 0) return [];
  return (await connectNodes(given, io)).list();
}

const namesCluster = (given: Given): boolean =>
  given.text('kubeconfig') !== undefined || given.text('context') !== undefined;

/** What agents report, if a cluster was named. @throws KubeError if it does not answer, or not to us */
async function agentsOf(given: Given, io: Io): Promise<readonly KubeletNode[]> {
  if (!namesCluster(given)) return [];
  return (await (await connectTo(given, io)).list<KubeletNode>({ resource: KUBELET_NODES })).items;
}

/** A pool that has errors already: what a newer kubelet would add to them is unknown. */
interface LeftOut {
  readonly pool: string;
  readonly findings: readonly Finding[];
}

const leftOutOf = ({ name, findings }: LoadedPool): LeftOut => ({
  pool: name,
  findings: findings.filter(({ severity }) => severity === 'error'),
});

function asText(
  from: string,
  steps: readonly UpgradeForesight[],
  leftOut: readonly LeftOut[],
  flags: FlagsOfNodes['flags'],
  paint: Paint,
): string {
  const known = `from ${from} up to ${minorName(NEWEST_MINOR)}, the newest version that is known here`;
  const nothing = `Nothing ${known}, nor in what is announced of ${minorName(NEWEST_MINOR + 1)}.\n`;
  if (steps.length + leftOut.length + flags.length === 0) return nothing;
  const broken = leftOut.map(({ pool, findings }) =>
    [
      paint('bad', `Pool ${pool} is left out: it has errors now`),
      ...findings.map((finding) => `  ${formatFinding(finding)}`),
    ].join('\n'),
  );
  const blocks = steps.map((step) => {
    const { pool, from: older, to, findings, announced } = step;
    return [
      paint('strong', `Pool ${pool}, kubelet ${older} → ${to}`),
      ...findings.map((finding) => paint(finding.severity === 'error' ? 'bad' : 'busy', `  ${formatFinding(finding)}`)),
      ...upgradeLines(step).map((line) => `  ${line}`),
      ...announced.map(({ field, what, source }) => `  ${field}, as announced: ${what} (${source})`),
    ].join('\n');
  });
  return `${[...broken, ...blocks, ...flagBlock(flags, paint)].join('\n\n')}\n`;
}

function flagBlock(flags: FlagsOfNodes['flags'], paint: Paint): readonly string[] {
  if (flags.length === 0) return [];
  const lines = flags.map(({ flag, to, nodes }) =>
    paint('bad', `  --${flag}: kubelet ${to} does not know it and does not start with it: ${count('node', nodes)}`),
  );
  return [[paint('strong', 'Command lines of kubelets: take these flags off before the upgrade'), ...lines].join('\n')];
}
