import { GitopsError } from '#shared/runtime/errors.ts';
import type { Command, ExitCode, Given } from '../command.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS, clusterName } from '../options.ts';
import { join, relative, resolve, sep } from 'node:path';
import { openRepository } from '../revision/local-repository.ts';
import { repositoryFiles, schemaNames } from './files/repository-files.ts';
import { FORGE_OPTION, forgeOf, schemaFiles, templateFiles } from './files/repository-template.ts';
import { writeRepository } from './files/write-repository.ts';
import { distributionValues } from './distribution-values.ts';
import { recogniseFormulas } from './formulas.ts';
import { openKubelets } from './open-kubelets.ts';
import { importErrors } from './import-errors.ts';
import { nodesFromCluster } from './nodes/nodes-from-cluster.ts';
import { nodesFromFiles } from './nodes/nodes-from-files.ts';
import { groupNodes } from './pools/group-nodes.ts';
import { isPartial, leftOutLine, lostNodes, type Outcome, importSummary } from './import-summary.ts';

export const IMPORT: Command = {
  name: 'import',
  summary: 'makes a config repository from what the nodes of a cluster run now',
  takes: '[FILE|DIRECTORY|NODE=FILE|-]...',
  mostWords: 10_000,
  about: [
    'Asks each kubelet what it runs (/configz through the API server: needs get on nodes/proxy), or reads it from standard\n' +
      'input (-), a line for each node: {"node": "NODE", "kubeletconfig": {…}}; or from files that are named after their nodes:\n' +
      '  kubectl get --raw /api/v1/nodes/NODE/proxy/configz > configs/NODE.json',
    'Nodes become pools by their labels: the control plane apart, then by the pools of the provider, roles, and other labels.\n' +
      'A pool’s config is what most nodes of its label run; nodes that differ become pools of higher priority, by a label or by\n' +
      'name. What pools share goes into base/. Reservations that match a known formula become a layer with that profile\n' +
      '(docs/computed-values.md). Values that equal the defaults of the kubelet’s version are left out. What identifies a node,\n' +
      'how its host was set up, and what the field policy denies by default stay in the node’s own config.',
    'Also writes schemas for editors, and pipelines, CODEOWNERS and README where they are missing. Existing pools and layers are\n' +
      'not overwritten without --force. Prints the chart’s values for the distributions of the nodes, where these tell.',
    'Exit code 1 if a file, a node, or a field that differs too much is left out, or a kubelet is open to anybody: standard\n' +
      'error says which, and why.',
  ],
  options: {
    into: { type: 'string', value: 'DIRECTORY', about: 'where the repository is written (default .)' },
    cluster: { type: 'string', value: 'NAME', about: 'name of the cluster: clusters/NAME.yaml (default: default)' },
    inventory: {
      type: 'string',
      value: 'FILE',
      about: 'nodes, as kubectl get nodes -o json prints them; with files only',
    },
    ...FORGE_OPTION,
    force: { type: 'boolean', about: 'overwrite what an earlier import wrote; never pipelines, CODEOWNERS and README' },
    kubeconfig: CLUSTER_OPTIONS.kubeconfig,
    context: CLUSTER_OPTIONS.context,
  },
  examples: [
    'kubelet-gitops import --context prod --cluster prod --into config-repo',
    'kubelet-gitops import configs --inventory nodes.json --cluster prod --into config-repo',
    'kubelet-gitops import worker-1=worker-1.json worker-2=worker-2.json --inventory nodes.json',
  ],
  run: runImport,
};

async function runImport(given: Given, io: Io): Promise<ExitCode> {
  const into = given.text('into') ?? '.';
  const cluster = clusterName(given);
  const fleet = given.words.length > 0 ? await nodesFromFiles(given, io) : await nodesFromCluster(given, io);
  const { strangers } = fleet;
  const { members, formulas } = recogniseFormulas(fleet.members);
  const grouped = groupNodes(members, strangers);
  const leftOut = [...fleet.leftOut, ...lostNodes(grouped.lost)];
  if (grouped.groups.length === 0) {
    for (const each of leftOut) io.err.write(`${leftOutLine(each)}\n`);
    throw new GitopsError('NOTHING_TO_IMPORT', 'no node has a config that can be imported');
  }
  const minors = new Map(members.flatMap(({ name, minor }) => (minor === undefined ? [] : [[name, minor] as const])));
  const made = repositoryFiles(grouped, cluster, minors);
  const schemas = await schemaFiles(schemaNames(grouped, minors));
  const template = await templateFiles(
    cluster,
    grouped.groups.map(({ name }) => name),
    forgeOf(given),
  );
  const written = await writeRepository(into, new Map([...made, ...schemas]), template, given.flag('force'));
  for (const path of written.written) io.out.write(`${join(into, path)}\n`);
  const findings = importErrors(made, cluster);
  const hasLabels = strangers !== undefined;
  const outcome: Outcome = {
    grouped,
    members,
    formulas,
    leftOut,
    written,
    findings,
    into,
    folder: await folderInRepository(into),
    cluster,
    hasLabels,
    open: openKubelets(fleet.nodes),
    distributions: distributionValues(fleet.nodes),
    compare: compareBy(given),
  };
  for (const line of importSummary(outcome)) io.err.write(`${line}\n`);
  return isPartial(outcome) ? 1 : 0;
}

/** Of a directory that exists. */
const folderInRepository = async (directory: string): Promise<string> =>
  openRepository(directory).then(
    (repository) => relative(repository.directory, resolve(directory)).split(sep).join('/'),
    () => '',
  );

/** The options of `plan` with which it compares with the same nodes. */
function compareBy(given: Given): string {
  const option = (name: string): readonly string[] => {
    const value = given.text(name);
    return value === undefined ? [] : [`--${name} ${value}`];
  };
  const [first, ...others] = given.words;
  if (first === undefined) {
    return [...option('kubeconfig'), ...option('context'), '--running cluster'].join(' ');
  }
  return [...option('inventory'), `--running ${first}`, ...(others.length === 0 ? [] : ['--running …'])].join(' ');
}
