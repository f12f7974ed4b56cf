import { readFile } from 'node:fs/promises';

/** The most memory that a process had in RAM since its start, in MiB (VmHWM, proc(5)). */
export async function peakRssMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}
