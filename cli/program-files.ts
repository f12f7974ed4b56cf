import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GitopsError } from '#shared/runtime/errors.ts';

/**
 * Where a file or folder of this software is: `docs`, `config-repo-template`. In the checkout, or in the package that was made of
 * it, it is the directory above this file that has the template.
 *
 * @param path from the root, with slashes
 * @throws GitopsError `TEMPLATE_MISSING`
 */
export function programFile(path: string): string {
  for (let here = dirname(fileURLToPath(import.meta.url)); ; here = dirname(here)) {
    if (existsSync(join(here, 'config-repo-template', 'CODEOWNERS'))) return join(here, path);
    if (here === dirname(here)) {
      throw new GitopsError('TEMPLATE_MISSING', 'config-repo-template is not beside the program: install it again');
    }
  }
}

/** Every file of a folder of this software: path in it, with slashes → text. @throws GitopsError `TEMPLATE_MISSING` */
export async function readFolder(folder: string): Promise<ReadonlyMap<string, string>> {
  const root = programFile(folder);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return new Map(files.map((file, at) => [relative(root, file).replaceAll('\\', '/'), texts[at] ?? '']));
}
