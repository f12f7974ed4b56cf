/**
 * Stands in for `node:test` while mutants are judged: what a test file declares is kept, so that it can be run again and again
 * without loading the file again. Only what tests of pure functions need.
 */
type Body = (context: { readonly name: string; diagnostic(message: string): void }) => unknown;

export interface CollectedTest {
  /** The file and the names of everything around the test: the same in every process. */
  readonly id: string;
  readonly file: string;
  readonly body: () => unknown;
}

let file = '';
let names: readonly string[] = [];
const collected = new Map<string, CollectedTest>();

/** Loads a test file, and keeps its tests. */
export async function collect(name: string, load: () => Promise<unknown>): Promise<void> {
  file = name;
  await load();
}

export const collectedTests = (): readonly CollectedTest[] => [...collected.values()];

export function describe(name: string, declare: () => void): void {
  const outer = names;
  names = [...outer, name];
  declare();
  names = outer;
}

export function it(name: string, body: Body): void {
  const path = [file, ...names, name].join(' › ');
  let id = path;
  for (let copy = 2; collected.has(id); copy += 1) id = `${path} (${copy})`;
  collected.set(id, { id, file, body: () => body({ name, diagnostic: () => undefined }) });
}
