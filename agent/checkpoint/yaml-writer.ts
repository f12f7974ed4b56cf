import type { Raw } from '../host/record-shape.ts';

/**
 * Writes a map as YAML 1.1 with sorted keys, byte for byte as the `yaml` library wrote it for earlier releases: an update
 * of the agent rewrites no file. Only texts with control characters or line ends, which no config source has, differ: they
 * stay in one line.
 *
 * @param map keys that need no quotes; values are such maps, lists of texts, texts and whole numbers
 */
export const writeYaml = (map: Raw): string =>
  linesOf(map, '')
    .map((line) => `${line}\n`)
    .join('');

function linesOf(map: Raw, indent: string): readonly string[] {
  return Object.keys(map)
    .toSorted()
    .flatMap((key) => {
      const value = map[key];
      if (typeof value !== 'object' || value === null) return [`${indent}${key}: ${scalar(value)}`];
      const items = Array.isArray(value)
        ? value.map((item) => `${indent}  - ${scalar(item)}`)
        : linesOf(value as Raw, `${indent}  `);
      return [`${indent}${key}:`, ...items];
    });
}

const scalar = (value: unknown): string => (typeof value === 'string' ? textAsYaml(value) : JSON.stringify(value));

/** Control characters and YAML 1.1's line ends, which not every reader takes as they are. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\0-\u0008\n-\u001F\u007F-\u009F\u2028\u2029]/;
/** Those of them that JSON leaves as they are. */
const UNESCAPED = /[\u007F-\u009F\u2028\u2029]/g;

/** What begins with a character that means something to YAML, has a comment or a key in it, or ends in white space. */
const SYNTAX = /^[\t ,[\]{}#&*!|>'"%@`]|^[-?](?:$|[\t ])|:(?:$|[\t ])|[\t ](?:#|$)/;

/** What YAML 1.1 takes for something else than text. */
const OTHER_TYPES: readonly RegExp[] = [
  /^(?:~|[Nn]ull|NULL)?$/,
  /^(?:[Yy]|[Yy]es|YES|[Tt]rue|TRUE|[Oo]n|ON|[Nn]|[Nn]o|NO|[Ff]alse|FALSE|[Oo]ff|OFF)$/,
  /^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])*)$/,
  /^[-+]?(?:[0-9][0-9_]*)?(?:\.[0-9_]*)?[eE][-+]?[0-9]+$/,
  /^[-+]?(?:(?:[0-9][0-9_]*)?\.[0-9_]*|[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)$/,
  /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  // A date, with or without a time.
  /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|[\t ]+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:[\t ]*(?:Z|[-+][012]?\d(?::\d{2})?))?)?$/,
];

function textAsYaml(given: string): string {
  // UTF-8 has no halves of surrogate pairs.
  const text = given.toWellFormed();
  if (UNPRINTABLE.test(text)) return JSON.stringify(text).replace(UNESCAPED, escape);
  if (!SYNTAX.test(text) && !OTHER_TYPES.some((type) => type.test(text))) return text;
  return text.includes('"') && !text.includes("'") ? `'${text}'` : JSON.stringify(text);
}

const escape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
