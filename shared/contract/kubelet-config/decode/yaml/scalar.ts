import { Buffer } from 'node:buffer';
import type { Report } from '../json.ts';
import { readPlain, type Scalar, type ScalarType } from '../plain-scalar.ts';
import type { YamlScalar } from './node-types.ts';

/** Stops the reading of a file: the kubelet would read it no further either. */
export class Unreadable extends Error {
  readonly code: string;
  readonly offset: number;

  constructor(code: string, offset: number, message: string) {
    super(message);
    this.code = code;
    this.offset = offset;
  }
}

const STANDARD = 'tag:yaml.org,2002:';

/**
 * What the kubelet takes a scalar for, by its tag or its looks.
 *
 * @param isKey keys become text, so that even infinity is one
 * @throws Unreadable
 */
export function readScalar(node: YamlScalar, report: Report, isKey = false): Scalar {
  if (node.tag === '') return node.isPlain ? readUntagged(node, report, isKey) : wellFormed(node.text, node);
  const name = node.tag.startsWith(STANDARD) ? node.tag.slice(STANDARD.length) : undefined;
  if (name === 'str' || node.tag === '!') return wellFormed(node.text, node);
  if (name === 'binary') return readBinary(node, report);
  if (name === 'timestamp') return readTimestamp(node, report);
  if (name === 'int' || name === 'float' || name === 'bool' || name === 'null') return readTagged(node, name, isKey);
  report('yaml-tag', node.start, `the tag ${node.tag} means nothing to the kubelet`, withoutTag(node.tag));
  return wellFormed(node.text, node);
}

function readUntagged(node: YamlScalar, report: Report, isKey: boolean): Scalar {
  const { text, start } = node;
  const { value, elsewhere, type } = readPlain(text);
  if (value === undefined) return notFinite(node, isKey);
  if (isKey) judgeKey(value, type, start);
  if (elsewhere !== undefined) {
    const suggestion = `write ${shown(value)} if that is meant, or ${JSON.stringify(text)} in quotes`;
    const message = `${text} is ${shown(value)} to the kubelet and ${shown(elsewhere)} to others`;
    report('yaml-ambiguous', start, message, suggestion);
  }
  return typeof value === 'string' ? wellFormed(value, node) : value;
}

/** Quotes make no difference behind a tag. */
function readTagged(node: YamlScalar, wanted: ScalarType, isKey: boolean): Scalar {
  const { value, type } = readPlain(node.text);
  const fits = type === wanted || (wanted === 'float' && type === 'int' && typeof value !== 'bigint');
  if (!fits) throw new Unreadable('bad-tag', node.start, `${JSON.stringify(node.text)} is no !!${wanted}`);
  if (value === undefined) return notFinite(node, isKey);
  if (isKey) judgeKey(value, type, node.start);
  return value;
}

/** Keys become text, but not all values have one. */
function judgeKey(value: Scalar, type: ScalarType, start: number): void {
  if (value === null) throw new Unreadable('yaml-key', start, 'a key cannot be null');
  if (type === 'int' && typeof value === 'bigint' && value >= 2n ** 63n)
    throw new Unreadable('yaml-key', start, 'a whole number of more than 63 bits cannot be a key');
}

function notFinite({ text, start }: YamlScalar, isKey: boolean): string {
  if (isKey) return text.toLowerCase().replace('+', '');
  throw new Unreadable('number-not-finite', start, `JSON, and with it the kubelet, has no ${text}`);
}

function readBinary({ text, start }: YamlScalar, report: Report): string {
  const digits = text.replaceAll(/[\r\n]/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(digits))
    throw new Unreadable('bad-tag', start, `${JSON.stringify(text)} is no !!binary: it is not base64`);
  const decoded = Buffer.from(digits, 'base64').toString('utf8');
  report('yaml-tag', start, `to the kubelet this is the text ${JSON.stringify(decoded)}`, 'write the text itself');
  return decoded;
}

const TIMESTAMP =
  /^\d{4}-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?)?$/;

/** Only its form counts: the value stays text. */
function readTimestamp({ text, start }: YamlScalar, report: Report): string {
  const [, month, day, ...time] = (TIMESTAMP.exec(text) ?? []).map(Number);
  const [hour = 0, minute = 0, second = 0] = time.filter((part) => !Number.isNaN(part));
  const days = new Date(Date.UTC(Number(text.slice(0, 4)), month ?? 0, 0)).getUTCDate();
  const isDate = month !== undefined && month >= 1 && month <= 12 && day !== undefined && day >= 1 && day <= days;
  if (!isDate || hour > 23 || minute > 59 || second > 59)
    throw new Unreadable('bad-tag', start, `${JSON.stringify(text)} is no !!timestamp`);
  report('yaml-tag', start, 'the tag !!timestamp means nothing to the kubelet', 'leave it out');
  return text;
}

const shown = (value: Scalar): string =>
  typeof value === 'string' ? `the text ${JSON.stringify(value)}` : String(value);

function wellFormed(text: string, { start }: YamlScalar): string {
  if (text.isWellFormed()) return text;
  throw new Unreadable('not-utf8', start, 'half of a surrogate pair is not a character');
}

/** What is to be done about a tag. A value that ansible-vault encrypted is none without it either. */
const withoutTag = (tag: string): string =>
  tag.startsWith('!vault') ? 'ansible-vault encrypted the value: write it decrypted' : 'leave it out';
