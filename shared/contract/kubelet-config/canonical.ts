import { KUBELET_CONFIG_API_VERSION, KUBELET_CONFIG_KIND } from './decode/decode.ts';

/**
 * Version of the form that `canonicalize` writes. A change of the bytes raises it: configs that mean the same keep
 * the names that they have in the cluster, so that an upgrade of this software restarts no kubelet.
 */
export const CANONICAL_FORM = 1;

/**
 * The payload of a config: JSON with keys in the order of their code points, two spaces a level, one value a line, a line
 * feed at the end; `apiVersion` and `kind` always there. Equal meaning gives equal bytes, whatever the order of keys, the
 * comments and the dialect of the files were. Whole numbers are written out in full, `bigint` included.
 *
 * @throws TypeError for what JSON has not (NaN, undefined inside lists, functions)
 */
export function canonicalize(config: Readonly<Record<string, unknown>>): string {
  const complete = { ...config, apiVersion: KUBELET_CONFIG_API_VERSION, kind: KUBELET_CONFIG_KIND };
  return `${write(complete, '')}\n`;
}

function write(value: unknown, indent: string): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return writeNumber(value);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => `${inner}${write(item, inner)}`);
    return items.length === 0 ? '[]' : `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} has no JSON`);
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => compareCodePoints(a, b))
    .map(([key, item]) => `${inner}${JSON.stringify(key)}: ${write(item, inner)}`);
  return entries.length === 0 ? '{}' : `{\n${entries.join(',\n')}\n${indent}}`;
}

/** JavaScript and Go agree on the shortest digits of a double; -0 is 0. Whole numbers never get an exponent. */
function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON`);
  return Number.isInteger(value) ? String(BigInt(value)) : String(value);
}

/** By code point, which is the order of the UTF-8 bytes; JavaScript's own order of strings goes by UTF-16 unit. */
const compareCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
