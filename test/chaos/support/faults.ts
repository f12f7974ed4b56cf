import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease } from '#reconciler/cluster/leader/lease.ts';
import { NAMESPACE } from '../../cluster/support/programs.ts';
import type { Site } from './site.ts';

/** Makes trouble until the signal aborts, then fixes what it broke. @returns how often it struck */
export type ChaosFault = (site: Site, signal: AbortSignal) => Promise<number>;

const rest = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/** The API server dies by SIGKILL, stays away for a moment and comes back, with all that it had in memory lost. */
export const apiServerKilled: ChaosFault = async ({ cluster }, signal) => {
  let strikes = 0;
  const until = performance.now() + 10_000;
  for (; performance.now() < until && !signal.aborted; strikes += 1) {
    await cluster.killApiServer();
    await sleep(1_500);
    await cluster.startApiServer();
    await rest(3_000, signal);
  }
  return strikes;
};

/** etcd stands still for most of the time, so that writes take seconds. */
export const etcdSlow: ChaosFault = async ({ cluster: { etcd } }, signal) => {
  let strikes = 0;
  const until = performance.now() + 10_000;
  for (; !signal.aborted && performance.now() < until; strikes += 1) {
    process.kill(etcd.pid, 'SIGSTOP');
    try {
      await sleep(800);
    } finally {
      process.kill(etcd.pid, 'SIGCONT');
    }
    await rest(300, signal);
  }
  return strikes;
};

/** The git server goes away and comes back, in the middle of fetches and of notes that are pushed. */
export const gitFlapping: ChaosFault = async ({ fleet }, signal) => {
  let strikes = 0;
  for (; !signal.aborted; strikes += 1) {
    await fleet.ask('git', { reachable: false });
    await sleep(1_500);
    await fleet.ask('git', { reachable: true });
    await rest(1_000, signal);
  }
  return strikes;
};

/** Whoever leads is killed after three seconds, in turn by SIGKILL and as a pod is deleted, and starts again. */
export const leaderKilled: ChaosFault = async (site, signal) => {
  let strikes = 0;
  while (!signal.aborted) {
    const leader = await leaderOf(site);
    if (leader === undefined) {
      await rest(200, signal);
      continue;
    }
    await rest(3_000, signal);
    if (signal.aborted) break;
    await site.replicas.get(leader)?.kill(strikes % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
    strikes += 1;
    await handedOver(site, leader, signal);
  }
  return strikes;
};

/** @returns the name of the replica that holds the Lease; undefined where nobody can tell */
async function leaderOf({ cluster, replicas }: Site): Promise<string | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/kubelet-gitops-reconciler`;
  const answer = await cluster.request('GET', path).catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  const holder = (answer.json() as Lease).spec?.holderIdentity ?? '';
  return [...replicas.keys()].find((name) => holder.startsWith(`${name}_`));
}

/** A Lease of a process that is gone names it until it runs out. */
async function handedOver(site: Site, from: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await leaderOf(site)) === from) await rest(200, signal);
}
