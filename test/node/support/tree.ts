import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inCi, runRecipe } from '../../support/recipe.ts';

const RECIPE = join(import.meta.dirname, 'tree.sh');

/** The pristine file system that nodes are copies of, or why there is none. */
export type Tree = { readonly found: true; readonly path: string } | { readonly found: false; readonly reason: string };

/** In CI it is made when it is missing. @throws in CI where it cannot be made */
export async function locateTree(): Promise<Tree> {
  if (inCi()) return { found: true, path: await runRecipe(RECIPE) };
  if (process.getuid?.() !== 0) return { found: false, reason: 'a real systemd in a container needs root' };
  try {
    const { stdout } = await promisify(execFile)(RECIPE, ['--where']);
    return { found: true, path: stdout.trim() };
  } catch {
    return { found: false, reason: `the nodes' file system is not made on this machine; run ${RECIPE} as root, once` };
  }
}

/** For a test's `skip` option: why there can be no node here, or false. @throws instead of skipping in CI */
export async function nodeSkipReason(): Promise<string | false> {
  const tree = await locateTree();
  return tree.found ? false : tree.reason;
}
