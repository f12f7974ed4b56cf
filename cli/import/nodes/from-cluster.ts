import type { Given } from '../../command.ts';
import { askRunning } from '../../inventory/ask-running.ts';
import { connectNodes } from '../../inventory/live-nodes.ts';
import type { Io } from '../../io.ts';
import { firstNames } from '../say.ts';
import { type FoundNodes, fleetOf } from './fleet.ts';

/** All nodes of a cluster, each of whose kubelets is asked. Those that do not answer are named on `err`, and are left out. */
export async function fleetFromCluster(given: Given, io: Io): Promise<FoundNodes> {
  const live = await connectNodes(given, io);
  const nodes = await live.list();
  const names = nodes.map(({ name }) => name);
  const heard = await askRunning(live, names, io.err);
  const seen = nodes.map(({ name, labels, kubeletVersion, capacity }) => ({
    name,
    labels,
    kubeletVersion,
    capacity,
    running: heard.get(name),
  }));
  const fleet = fleetOf(seen, true);
  const silent = names.filter((name) => !heard.has(name));
  const unasked =
    silent.length === 0 ? [] : [{ what: firstNames(silent), why: 'the kubelet did not say what it runs' }];
  return { ...fleet, leftOut: [...unasked, ...fleet.leftOut] };
}
