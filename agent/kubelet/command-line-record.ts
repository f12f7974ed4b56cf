import { join } from 'node:path';
import { ensureDirectories, readFile } from '../host/state-files.ts';
import { checkStamp, optionalText, parseRaw, stampOf, textsIn, wordIn } from '../host/record-shape.ts';
import type { Disk } from '../ports/disk.ts';
import type { CommandLineMemory } from './command-line.ts';

const MOST_BYTES = 64 * 1024;

/** In a file that only root reads: flags may have secrets for values. What cannot be read is not remembered. */
export function createCommandLineMemory(disk: Disk, stateDirectory: string, node: string): CommandLineMemory {
  const directory = join(stateDirectory, 'meta');
  const path = join(directory, 'command-line');
  return {
    async load() {
      const bytes = await readFile(disk, path, MOST_BYTES);
      if (bytes === null) return undefined;
      const raw = checkStamp(parseRaw(bytes.toString('utf8')), node);
      const seenIn = wordIn(raw, 'seenIn', ['process', 'journal', 'files']);
      const unit = optionalText(raw, 'unit') ?? '';
      return { run: optionalText(raw, 'run') ?? null, unit, args: textsIn(raw, 'args'), seenIn };
    },
    async save(remembered) {
      const bytes = Buffer.from(`${JSON.stringify({ ...stampOf(node), ...remembered })}\n`, 'utf8');
      if (bytes.length > MOST_BYTES) return;
      await ensureDirectories(disk, stateDirectory, directory);
      await disk.replace(path, bytes, { mode: 0o600 });
    },
  };
}
