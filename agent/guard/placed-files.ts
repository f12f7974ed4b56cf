import { dirname } from 'node:path';
import type { Disk } from '../ports/disk.ts';
import { isStagedPath } from './guard-paths.ts';

/** What the guard's files outside of its directory are, so that each can be found again whatever was interrupted. */
export interface PlacedFiles {
  readonly staged: readonly string[];
  /** Directories that were made for them, the deepest first. */
  readonly made: readonly string[];
}

export function encodePlacedFiles({ staged, made }: PlacedFiles): Buffer {
  return Buffer.from(
    [...staged.map((path) => `file ${path}\n`), ...made.map((path) => `directory ${path}\n`)].join(''),
  );
}

/** Takes nothing for ours that cannot be. */
export function decodePlacedFiles(bytes: Buffer | null): PlacedFiles {
  const lines = bytes?.toString('utf8').split('\n') ?? [];
  const of = (word: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${word} /`)).map((line) => line.slice(word.length + 1));
  return { staged: of('file').filter(isStagedPath), made: of('directory') };
}

/** Directories that are missing on the way to a file, the deepest first. */
export async function missingParentDirectories(disk: Pick<Disk, 'stat'>, file: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let directory = dirname(file); (await disk.stat(directory)) === null; directory = dirname(directory)) {
    missing.push(directory);
  }
  return missing;
}

/** Removes the files, and directories that are left empty. */
export async function removePlacedFiles(disk: Disk, { staged, made }: PlacedFiles): Promise<void> {
  for (const path of staged) await disk.remove(path);
  for (const path of made) {
    const isUnused = (await disk.list(path)).length === 0;
    if (isUnused) await disk.remove(path);
  }
}
