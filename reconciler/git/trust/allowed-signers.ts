import { readSshKey } from './ssh-key.ts';

/** A line of an allowed_signers file (ssh-keygen(1), ALLOWED SIGNERS). */
export interface AllowedSigner {
  /** Whose key it is, as the file says: `ada@example.com`, or several with commas. */
  readonly principals: string;
  readonly keyBlob: Buffer;
  /** Patterns; absent for any. */
  readonly namespaces?: readonly string[];
  /** Seconds since the epoch. */
  readonly validAfter?: number;
  readonly validBefore?: number;
}

interface AllowedSigners {
  readonly signers: readonly AllowedSigner[];
  /** Lines that allow no signer, and why; for the log. */
  readonly unusable: readonly string[];
}

/** Reads such a file. A line that cannot be used in full allows no signer: half of a restriction would be none. */
export function readAllowedSigners(text: string): AllowedSigners {
  const signers: AllowedSigner[] = [];
  const unusable: string[] = [];
  for (const [index, whole] of text.split(/\r?\n/).entries()) {
    const line = whole.trim();
    if (line === '' || line.startsWith('#')) continue;
    const read = readLine(line);
    if (typeof read === 'string') unusable.push(`line ${index + 1}: ${read}`);
    else signers.push(read);
  }
  return { signers, unusable };
}

/** A word, or text in quotation marks, with everything up to the next blank. */
const FIELD = /(?:"(?:\\.|[^"\\])*"|[^\s"])+/g;
const OPTION = /([A-Za-z-]+)(?:="((?:\\.|[^"\\])*)")?(?:,|$)/y;

function readLine(line: string): AllowedSigner | string {
  const [principals = '', ...rest] = line.match(FIELD) ?? [];
  const hasOptions = !isKeyType(rest[0] ?? '');
  const [type, base64] = hasOptions ? rest.slice(1) : rest;
  if (type === undefined || base64 === undefined || !isKeyType(type))
    return 'it is not a line of principals, options and key';
  const keyBlob = Buffer.from(base64, 'base64');
  try {
    if (readSshKey(keyBlob).type !== type) return 'the key is of another type than the line says';
  } catch (error) {
    return `the key cannot be used: ${error instanceof Error ? error.message : 'damaged'}`;
  }
  const signer = { principals: principals.replaceAll('"', ''), keyBlob };
  if (!hasOptions) return signer;
  const options = readOptions(rest[0] ?? '');
  return typeof options === 'string' ? options : { ...signer, ...options };
}

const isKeyType = (word: string): boolean => /^(?:sk-)?(?:ssh|ecdsa)-[\w@.-]+$/.test(word);

type Restrictions = Pick<AllowedSigner, 'namespaces' | 'validAfter' | 'validBefore'>;

function readOptions(text: string): Restrictions | string {
  const found: { -readonly [Key in keyof Restrictions]: Restrictions[Key] } = {};
  OPTION.lastIndex = 0;
  while (OPTION.lastIndex < text.length) {
    const match = OPTION.exec(text);
    if (match === null) return 'its options cannot be read';
    const [, name = '', quoted = ''] = match;
    const value = quoted.replaceAll(/\\(.)/g, '$1');
    switch (name.toLowerCase()) {
      case 'namespaces':
        found.namespaces = value.split(',');
        break;
      case 'valid-after':
      case 'valid-before': {
        const seconds = readTime(value);
        if (seconds === null) return `${name} is not a time: write 20260131 or 20260131235959Z`;
        if (name.toLowerCase() === 'valid-after') found.validAfter = seconds;
        else found.validBefore = seconds;
        break;
      }
      case 'cert-authority':
        return 'certificates are not supported: list the keys themselves';
      default:
        return `the option ${name} is not known`;
    }
  }
  return found;
}

/** `YYYYMMDD[HHMM[SS]][Z]`, in the machine's own time zone unless a Z follows, as ssh-keygen reads it. */
function readTime(text: string): number | null {
  const match = /^(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?(Z?)$/.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const zone = match[7] === 'Z' ? 'Z' : '';
  const two = (number: number): string => String(number).padStart(2, '0');
  const at = Date.parse(`${match[1]}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}${zone}`);
  return Number.isNaN(at) || year === 0 ? null : at / 1000;
}

/** When something was signed, in seconds since the epoch. */
export interface SignedAt {
  /** As the signer says, who may say anything. */
  readonly stated: number;
  /** When it was seen here first, by our own clock: it was signed by then, whatever the signer says. */
  readonly seen: number;
}

/**
 * Whether a signer may sign such things at such a time. A key counts only if both times lie within its own: otherwise a thief
 * of an expired key would date signatures back, or sign ahead of a key's time.
 */
export function allows(signer: AllowedSigner, namespace: string, { stated, seen }: SignedAt): boolean {
  const { namespaces, validAfter = -Infinity, validBefore = Infinity } = signer;
  if (namespaces !== undefined && !matches(namespaces, namespace)) return false;
  return Math.min(stated, seen) >= validAfter && Math.max(stated, seen) <= validBefore;
}

/** A list of patterns with `*`, `?` and `!` for what is left out (ssh_config(5), PATTERNS). */
function matches(patterns: readonly string[], text: string): boolean {
  const fits = (pattern: string): boolean => {
    const escaped = pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    return new RegExp(`^${escaped}$`, 's').test(text);
  };
  if (patterns.some((pattern) => pattern.startsWith('!') && fits(pattern.slice(1)))) return false;
  return patterns.some((pattern) => !pattern.startsWith('!') && fits(pattern));
}
