import { readFile } from 'node:fs/promises';

/** Identifies the present boot of the machine, in a container as well: the file is the kernel's, not a mount's. */
export async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

/** Age of the machine in this boot, in seconds, pauses included; setting the clock does not change it. */
export async function readUptimeSeconds(): Promise<number> {
  return Number.parseFloat(await readFile('/proc/uptime', 'utf8'));
}

/**
 * The uid of the pod that this process is in, by what the kubelet mounts into each of its containers; empty where there is none.
 * It stays the same for as long as the process lives.
 */
export const podUidIn = (mountinfo: string): string =>
  /\/pods\/([0-9a-f-]{36})\/(?:etc-hosts|containers\/\S+) \S+ /.exec(mountinfo)?.[1] ?? '';

export const readPodUid = (): Promise<string> => readFile('/proc/self/mountinfo', 'utf8').then(podUidIn, () => '');
