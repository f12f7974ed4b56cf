/** Where something is inside a value: names of keys, indexes of items. */
export type Path = readonly (string | number)[];

/** 1-based, in characters. */
export interface Position {
  readonly file?: string;
  readonly line: number;
  readonly column: number;
}

/** Where the key or item at a path was written; for an unwritten one, its nearest parent's place. */
export type PositionOf = (path: Path) => Position | undefined;

/** The places of a value and of everything in it, as offsets into the text. Keys have the place of the key. */
export interface Marks {
  readonly offset: number;
  readonly keys?: ReadonlyMap<string, Marks>;
  readonly items?: readonly Marks[];
}

/** Turns offsets into lines and columns of one text. */
interface LineIndex {
  at(offset: number): Position;
}

/** Lines end with LF, CRLF or a lone CR. */
export function lineIndex(text: string, file: string | undefined): LineIndex {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
  const at = (offset: number): Position => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { ...(file === undefined ? {} : { file }), line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
  return { at };
}

/** Looks paths up in the marks of one text. */
export function positionsIn(marks: Marks | undefined, lines: LineIndex): PositionOf {
  return (path) => {
    let here = marks;
    for (const step of path) {
      const next: Marks | undefined = typeof step === 'number' ? here?.items?.[step] : here?.keys?.get(step);
      if (next === undefined) break;
      here = next;
    }
    return here === undefined ? undefined : lines.at(here.offset);
  };
}

/** `evictionHard["memory.available"]`, `registerWithTaints[0].key`: how people and JSONPath write it. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
