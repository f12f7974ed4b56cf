import { join } from 'node:path';
import type { HostFiles } from '../host/host-files.ts';

/** State `0A` of `/proc/net/tcp`: listening (include/net/tcp_states.h). */
const LISTENING = '0A';
const MOST_TABLE_BYTES = 4 * 1024 * 1024;

/** TCP ports with a listener. `self` is this process, which is in the host's network. */
export async function listeningPorts(files: HostFiles): Promise<ReadonlySet<number> | undefined> {
  const tables = await Promise.all(
    ['/proc/1/net/tcp', '/proc/1/net/tcp6'].map((path) => files.text(path, MOST_TABLE_BYTES)),
  );
  if (tables.every((table) => table === undefined)) return undefined;
  const ports = tables.flatMap((table = '') => table.split('\n').flatMap((line) => portOf(line) ?? []));
  return new Set(ports);
}

function portOf(line: string): number | undefined {
  const [, local = '', , state] = line.trim().split(/\s+/);
  const hex = /:([0-9A-F]{4})$/.exec(local)?.[1];
  return state === LISTENING && hex !== undefined ? Number.parseInt(hex, 16) : undefined;
}

/** How deep the directories of pods lie below that of all pods: a class of service in between. */
const DEPTH = 2;

/** Pods that have a cgroup now, and so run. Finished ones have none, though their directories may stay. */
export async function countPods(files: HostFiles, version: 1 | 2 | undefined): Promise<number | undefined> {
  if (version === undefined) return undefined;
  const root = version === 2 ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory';
  const top = ((await files.names(root)) ?? []).filter((name) => /^kubepods(?:\.slice)?$/.test(name));
  const counts = await Promise.all(top.map((name) => countIn(files, join(root, name), DEPTH)));
  return top.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
}

async function countIn(files: HostFiles, directory: string, depth: number): Promise<number> {
  const names = (await files.names(directory)) ?? [];
  const pods = names.filter((name) => /(?:^|-)pod[0-9a-f][0-9a-f_-]{30,}(?:\.slice)?$/.test(name)).length;
  if (depth === 0) return pods;
  const classes = names.filter((name) => /(?:^|-)(?:besteffort|burstable|guaranteed)(?:\.slice)?$/.test(name));
  const below = await Promise.all(classes.map((name) => countIn(files, join(directory, name), depth - 1)));
  return pods + below.reduce((sum, count) => sum + count, 0);
}
