import { basename } from 'node:path';
import type { HostFiles } from '../host/host-files.ts';

/**
 * The command line of the kubelet with this process id on the host, the program left out. Undefined if it is not
 * visible: there is no such process, or the kubelet is a part of another program.
 */
export async function kubeletArgsOf(
  pid: number | undefined,
  files: Pick<HostFiles, 'text'>,
): Promise<readonly string[] | undefined> {
  if (pid === undefined) return undefined;
  const [program = '', ...args] = ((await files.text(`/proc/${pid}/cmdline`)) ?? '').replace(/\0$/, '').split('\0');
  if (basename(program) === 'kubelet') return args;
  return program.endsWith('hyperkube') && args[0] === 'kubelet' ? args.slice(1) : undefined;
}

/**
 * Reads a kubelet's command line once for each of its runs; while it is down, it is taken to come up with the last one.
 * Undefined until it was seen.
 */
export function createKubeletArgs(
  read: (pid: number) => Promise<readonly string[] | undefined>,
): (run: string | null, pid: number | undefined) => Promise<readonly string[] | undefined> {
  let last: { readonly run: string | null; readonly args?: readonly string[] } = { run: null };
  return async (run, pid) => {
    if (pid === undefined || (run !== null && run === last.run)) return last.args;
    const args = await read(pid).catch(() => undefined);
    // A process that is no kubelet yet is asked again.
    if (args !== undefined) last = { run, args };
    return last.args;
  };
}
