import { resolve } from 'node:path';
import { minorNumber, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import type { Given } from '../../command.ts';
import { labelsOfName } from '../../import/nodes/importable-nodes.ts';
import { configFiles } from '../../inventory/config-file-arguments.ts';
import { readConfigs } from '../../inventory/read-configs.ts';
import { readInventory } from '../../inventory/read-inventory.ts';
import type { Io } from '../../io.ts';
import { kubeletVersions } from '../../options.ts';
import { UsageError } from '../../command.ts';
import { shareConfigs } from '../alike.ts';
import type { NodeFacts } from '../node-facts.ts';
import { type FoundNodes, groupUnseen, type Unseen } from './found-nodes.ts';

/** The nodes that files speak of, with what an inventory has of them. @throws UsageError; GitopsError `INVENTORY_UNREADABLE` */
export async function nodesFromFiles(given: Given, io: Io): Promise<FoundNodes> {
  const [version = '', another] = kubeletVersions(given);
  if (another !== undefined) throw new UsageError('--kubelet-version: give one version, that of all nodes');
  const inventory = given.text('inventory');
  const nodes = inventory === undefined ? undefined : await readInventory(inventory);
  const { files, leftOut } = await configFiles(given.words);
  // It often lies in the directory of the configs.
  const configs = files.filter(({ path }) => inventory === undefined || resolve(path) !== resolve(inventory));
  const read = await readConfigs(configs, io.in);
  const byName = new Map(nodes?.map((node) => [node.name, node] as const));
  const share = shareConfigs();
  const facts = read.configs.map(({ node: name, config, isAnswer }): NodeFacts => {
    const node = byName.get(name);
    return {
      name,
      labels: node?.labels ?? labelsOfName(name),
      kubeletVersion: node?.kubeletVersion || version,
      osImage: node?.osImage ?? '',
      ...(node === undefined ? {} : { node }),
      ...(isAnswer === true ? { origin: 'configz', ...share(config) } : { origin: 'file', running: config }),
    };
  });
  const isRead = new Set(facts.map(({ name }) => name));
  const silent = (nodes ?? []).filter(({ name }) => !isRead.has(name));
  const isOld = ({ kubeletVersion }: NodeFacts): boolean => (minorNumber(kubeletVersion) ?? Infinity) < OLDEST_MINOR;
  const unseen = [
    ...[...leftOut, ...read.leftOut].map(({ what, why }): Unseen => ({
      node: what,
      reason: 'unreadable',
      because: why,
    })),
    ...silent.map(({ name }): Unseen => ({ node: name, reason: 'no-answer', because: 'no file says what runs there' })),
    ...facts.filter(isOld).map(tooOld),
  ];
  return {
    source: { from: 'files', of: firstFew(given.words), notes: notesOf(facts, inventory) },
    nodes: facts.filter((each) => !isOld(each)),
    unseen: groupUnseen(unseen),
    of: facts.length + silent.length + leftOut.length + read.leftOut.length,
    strangers: nodes === undefined ? undefined : silent.map(({ labels }) => labels),
  };
}

export const tooOld = ({ name, kubeletVersion }: Pick<NodeFacts, 'name' | 'kubeletVersion'>): Unseen => ({
  node: name,
  reason: 'unsupported',
  because: `kubelet ${/^v?1\.\d+/.exec(kubeletVersion)?.[0]} is older than the oldest that is known, 1.${OLDEST_MINOR}`,
});

function notesOf(facts: readonly NodeFacts[], inventory: string | undefined): readonly string[] {
  const files = facts.filter(({ origin }) => origin === 'file').length;
  return [
    ...(files === 0
      ? []
      : [
          `${files} of ${facts.length} are config files: defaults are filled in, and flags that the distribution always passes; other flags and drop-ins are not seen.`,
        ]),
    ...(inventory === undefined
      ? ['Without --inventory, labels, versions and sizes of the machines are not known.']
      : []),
  ];
}
