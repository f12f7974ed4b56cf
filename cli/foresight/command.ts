import { join } from 'node:path';
import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { NEWEST_MINOR, minorName } from '#shared/contract/kubelet-config/minor.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS, folderOf, kubeletVersions, PATH_OPTION, VERSION_OPTION, wordOf } from '../options.ts';
import { type Paint, paintFor } from '../paint.ts';
import { chooseCluster } from '../choose-cluster.ts';
import { connectTo } from '../connect-cluster.ts';
import { count } from '../doctor/diagnosis.ts';
import { wrapFor } from '../wrap.ts';
import { readDirectory } from '../revision/read-directory.ts';
import { foreseeUpgrades, type UpgradeForesight } from './foresee-upgrades.ts';
import { type FlagsOfNodes, removedFlagsOf } from '../inventory/nodes-with-removed-flags.ts';

const FORMATS = ['text', 'json'] as const;

export const FORESIGHT: Command = {
  name: 'foresight',
  summary: 'shows what newer kubelets will refuse, drop or do differently',
  takes: '[DIRECTORY]',
  mostWords: 1,
  about: [
    'Judges every pool of a config repository step by step from the newest version in use (in clusters/, or given) to the\n' +
      'newest that is known. Run it before you upgrade nodes.',
    'With a cluster (--kubeconfig or --context), it also names the flags that agents report from their kubelets’ command\n' +
      'lines and that would keep a newer kubelet from starting.',
  ],
  options: {
    ...VERSION_OPTION,
    ...PATH_OPTION,
    cluster: {
      type: 'string',
      value: 'NAME',
      about: 'the cluster whose clusters/NAME.yaml counts (needed if there are several)',
    },
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
  const asked = kubeletVersions(given);
  const present = asked.length > 0 ? asked : repo.cluster.kubeletVersions;
  if (present.length === 0) {
    throw new UsageError('which versions are in use? Name them with --kubelet-version, or in clusters/NAME.yaml');
  }
  const steps = repo.pools.flatMap((pool) => (pool.status === 'valid' ? foreseeUpgrades(pool, present) : []));
  const { flags, unseen } = removedFlagsOf(await nodesOf(given, io));
  const leftOut = repo.pools.filter((pool) => pool.status === 'invalid').map(leftOutOf);
  io.out.write(
    format === 'json'
      ? `${JSON.stringify({ steps, leftOut, flags, flagsUnseen: unseen }, null, 2)}\n`
      : wrapFor(io.out)(asText(steps, leftOut, flags, paintFor(io.out, io.env))),
  );
  if (unseen.length > 0) {
    io.err.write(`${count('node', unseen)}: the agent does not say which flags its kubelet was started with\n`);
  }
  return steps.length + leftOut.length + flags.length === 0 ? 0 : 1;
}

/** What agents report, if a cluster was named. @throws KubeError if it does not answer, or not to us */
async function nodesOf(given: Given, io: Io): Promise<readonly KubeletNode[]> {
  if (given.text('kubeconfig') === undefined && given.text('context') === undefined) return [];
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
  steps: readonly UpgradeForesight[],
  leftOut: readonly LeftOut[],
  flags: FlagsOfNodes['flags'],
  paint: Paint,
): string {
  const known = `up to ${minorName(NEWEST_MINOR)}, the newest version that is known here`;
  const nothing = `Nothing ${known}, nor in what is announced of ${minorName(NEWEST_MINOR + 1)}.\n`;
  if (steps.length + leftOut.length + flags.length === 0) return nothing;
  const broken = leftOut.map(({ pool, findings }) =>
    [
      paint('bad', `Pool ${pool} is left out: it has errors now`),
      ...findings.map((finding) => `  ${formatFinding(finding)}`),
    ].join('\n'),
  );
  const blocks = steps.map(({ pool, from, to, findings, defaults, meanings, announced }) =>
    [
      paint('strong', `Pool ${pool}, kubelet ${from} → ${to}`),
      ...findings.map((finding) => paint(finding.severity === 'error' ? 'bad' : 'busy', `  ${formatFinding(finding)}`)),
      ...defaults.map(
        ({ field, before, after }) => `  ${field} is not set, and its default changes: ${before} → ${after}`,
      ),
      ...meanings.map(
        ({ field, before, after }) => `  ${field} means something else: ${before}; from then on, ${after}`,
      ),
      ...announced.map(({ field, what, source }) => `  ${field}, as announced: ${what} (${source})`),
    ].join('\n'),
  );
  return `${[...broken, ...blocks, ...flagBlock(flags, paint)].join('\n\n')}\n`;
}

function flagBlock(flags: FlagsOfNodes['flags'], paint: Paint): readonly string[] {
  if (flags.length === 0) return [];
  const lines = flags.map(({ flag, to, nodes }) =>
    paint('bad', `  --${flag}: kubelet ${to} does not know it and does not start with it: ${count('node', nodes)}`),
  );
  return [[paint('strong', 'Command lines of kubelets: take these flags off before the upgrade'), ...lines].join('\n')];
}
