import { hasInvisible, escapeInvisible } from '../plain-text.ts';

/** As in every file system that git is used on. */
export const LONGEST_NAME_BYTES = 255;

/** A name of a tree's entry that may be shown, compared and used, or one that may not. */
type JudgedName =
  | { readonly usable: true; readonly name: string }
  /** `shown` has everything odd spelled out; `why` says what is odd. */
  | { readonly usable: false; readonly shown: string; readonly why: string };

const SHOWN = 100;

/** Git stores any bytes but `/` and NUL as a name. A config repository's names have to mean what they look like. */
export function judgeName(bytes: Buffer): JudgedName {
  const name = bytes.toString('utf8', 0, LONGEST_NAME_BYTES + 1);
  const refuse = (why: string): JudgedName => ({ usable: false, shown: escapeInvisible(name).slice(0, SHOWN), why });
  if (bytes.length > LONGEST_NAME_BYTES) return refuse(`is ${bytes.length} bytes long`);
  if (!Buffer.from(name).equals(bytes)) return refuse('is not UTF-8');
  if (bytes.length === 0) return refuse('is empty');
  if (hasInvisible(name)) return refuse('holds characters that cannot be seen');
  if (/[/\\:]/.test(name)) return refuse('holds a slash, backslash or colon');
  if (/^(?:\.|\.git|git~1)[ .]*$/i.test(name)) return refuse('has a meaning of its own');
  return { usable: true, name };
}

/** What a name looks like that is shown with what is odd about it spelled out. */
export const withoutEscapes = (shown: string): string => shown.replaceAll(/\\u\{[0-9a-f]+\}/g, '');
