import type { Finding } from '../../finding.ts';
import { lineIndex } from '../position.ts';

/** Biggest file that is taken without a word, in bytes. A full KubeletConfiguration with comments has less than a tenth of it. */
export const MAX_FILE_BYTES = 256 * 1024;

/** Beyond this nothing is read at all, whatever the kubelet would make of it. */
const MOST_BYTES = 16 * 1024 * 1024;

type SourceText =
  | {
      readonly text: string;
      readonly isJson: boolean;
      /** Our own doubts, and what the kubelet reads otherwise than it is written. */
      readonly findings: readonly Finding[];
      /** The first thing that no YAML holds. */
      readonly broken?: Broken;
    }
  | { readonly finding: Finding };

/** Something that no YAML text may hold. The kubelet looks at a file in pieces, and may not come this far. */
export interface Broken {
  /** Offset into the text at which the piece begins. */
  readonly from: number;
  readonly finding: Finding;
}

/** How many bytes go-yaml decodes at a time. */
const PIECE = 512;

/** What Go takes for white space before the brace that makes a file JSON. A byte order mark is none. */
const JSON_START = /^[\t\n\v\f\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]*\{/;

/** A file's bytes as text: UTF-8, or UTF-16 where a byte order mark says so. */
export function sourceText(bytes: Uint8Array, file: string | undefined): SourceText {
  const findings: Finding[] = [];
  if (bytes.byteLength > MAX_FILE_BYTES) {
    const message = `the file has ${bytes.byteLength} bytes, more than the ${MAX_FILE_BYTES} that any config needs`;
    findings.push(finding(file, 'file-too-big', message));
    if (bytes.byteLength > MOST_BYTES) return { finding: finding(file, 'unreadably-big', message) };
  }
  const encoding = encodingOf(bytes);
  const text = decode(bytes, encoding, false) ?? '';
  const isJson = encoding === 'utf-8' && JSON_START.test(text);
  if (encoding !== 'utf-8')
    findings.push(oddEncoding(file, 'the file is UTF-16, which the kubelet reads and few others'));
  const isWhole = decode(bytes, encoding, true) !== undefined;
  if (isJson && !isWhole)
    findings.push(oddEncoding(file, 'the file has bytes that are not UTF-8, for which the kubelet reads \uFFFD'));
  const broken = brokenAt(bytes, text, encoding, isWhole, file);
  const source = { text: text.startsWith('\uFEFF') ? text.slice(1) : text, isJson, findings };
  return broken === undefined ? source : { ...source, broken };
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

function encodingOf([first, second]: Uint8Array): Encoding {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

function decode(bytes: Uint8Array, encoding: Encoding, fatal: boolean): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** What YAML does not allow outside of escapes; tabs and line ends are looked at by the parser. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F\uFFFE\uFFFF]/;

function brokenAt(
  bytes: Uint8Array,
  text: string,
  encoding: Encoding,
  isWhole: boolean,
  file: string | undefined,
): Broken | undefined {
  const control = CONTROL.exec(text)?.index ?? Infinity;
  const invalid = isWhole ? Infinity : firstInvalid(bytes, text, encoding);
  const offset = Math.min(control, invalid);
  if (offset === Infinity) return undefined;
  const byte = byteOffset(text.slice(0, offset), encoding);
  const isCutOff = invalid <= control && byte + lengthOf(bytes[byte] ?? 0) > Math.min(bytes.length, endOfPiece(byte));
  const before = decode(bytes.subarray(0, isCutOff ? byte : endOfPiece(byte) - PIECE), encoding, false) ?? '';
  const place = { from: before.length - (text.startsWith('\uFEFF') && before !== '' ? 1 : 0) };
  if (invalid <= control)
    return {
      ...place,
      finding: { ...finding(file, 'not-utf8', 'the file is not UTF-8 text'), suggestion: 'save it as UTF-8' },
    };
  const code = text.charCodeAt(offset).toString(16).padStart(4, '0').toUpperCase();
  const message = `the control character U+${code} is not allowed in YAML`;
  return { ...place, finding: { ...finding(file, 'not-utf8', message), ...lineIndex(text, file).at(offset) } };
}

const endOfPiece = (byte: number): number => byte - (byte % PIECE) + PIECE;

/** How many bytes a UTF-8 character has, by its first. What lies across two pieces waits for the second. */
function lengthOf(first: number): number {
  if ((first & 0xe0) === 0xc0) return 2;
  if ((first & 0xf0) === 0xe0) return 3;
  return (first & 0xf8) === 0xf0 ? 4 : 1;
}

/** The first character that stands for bytes that are none. */
function firstInvalid(bytes: Uint8Array, text: string, encoding: Encoding): number {
  for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', at + 1)) {
    const byte = byteOffset(text.slice(0, at), encoding);
    const here = bytes.subarray(byte, byte + 3);
    const isReal =
      encoding === 'utf-8' ? here[0] === 0xef && here[1] === 0xbf && here[2] === 0xbd : here.includes(0xfd);
    if (!isReal) return at;
  }
  return text.length;
}

const byteOffset = (text: string, encoding: Encoding): number =>
  encoding === 'utf-8' ? new TextEncoder().encode(text).length : 2 * text.length;

const oddEncoding = (file: string | undefined, message: string): Finding => ({
  ...finding(file, 'odd-encoding', message),
  suggestion: 'save it as UTF-8',
});

function finding(file: string | undefined, code: string, message: string): Finding {
  return { code, severity: 'error', message, ...(file === undefined ? {} : { file }) };
}
