import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { inCi } from './recipe.ts';

const RECIPE = join(import.meta.dirname, 'go-programs', 'build.sh');

/** A real program of somebody else's, as its Go module has it. */
export interface GoProgram {
  /** Its path; undefined where it is not built on this machine. */
  readonly path: string | undefined;
  /** For the `skip` of a test or of `describeOrSkip`. */
  readonly skip: string | false;
}

/**
 * Finds a program of `go-programs`. In CI it is built where it is missing, which takes a minute or more.
 *
 * @param folder of `go-programs`
 * @param unproved what nothing proves without it
 * @param options `anyVersion`: where it is not built, the one in PATH will do
 * @throws in CI, where it cannot be built
 */
export function goProgram(
  folder: string,
  program: string,
  unproved: string,
  { anyVersion = false }: { readonly anyVersion?: boolean } = {},
): GoProgram {
  const path =
    askRecipe('--where', folder, program) ??
    (anyVersion ? inPath(program) : undefined) ??
    (inCi() ? askRecipe(folder, program) : undefined);
  if (path !== undefined) return { path, skip: false };
  const how = `test/support/go-programs/build.sh ${folder} ${program} makes one with Go 1.26`;
  const missing = `no ${program}${anyVersion ? ' in PATH' : ''}; ${how}: ${unproved}`;
  if (inCi()) throw new Error(`CI has ${missing}`);
  return { path: undefined, skip: `SKIPPED: ${missing}` };
}

/** The path of the program that the arguments end with; undefined where there is none. */
function askRecipe(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(RECIPE, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return status === 0 ? join(stdout.trim(), args.at(-1) ?? '') : undefined;
}

const inPath = (program: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, program))
    .find(isExecutable);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
