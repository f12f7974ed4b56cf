import { readFile } from 'node:fs/promises';
import type { Clock, Millis } from '../runtime/clock.ts';
import { GitopsError } from '../runtime/errors.ts';

/** As client-go has it: a rotated file is noticed within a minute. */
const FRESH_FOR_MS = 60_000;

/** A small file that others replace now and then. */
interface FileText {
  /**
   * The content without space around it, at most a minute old.
   *
   * @throws what the file system says, for as long as the file cannot be read; FILE_EMPTY
   */
  read(): Promise<string>;
  /** The next `read` goes to the file. */
  forget(): void;
}

export function createFileText(path: string, clock: Clock): FileText {
  let known: { readonly at: Millis; readonly text: Promise<string> } | undefined;
  return {
    read() {
      const now = clock.monotonic();
      if (known !== undefined && now - known.at < FRESH_FOR_MS) return known.text;
      const reading = { at: now, text: readTrimmed(path) };
      known = reading;
      // A failure is not remembered: the next call tries again.
      reading.text.catch(() => {
        if (known === reading) known = undefined;
      });
      return reading.text;
    },
    forget() {
      known = undefined;
    },
  };
}

async function readTrimmed(path: string): Promise<string> {
  const text = (await readFile(path, 'utf8')).trim();
  if (text === '') throw new GitopsError('FILE_EMPTY', `${path} is empty`);
  return text;
}
