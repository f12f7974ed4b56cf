import { readFile } from 'node:fs/promises';

/** Identifies the present boot of the machine, in a container as well: the file is the kernel's, not a mount's. */
export async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

/** Age of the machine in this boot, in seconds, pauses included; no clock that somebody sets changes it. */
export async function readUptimeSeconds(): Promise<number> {
  return Number.parseFloat(await readFile('/proc/uptime', 'utf8'));
}
