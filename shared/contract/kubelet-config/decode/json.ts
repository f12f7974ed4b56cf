import { exact } from './plain-scalar.ts';
import type { Marks, Path } from '../position.ts';

/** Deepest nesting that is read. A KubeletConfiguration needs six levels. */
export const MAX_DEPTH = 64;

/** Where a reader of a text reports what it meets. */
export type Report = (code: string, offset: number, message: string, suggestion?: string) => void;

/** A value that was read, and where its parts are. */
export interface Read {
  readonly value: unknown;
  readonly marks: Marks;
}

/** A JSON text that was read. */
interface ReadJson extends Read {
  /** Where whole numbers are written with a fraction or an exponent: to Go they are no whole numbers then. */
  readonly fractions: readonly Fraction[];
}

export interface Fraction {
  readonly path: Path;
  readonly offset: number;
  /** As it is written. */
  readonly literal: string;
}

class Unreadable extends Error {}

/** What to do about the first character that fits nowhere. */
const ADVICE: Readonly<Record<string, string>> = {
  '}': 'take out the comma before it',
  ']': 'take out the comma before it',
  '/': 'take the comment out: JSON has none, YAML has',
  '#': 'take the comment out: JSON has none, YAML has',
  "'": 'write double quotes',
};

/**
 * Reads JSON as RFC 8259 has it, with the offsets of everything and with whole numbers exact (`bigint` beyond 2^53).
 * Doubled keys are reported and the last one wins, as in Go.
 *
 * @returns undefined where the text is no JSON; that is reported too
 */
export function readJson(text: string, report: Report): ReadJson | undefined {
  const reader = jsonReader(text, report);
  try {
    const read = reader.value();
    reader.end();
    return { ...read, fractions: reader.fractions };
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    return undefined;
  }
}

function jsonReader(text: string, report: Report) {
  let at = 0;
  const path: (string | number)[] = [];
  const fractions: Fraction[] = [];

  const fail = (message: string, offset = at): never => {
    report('json-syntax', offset, message, ADVICE[text.charAt(offset)]);
    throw new Unreadable(message);
  };
  const skipSpace = (): void => {
    while (/[ \t\r\n]/.test(text.charAt(at))) at += 1;
  };
  const here = (): string => (at >= text.length ? 'the end of the file' : JSON.stringify(text.charAt(at)));
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  const expect = (char: string, what: string): void => {
    skipSpace();
    if (text.charAt(at) !== char) fail(`expected ${what}, found ${here()}`);
    at += 1;
  };

  function value(): Read {
    if (path.length > MAX_DEPTH) fail(`more than ${MAX_DEPTH} levels of nesting`);
    skipSpace();
    const offset = at;
    const char = text.charAt(at);
    if (char === '{') return object(offset);
    if (char === '[') return array(offset);
    if (char === '"') return { value: string(), marks: { offset } };
    const word = match(/(?:true|false|null)(?![\w])/y);
    if (word !== undefined) return { value: JSON.parse(word), marks: { offset } };
    return { value: number(), marks: { offset } };
  }

  function number(): number | bigint {
    const offset = at;
    const literal = match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])/y);
    if (literal === undefined) return fail(`expected a value, found ${here()}`);
    if (literal === '-0') return -0;
    if (/^-?\d+$/.test(literal)) return exact(BigInt(literal));
    const double = Number(literal);
    if (!Number.isFinite(double)) return fail(`${literal} is beyond what a number can hold`, offset);
    if (Number.isInteger(double)) fractions.push({ path: [...path], offset, literal });
    return double;
  }

  function string(): string {
    const offset = at;
    // oxlint-disable-next-line no-control-regex
    const literal = match(/"(?:[^"\\\u0000-\u001F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y);
    if (literal === undefined) return fail('the text in quotes has no end on its line, or a bad escape', offset);
    // Half of a surrogate pair is no character to Go.
    return (JSON.parse(literal) as string).toWellFormed();
  }

  function object(offset: number): Read {
    const value_: Record<string, unknown> = {};
    const keys = new Map<string, Marks>();
    at += 1;
    skipSpace();
    if (text.charAt(at) === '}') {
      at += 1;
      return { value: value_, marks: { offset, keys } };
    }
    for (;;) {
      skipSpace();
      const keyOffset = at;
      if (text.charAt(at) !== '"') fail(`expected a key in double quotes, found ${here()}`);
      const key = string();
      if (keys.has(key))
        report(
          'duplicate-key',
          keyOffset,
          `${JSON.stringify(key)} is there twice, and the kubelet takes the last`,
          'keep one of them',
        );
      expect(':', 'a colon');
      path.push(key);
      const read = value();
      path.pop();
      setOwn(value_, key, read.value);
      keys.set(key, { ...read.marks, offset: keyOffset });
      skipSpace();
      if (text.charAt(at) !== ',') break;
      at += 1;
    }
    expect('}', 'a comma or }');
    return { value: value_, marks: { offset, keys } };
  }

  function array(offset: number): Read {
    const values: unknown[] = [];
    const items: Marks[] = [];
    at += 1;
    skipSpace();
    if (text.charAt(at) === ']') {
      at += 1;
      return { value: values, marks: { offset, items } };
    }
    for (;;) {
      path.push(values.length);
      const read = value();
      path.pop();
      values.push(read.value);
      items.push(read.marks);
      skipSpace();
      if (text.charAt(at) !== ',') break;
      at += 1;
    }
    expect(']', 'a comma or ]');
    return { value: values, marks: { offset, items } };
  }

  function end(): void {
    skipSpace();
    if (at < text.length) fail(`expected nothing after the JSON value, found ${here()}`);
  }

  return { value, end, fractions };
}

/** Sets a key as data, even one called `__proto__`. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
