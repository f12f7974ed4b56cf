import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
