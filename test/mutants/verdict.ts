/** As much of a result of StrykerJS as is looked at here. Lines and columns count from 1. */
export interface Mutant {
  /** From the root of the repository. */
  readonly file: string;
  readonly status: string;
  readonly start: { readonly line: number; readonly column: number };
  readonly end: { readonly line: number; readonly column: number };
  readonly replacement: string;
}

/** By file: the declaration that the mutant is in, `original → mutated`, and why no test can or should notice. */
export type Explained = Readonly<Record<string, readonly (readonly [within: string, mutant: string, why: string])[]>>;

export interface Survivor {
  readonly file: string;
  readonly line: number;
  /** The declaration at the top of the file that it is in. */
  readonly within: string;
  /** `original → mutated`, each on one line and cut off when it is long. */
  readonly mutant: string;
}

export interface Score {
  readonly mutants: number;
  readonly noticed: number;
}

export interface Verdict {
  /** By floor. */
  readonly scores: ReadonlyMap<string, Score>;
  readonly unexplained: readonly Survivor[];
  /** Explanations, of files that were looked at, for what is noticed or is not there any more. */
  readonly stale: readonly string[];
}

/** A timeout is noticed: somebody would wait. What could not be judged at all is noticed by nobody. */
const NOTICED = ['Killed', 'Timeout'];
const LEFT_OUT = 'Ignored';

/** @param sourceOf the text of a file */
export function judge(
  mutants: readonly Mutant[],
  floors: readonly string[],
  explained: Explained,
  sourceOf: (file: string) => string,
): Verdict {
  const judged = mutants.filter(({ status }) => status !== LEFT_OUT);
  const survivors = judged
    .filter(({ status }) => !NOTICED.includes(status))
    .map((mutant) => survivorOf(mutant, sourceOf(mutant.file)));
  const isExplained = ({ file, within, mutant }: Survivor): boolean =>
    explained[file]?.some(([where, what]) => where === within && what === mutant) === true;
  const files = new Set(mutants.map(({ file }) => file));
  const stale = Object.entries(explained).flatMap(([file, entries]) =>
    entries
      .filter(
        ([where, what]) =>
          !survivors.some((each) => each.file === file && each.within === where && each.mutant === what),
      )
      .map(([where, what]) => `${file}: ${where}: ${what}`)
      .filter(() => files.has(file)),
  );
  return {
    scores: new Map(floors.map((floor) => [floor, scoreOf(judged.filter(({ file }) => file.startsWith(`${floor}/`)))])),
    unexplained: survivors.filter((survivor) => !isExplained(survivor)),
    stale,
  };
}

function scoreOf(mutants: readonly Mutant[]): Score {
  return { mutants: mutants.length, noticed: mutants.filter(({ status }) => NOTICED.includes(status)).length };
}

export const percentOf = ({ mutants, noticed }: Score): number => (mutants === 0 ? 100 : (noticed / mutants) * 100);

const LONGEST = 100;

/** Names a mutant so that it keeps its name when lines above it come and go. */
export function survivorOf({ file, start, end, replacement }: Mutant, source: string): Survivor {
  const lines = source.split('\n');
  const concerned = lines.slice(start.line - 1, end.line);
  const cut = concerned.map((line, index) =>
    line.slice(index === 0 ? start.column - 1 : 0, index === concerned.length - 1 ? end.column - 1 : undefined),
  );
  const mutant = `${onOneLine(cut.join('\n'))} → ${onOneLine(replacement)}`;
  return { file, line: start.line, within: declarationAt(lines, start.line), mutant };
}

/** As it is written in a name. */
export function onOneLine(code: string): string {
  const line = code.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

const DECLARATION = /^(?:export )?(?:async )?(?:const|function\*?|let) (\w+)/;

function declarationAt(lines: readonly string[], line: number): string {
  const names = lines.slice(0, line).map((text) => DECLARATION.exec(text)?.[1]);
  return names.findLast((name) => name !== undefined) ?? '-';
}
