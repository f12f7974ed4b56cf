/**
 * Stands in for `node:test` while mutants are judged: what a test file declares is kept, so that it can be run again and again
 * without loading the file again. Only what tests of pure functions need.
 */
type Body = (context: Context) => unknown;

interface Context {
  readonly name: string;
  diagnostic(message: string): void;
}

export interface CollectedTest {
  /** The file and the names of everything around the test: the same in every process. */
  readonly id: string;
  readonly file: string;
  readonly body: () => unknown;
}

let file = '';
let running = '';
let names: readonly string[] = [];
const collected = new Map<string, CollectedTest>();

/** Loads a test file, and keeps its tests. */
export async function collect(name: string, load: () => Promise<unknown>): Promise<void> {
  file = name;
  await load();
}

/** Its id. */
export const runningTest = (): string => running;

export const collectedTests = (): readonly CollectedTest[] => [...collected.values()];

export function describe(name: string, declare: () => void): void {
  const outer = names;
  names = [...outer, name];
  declare();
  names = outer;
}

export function it(name: string, body: Body): void {
  const said = [file, ...names, name].join(' › ');
  let id = said;
  for (let copy = 2; collected.has(id); copy += 1) id = `${said} (${copy})`;
  const run = (): unknown => {
    running = id;
    return body({ name, diagnostic: () => undefined });
  };
  collected.set(id, { id, file, body: run });
}
