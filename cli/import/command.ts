import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { minorName, minorNumber, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { type Command, type ExitCode, type Given, Mistake } from '../command.ts';
import { askRunning } from '../inventory/ask-running.ts';
import { connectNodes } from '../inventory/live-nodes.ts';
import { readRunningConfig } from '../inventory/read-running-config.ts';
import { readInventory } from '../inventory/read-inventory.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS } from '../options.ts';
import { type RunningFields, essenceOf } from './essence.ts';
import { repositoryFiles } from './files.ts';
import { groupNodes } from './group.ts';
import type { Labels } from './mark.ts';

export const IMPORT: Command = {
  name: 'import',
  summary: 'makes a config repository from what the nodes of a cluster run now',
  takes: '[NODE=FILE]...',
  mostWords: 10_000,
  about: [
    'Asks each kubelet what it runs (/configz through the API server: needs get on nodes/proxy), or reads files that hold it:\n' +
      '  kubectl get --raw /api/v1/nodes/NODE/proxy/configz > NODE.json',
    'Nodes that run the same become a pool, told by a label that only they have or lack, so that later nodes join it. What\n' +
      'equals the defaults of their version is left out; what identifies a node, and what the field policy denies by\n' +
      'default, is left to the node. Existing files are not overwritten.',
    'Exit code 1 where a node is left out, because its kubelet could not be asked.',
  ],
  options: {
    into: { type: 'string', value: 'DIRECTORY', about: 'where the repository is written (default .)' },
    cluster: { type: 'string', value: 'NAME', about: 'name of the cluster: clusters/NAME.yaml (default: default)' },
    inventory: {
      type: 'string',
      value: 'FILE',
      about: 'nodes, as kubectl get nodes -o json prints them; with files only',
    },
    kubeconfig: CLUSTER_OPTIONS.kubeconfig,
    context: CLUSTER_OPTIONS.context,
  },
  examples: [
    'kubelet-gitops import --context prod --cluster prod --into config-repo',
    'kubelet-gitops import worker-1=worker-1.json worker-2=worker-2.json --inventory nodes.json',
  ],
  run: runImport,
};

interface Seen {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly kubeletVersion: string;
  /** undefined where the kubelet did not say it. */
  readonly running: RunningFields | undefined;
}

interface Fleet {
  readonly seen: readonly Seen[];
  /** Labels of the nodes that nobody asked; undefined where it is not known which there are. */
  readonly strangers: readonly Labels[] | undefined;
}

async function runImport(given: Given, io: Io): Promise<ExitCode> {
  const into = given.text('into') ?? '.';
  const cluster = given.text('cluster') ?? 'default';
  const { seen, strangers } = given.words.length > 0 ? await fromFiles(given) : await fromCluster(given, io);
  const nodes = seen.flatMap(({ name, labels, kubeletVersion, running }) => {
    const minor = Math.min(minorNumber(kubeletVersion) ?? NEWEST_MINOR, NEWEST_MINOR);
    return running === undefined ? [] : [{ name, labels, ...essenceOf(running, minor) }];
  });
  if (nodes.length === 0) throw new GitopsError('NOTHING_TO_IMPORT', 'there is no node whose config could be read');
  const versions = [...new Set(seen.flatMap(({ kubeletVersion }) => minorNumber(kubeletVersion) ?? []))].sort(
    (a, b) => a - b,
  );
  const silent = seen.flatMap(({ labels, running }) => (running === undefined ? [labels] : []));
  const grouped = groupNodes(nodes, strangers === undefined ? undefined : [...silent, ...strangers]);
  const files = repositoryFiles(grouped, cluster, versions.map(minorName));
  await writeAll(into, files);
  for (const path of files.keys()) io.out.write(`${join(into, path)}\n`);
  for (const { name, nodes: members } of grouped.groups) {
    io.err.write(`pool ${name}: ${members.length} ${members.length === 1 ? 'node' : 'nodes'}\n`);
  }
  const leftOut = [...new Set(nodes.flatMap((node) => node.leftOut))].sort();
  if (leftOut.length > 0)
    io.err.write(`left to the nodes (node-specific, or denied by default): ${leftOut.join(', ')}\n`);
  return nodes.length < seen.length ? 1 : 0;
}

async function fromCluster(given: Given, io: Io): Promise<Fleet> {
  const live = await connectNodes(given, io);
  const nodes = await live.list();
  const heard = await askRunning(
    live,
    nodes.map(({ name }) => name),
    io.err,
  );
  const seen = nodes.map(({ name, labels, kubeletVersion }) => ({
    name,
    labels,
    kubeletVersion,
    running: heard.get(name),
  }));
  return { seen, strangers: [] };
}

async function fromFiles(given: Given): Promise<Fleet> {
  const inventory = given.text('inventory');
  const nodes = inventory === undefined ? [] : await readInventory(inventory);
  const seen = await Promise.all(
    given.words.map(async (word): Promise<Seen> => {
      const [, name, path] = /^([^=]+)=(.+)$/.exec(word) ?? [];
      if (name === undefined || path === undefined) throw new Mistake(`${word}: write NODE=FILE`);
      const node = nodes.find((each) => each.name === name);
      const labels = node?.labels ?? { 'kubernetes.io/hostname': name };
      return { name, labels, kubeletVersion: node?.kubeletVersion ?? '', running: await readRunningConfig(path) };
    }),
  );
  const named = new Set(seen.map(({ name }) => name));
  const strangers = nodes.filter(({ name }) => !named.has(name)).map(({ labels }) => labels);
  return { seen, strangers: inventory === undefined ? undefined : strangers };
}

/** All or nothing: a file that is there already is not overwritten. */
async function writeAll(into: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const path of files.keys()) {
    const present = await readFile(join(into, path)).catch(() => undefined);
    if (present !== undefined) {
      throw new GitopsError(
        'FILE_EXISTS',
        `${join(into, path)} is there already: choose another directory with --into`,
      );
    }
  }
  for (const [path, text] of files) {
    await mkdir(dirname(join(into, path)), { recursive: true });
    await writeFile(join(into, path), text, { flag: 'wx' });
  }
}
