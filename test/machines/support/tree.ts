import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KUBERNETES, type Located, locateNode } from '../../cluster/support/binaries.ts';
import { inCi, runRecipe } from '../../support/recipe.ts';
import { MINOR } from '../../cluster/support/kubelet-of-minor.ts';

const RECIPE = join(import.meta.dirname, 'tree.sh');

/** What machines boot, in the directory that the recipe makes. */
export interface Tree {
  readonly root: string;
  readonly kernel: string;
  readonly initrd: string;
  /** A program for pods that do nothing. */
  readonly idle: string;
}

/** In CI it is made when it is missing. @throws in CI where it cannot be made */
export async function locateTree(): Promise<Located<Tree>> {
  const at = (directory: string): Located<Tree> => ({
    found: true,
    binaries: {
      root: join(directory, 'root'),
      kernel: join(directory, 'vmlinux'),
      initrd: join(directory, 'initrd'),
      idle: join(directory, 'idle'),
    },
  });
  if (inCi()) return at(await runRecipe(RECIPE));
  try {
    const { stdout } = await promisify(execFile)(RECIPE, ['--where']);
    return at(stdout.trim());
  } catch {
    return { found: false, reason: `what the machines boot is not made on this computer; run ${RECIPE} as root, once` };
  }
}

const FIRST_MINOR = 35;

/** For a test's `skip` option: why there can be no machine here, or false. @throws instead of skipping in CI */
export async function machineSkipReason(): Promise<string | false> {
  if (MINOR < FIRST_MINOR) return `the machines have a kubelet of today, not ${KUBERNETES}: npm run test:machines`;
  const [node, tree] = [await locateNode(), await locateTree()];
  const reason = [node, tree].flatMap((located) => (located.found ? [] : [located.reason])).join('; ');
  if (reason === '') return false;
  if (inCi()) throw new Error(`in CI the machines must run: ${reason}`);
  return `SKIPPED: ${reason}: nothing proves that nodes outlive a power cut`;
}
