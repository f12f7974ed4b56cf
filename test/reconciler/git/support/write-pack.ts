import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

const TYPE_NUMBER = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

export interface GitObject {
  readonly type: keyof typeof TYPE_NUMBER;
  /** The content without git's header. */
  readonly body: Buffer;
}

/** A version 2 pack of whole objects. It knows no deltas. */
export function writePack(objects: readonly GitObject[]): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK', 'latin1');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(objects.length, 8);
  const content = Buffer.concat([
    header,
    ...objects.flatMap((object) => [entryHeader(object), deflateSync(object.body)]),
  ]);
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}

/** The type and the low four bits of the size, then seven bits of the size a byte. */
function entryHeader(object: GitObject): Buffer {
  const bytes: number[] = [];
  let size = Math.floor(object.body.length / 16);
  let byte = (TYPE_NUMBER[object.type] << 4) | (object.body.length & 0x0f);
  while (size > 0) {
    bytes.push(byte | 0x80);
    byte = size & 0x7f;
    size = Math.floor(size / 128);
  }
  return Buffer.from([...bytes, byte]);
}
