import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BootedNode } from './booted-node.ts';

/** Reads a unit's log from outside: the last lines, all boots together. Also while the machine is down. */
export function journalOf({ root }: BootedNode): (unit: string, lines?: number) => Promise<string> {
  return async (unit, lines = 40) => {
    const args = ['--directory', join(root, 'var/log/journal'), '--output=cat', '--quiet', `--lines=${lines}`];
    const { stdout } = await promisify(execFile)('journalctl', [...args, `--unit=${unit}`], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  };
}
