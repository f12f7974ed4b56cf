import { resolve } from 'node:path';
import type { Given } from '../../command.ts';
import { configFiles, type NotUsed } from '../../inventory/config-file-arguments.ts';
import { readConfigs } from '../../inventory/read-configs.ts';
import { readInventory } from '../../inventory/read-inventory.ts';
import type { Io } from '../../io.ts';
import { firstNames } from '../format-lists.ts';
import { type FoundNodes, importableNodes, labelsOfName, type NodeReading } from './importable-nodes.ts';

/** The nodes that files speak of, with the labels that an inventory has of them. @throws GitopsError `INVENTORY_UNREADABLE` */
export async function nodesFromFiles(given: Given, io: Io): Promise<FoundNodes> {
  const inventory = given.text('inventory');
  const nodes = inventory === undefined ? undefined : await readInventory(inventory);
  const { files, leftOut } = await configFiles(given.words);
  // It often lies in the directory of the configs.
  const configs = files.filter(({ path }) => inventory === undefined || resolve(path) !== resolve(inventory));
  const read = await readConfigs(configs, io.in);
  const running = new Map(read.configs.map((each) => [each.node, each] as const));
  const problems = [...leftOut, ...read.leftOut];
  if (nodes === undefined) {
    const seen = read.configs.map(({ node, config }): NodeReading => ({
      name: node,
      labels: labelsOfName(node),
      kubeletVersion: '',
      osImage: '',
      running: config,
    }));
    return withProblems(importableNodes(seen, false), problems);
  }
  const seen = nodes.map(({ name, labels, kubeletVersion, osImage, capacity }) => ({
    name,
    labels,
    kubeletVersion,
    osImage,
    capacity,
    running: running.get(name)?.config,
  }));
  const known = new Set(nodes.map(({ name }) => name));
  const foreign = read.configs
    .filter(({ node }) => !known.has(node))
    .map(({ node, from }): NotUsed => ({ what: from, why: `${node} is not in ${inventory ?? ''}` }));
  const silent = seen.filter((node) => node.running === undefined).map(({ name }) => name);
  const unread = silent.length === 0 ? [] : [{ what: firstNames(silent), why: 'no file says what runs there' }];
  return withProblems(importableNodes(seen, true), [...problems, ...foreign, ...unread]);
}

const withProblems = (fleet: FoundNodes, problems: readonly NotUsed[]): FoundNodes => ({
  ...fleet,
  leftOut: [...problems, ...fleet.leftOut],
});
