import type { HostFiles } from '../host-files.ts';
import { inBlocks, type ReadAt } from './blocks.ts';
import { entriesBackwards, type JournalEntry } from './journal-file.ts';

/** The directories of journald: on the disk, or in memory without that one. */
const PLACES = ['/var/log/journal', '/run/log/journal'];
/** A crash loop may have filled the file in use a moment ago. */
const MOST_FILES = 3;
/** 8 MiB of each file. */
const MOST_BLOCKS = 512;

/** The host's journal as far as it can be read: what a unit's processes wrote, the newest first. Never throws. */
export async function* unitLines(
  files: HostFiles,
  unit: string,
  names: readonly string[],
): AsyncGenerator<JournalEntry> {
  for (const path of await journalFiles(files)) {
    const file = await files.open(path);
    if (file === undefined) continue;
    try {
      yield* entriesOf(file.read, unit, names);
    } finally {
      await file.close();
    }
  }
}

/**
 * What cannot be read may be what journald wrote after the blocks around it were read: it is read once more, with all blocks
 * fresh. Nothing where the file is damaged, or of an unknown kind: the next may be whole.
 */
async function* entriesOf(read: ReadAt, unit: string, names: readonly string[]): AsyncGenerator<JournalEntry> {
  for (let isRead = false, tries = 0; !isRead && tries < 2; tries += 1) {
    try {
      for await (const entry of entriesBackwards(inBlocks(read, MOST_BLOCKS), '_SYSTEMD_UNIT', unit, names)) {
        isRead = true;
        yield entry;
      }
      isRead = true;
    } catch {
      // Tried again, where nothing of it was given yet.
    }
  }
}

/** The file that is written to, and those that were put aside last. */
async function journalFiles(files: HostFiles): Promise<readonly string[]> {
  const machine = ((await files.text('/etc/machine-id', 64)) ?? '').trim();
  for (const place of PLACES) {
    const directory = `${place}/${machine}`;
    const names = (await files.names(directory)) ?? [];
    if (!names.includes('system.journal')) continue;
    // The last part of their names is the time of their first entry.
    const old = names
      .filter((name) => /^system@[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{16}\.journal$/.test(name))
      .toSorted((a, b) => b.slice(-24).localeCompare(a.slice(-24)));
    return ['system.journal', ...old].slice(0, MOST_FILES).map((name) => `${directory}/${name}`);
  }
  return [];
}
