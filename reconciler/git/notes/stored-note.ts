import { plainText } from '../plain-text.ts';

/** Longest note. Forges and mail clients show notes whole. */
export const MOST_NOTE_BYTES = 16 * 1024;
const CUT = '\n…\n';

/** A note as it is stored: text that every terminal shows alike, with a line break at its end, at most 16 KiB. */
export function storedNote(text: string): Buffer {
  const plain = `${plainText(text).trimEnd()}\n`;
  const whole = Buffer.from(plain);
  if (whole.length <= MOST_NOTE_BYTES) return whole;
  let end = MOST_NOTE_BYTES - Buffer.byteLength(CUT);
  // Not in the middle of a character: its later bytes begin with the bits 10.
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return Buffer.concat([whole.subarray(0, end), Buffer.from(CUT)]);
}
