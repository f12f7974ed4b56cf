import type { Given } from '../../command.ts';
import { fetchRunningConfigs } from '../../inventory/fetch-running-configs.ts';
import { connectNodes } from '../../inventory/live-nodes.ts';
import type { Io } from '../../io.ts';
import { firstNames } from '../format-lists.ts';
import { type FoundNodes, importableNodes } from './importable-nodes.ts';

/** All nodes of a cluster, each of whose kubelets is asked. Those that do not answer are named on `err`, and are left out. */
export async function nodesFromCluster(given: Given, io: Io): Promise<FoundNodes> {
  const live = await connectNodes(given, io);
  const nodes = await live.list();
  const names = nodes.map(({ name }) => name);
  const configs = await fetchRunningConfigs(live, names, io.err);
  const seen = nodes.map(({ name, labels, kubeletVersion, osImage, capacity }) => ({
    name,
    labels,
    kubeletVersion,
    osImage,
    capacity,
    running: configs.get(name),
  }));
  const fleet = importableNodes(seen, true);
  const silent = names.filter((name) => !configs.has(name));
  const unasked =
    silent.length === 0 ? [] : [{ what: firstNames(silent), why: 'the kubelet did not say what it runs' }];
  return { ...fleet, leftOut: [...unasked, ...fleet.leftOut] };
}
