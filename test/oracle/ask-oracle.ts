import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runRecipe } from '../support/recipe.ts';

/** What the code of a kubelet makes of a file (`test/support/go-programs/oracle`). */
export interface OracleAnswer {
  /** `ok`: taken strictly. `lenient`: taken without something. `reject:` and the stage that refuses it. */
  readonly verdict: string;
  /** One for each fault that it names, in its words. */
  readonly faults: readonly string[];
  /** Why it is not taken strictly; empty where it is. */
  readonly strict: string;
  /** What makes it exit later, when it comes to it. */
  readonly start: readonly string[];
  /** As /configz shows it, of what is taken. Whole numbers beyond 2^53 are bigints. */
  readonly effective?: Readonly<Record<string, unknown>>;
}

const BUILD = join(import.meta.dirname, '../support/go-programs/build.sh');

/** Builds the oracle of a minor, if that was not done before; a fifth of a minute, or some minutes where nothing is cached. */
export async function oracleOf(minor: number): Promise<string> {
  return join(await runRecipe(BUILD, [`kubernetes-1.${minor}`, 'oracle']), 'oracle');
}

/** Every flag that the kubelet takes, as its code writes it. @param program what `oracleOf` gives */
export async function flagsOf(program: string): Promise<ReadonlySet<string>> {
  const { stdout } = await promisify(execFile)(program, ['flags'], { maxBuffer: 2 ** 30 });
  return new Set(Object.keys(JSON.parse(stdout) as object).map((flag) => flag.replaceAll('_', '-')));
}

/** The fields of the config that each flag sets, as its code does when it is given one. @param program what `oracleOf` gives */
export async function fieldsOfFlags(program: string): Promise<Map<string, readonly string[]>> {
  const { stdout } = await promisify(execFile)(program, ['shadows'], { maxBuffer: 2 ** 30 });
  return new Map(Object.entries(JSON.parse(stdout) as Record<string, readonly string[]>));
}

/**
 * What the kubelet makes of each of some files, in order.
 *
 * @param program what `oracleOf` gives
 */
export async function askOracle(program: string, files: readonly Uint8Array[]): Promise<readonly OracleAnswer[]> {
  const lines: string[] = [];
  // In parts, so that neither side holds all of it.
  for (let start = 0; start < files.length; start += 1000) {
    const questions = files
      .slice(start, start + 1000)
      .map((file) => JSON.stringify({ text: Buffer.from(file).toString('base64') }));
    lines.push(...(await run(program, `${questions.join('\n')}\n`)));
  }
  if (lines.length !== files.length)
    throw new Error(`the oracle gave ${lines.length} answers to ${files.length} files`);
  return lines.map((line) => ({
    faults: [],
    strict: '',
    start: [],
    ...(exactly(line) as Pick<OracleAnswer, 'verdict'>),
  }));
}

/** What a config file and drop-ins come to by a kubelet's own code, or why it does not start with them. */
export interface Merged {
  readonly effective?: Readonly<Record<string, unknown>>;
  readonly fault?: string;
}

/** @param program what `oracleOf` gives */
export async function askForMerged(
  program: string,
  pairs: readonly { readonly text: string; readonly dropIns: readonly string[] }[],
): Promise<readonly Merged[]> {
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  const questions = pairs.map(({ text, dropIns }) =>
    JSON.stringify({ text: encoded(text), dropIns: dropIns.map(encoded) }),
  );
  const lines = await run(program, `${questions.join('\n')}\n`, 'drop-ins');
  return lines.map((line) => exactly(line) as Merged);
}

async function run(program: string, input: string, command = 'verdicts'): Promise<readonly string[]> {
  return await new Promise((resolve, reject) => {
    const child = execFile(program, [command], { maxBuffer: 2 ** 30 }, (error, stdout) => {
      if (error === null) resolve(stdout.trimEnd().split('\n'));
      else reject(error);
    });
    child.stdin?.end(input);
  });
}

/** JSON without loss: `JSON.parse` rounds whole numbers beyond 2^53. */
function exactly(line: string): unknown {
  const reviver = (_: string, value: unknown, { source }: { readonly source: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
  return JSON.parse(line, reviver as (key: string, value: unknown) => unknown);
}
