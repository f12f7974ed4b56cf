/** Who did something to a commit, and when, as one of its headers has it: `Ada <ada@example.com> 1700000000 +0100`. */
interface Person {
  readonly name: string;
  readonly email: string;
  /** Since the epoch; null where none is readable. */
  readonly seconds: number | null;
}

/** Longer ones are cut: no name is of use then. */
const LONGEST_LINE = 1_024;
const MOST_DIGITS = 12;

/** Never fails: what cannot be parsed is the name. */
export function parsePerson(header: string): Person {
  const line = header.slice(0, LONGEST_LINE);
  const close = line.lastIndexOf('> ');
  const open = line.lastIndexOf('<', close);
  const digits = close < 0 ? '' : (line.slice(close + '> '.length).split(' ', 1)[0] ?? '');
  if (open < 0 || !/^\d+$/.test(digits) || digits.length > MOST_DIGITS) return { name: line, email: '', seconds: null };
  return { name: line.slice(0, open).trimEnd(), email: line.slice(open + 1, close), seconds: Number(digits) };
}
