import { createReadStream } from 'node:fs';

/** Reads a file, a pipe or a device that somebody named. @returns its bytes; undefined for more than `most`, of which nothing more is read */
export async function readAtMost(path: string, most: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of createReadStream(path) as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > most) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
