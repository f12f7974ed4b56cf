import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { inCi } from './recipe.ts';

const RECIPE = join(import.meta.dirname, 'go-programs', 'build.sh');

/** A real program of somebody else's, as its Go module has it. */
export interface GoProgram {
  /** Its path; undefined where it is not built on this machine. */
  readonly path: string | undefined;
  /** For a test's `skip` option. */
  readonly skip: string | false;
}

/**
 * Finds a program of `go-programs`. In CI it is built where it is missing, which takes a minute or more.
 *
 * @param folder of `go-programs`
 * @param unproved what nothing proves without it
 * @throws in CI, where it cannot be built
 */
export function goProgram(folder: string, program: string, unproved: string): GoProgram {
  const args = [...(inCi() ? [] : ['--where']), folder, program];
  const { status, stdout } = spawnSync(RECIPE, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (status === 0) return { path: join(stdout.trim(), program), skip: false };
  if (inCi()) throw new Error(`${RECIPE} did not build ${program}`);
  const how = `test/support/go-programs/build.sh ${folder} ${program} makes one`;
  return { path: undefined, skip: `SKIPPED: no ${program}; ${how}: ${unproved}` };
}
