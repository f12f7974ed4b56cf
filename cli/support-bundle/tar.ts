import { gzipSync } from 'node:zlib';
import type { Millis } from '#shared/runtime/clock.ts';

const BLOCK = 512;
const LONGEST_NAME = 100;
const LONGEST_PREFIX = 155;

/** Files as a compressed archive in the format of POSIX (ustar), in a directory of their own. */
export function tarGz(directory: string, files: ReadonlyMap<string, string>, at: Millis): Buffer {
  const entries = [...files].flatMap(([path, text]) => {
    const bytes = Buffer.from(text);
    const padding = Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK);
    return [headerOf(directory, path, bytes.length, at), bytes, padding];
  });
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]));
}

function headerOf(directory: string, path: string, size: number, at: Millis): Buffer {
  const slash = path.lastIndexOf('/');
  const prefix = slash === -1 ? directory : `${directory}/${path.slice(0, slash)}`;
  // The end of a name says more: it distinguishes pods.
  const name = path.slice(slash + 1).slice(-LONGEST_NAME);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(name, 0);
  header.write(octal(0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(Math.floor(at / 1000), 12), 136);
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\0', 257);
  header.write('00', 263);
  header.write(prefix.slice(0, LONGEST_PREFIX), 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
