import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalRepository } from './local-repository.ts';
import type { Revision } from './read-revision.ts';

/**
 * What is to be said to who sees other files than are shown: a line, or nothing where they are the same.
 *
 * @param paths of files of the revision
 */
export async function workingCopyNotice(
  repository: Pick<LocalRepository, 'directory'>,
  { files, name, commit }: Revision,
  paths: readonly string[],
): Promise<string> {
  const changed: string[] = [];
  for (const path of paths) {
    const file = files.get(path);
    if (file === undefined) continue;
    const here = await readFile(join(repository.directory, file.path)).catch(() => undefined);
    if (here?.equals(file.bytes) !== true) changed.push(file.path);
  }
  if (changed.length === 0 || commit === null) return '';
  const names = changed.length > 1 ? `${changed[0]} and ${changed.length - 1} more differ` : `${changed[0]} differs`;
  return `${names} from ${name} (${commit.oid.slice(0, 12)}), which is shown; render --revision . shows your files\n`;
}
