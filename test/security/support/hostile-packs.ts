import { createHash } from 'node:crypto';
import { deflateRawSync, deflateSync } from 'node:zlib';

/** A pack as nobody builds it who means well, or one that is odd and right. */
export interface HostilePack {
  readonly what: string;
  readonly bytes: Buffer;
  /** What is to come of it: an error's code, or objects that can all be read. */
  readonly outcome: 'GIT_DAMAGED' | 'GIT_TOO_BIG' | 'read';
  /** A tree whose files are read as those of a commit. */
  readonly tree?: string;
}

const BLOB = 3;
const TREE = 2;
const COMMIT = 1;
const OFFSET_DELTA = 6;
const REFERENCE_DELTA = 7;
const KIB = 1024;
const MIB = 1024 * KIB;

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const sha1 = (bytes: Uint8Array): Buffer => createHash('sha1').update(bytes).digest();
const nameOf = (type: string, bytes: Buffer): Buffer =>
  sha1(Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]));

/** The lowest bits first; `first` are the bits of the type that share the first byte. */
function sized(size: number, first?: number): Buffer {
  const bytes: number[] = [];
  let rest = size;
  if (first !== undefined) {
    bytes.push((first << 4) | (rest & 15) | (rest > 15 ? 0x80 : 0));
    rest = Math.floor(rest / 16);
    if (rest === 0) return Buffer.from(bytes);
  }
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function distanced(distance: number): Buffer {
  const bytes = [distance & 127];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift(0x80 | (rest & 127));
  }
  return Buffer.from(bytes);
}

const object = (type: number, content: Buffer, base: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([sized(content.length, type), base, deflateSync(content)]);

function packed(objects: readonly Buffer[], count = objects.length): Buffer {
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  head.writeUInt32BE(count, 8);
  const body = Buffer.concat([head, ...objects]);
  return Buffer.concat([body, sha1(body)]);
}

const copy = (offset: number, size: number): Buffer =>
  Buffer.from([
    0xff,
    ...[0, 8, 16, 24].map((bit) => (offset >>> bit) & 255),
    ...[0, 8, 16].map((bit) => (size >> bit) & 255),
  ]);
const insert = (text: string): Buffer => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
const delta = (from: number, to: number, ...pieces: readonly Buffer[]): Buffer =>
  Buffer.concat([sized(from), sized(to), ...pieces]);

/** The same bytes, but for eight digits at the end. */
const withNumber = (length: number, number: number): Buffer =>
  delta(length, length, copy(0, length - 8), insert(String(number).padStart(8, '0')));

/** A blob, and blobs that each are a delta on the one before. */
function chains(lengths: readonly number[], bytes: number): Buffer {
  const objects: Buffer[] = [];
  let at = 12;
  const add = (bytesOf: Buffer): void => {
    objects.push(bytesOf);
    at += bytesOf.length;
  };
  const last = lengths.map((_, chain) => {
    const start = at;
    add(object(BLOB, Buffer.alloc(bytes, `chain ${chain} `)));
    return start;
  });
  for (let link = 1; link <= Math.max(...lengths); link += 1) {
    // In turns, so that what was needed last is never what is needed next.
    for (const [chain, length] of lengths.entries()) {
      if (link > length) continue;
      const start = at;
      add(object(OFFSET_DELTA, withNumber(bytes, link * 1_000 + chain), distanced(start - (last[chain] ?? 0))));
      last[chain] = start;
    }
  }
  return packed(objects);
}

/** Blobs by deltas that name their bases, the last link first, so that all of them have to wait. */
function waitingChain(length: number): Buffer {
  const first = Buffer.alloc(64, 'x');
  const texts = numbers(length).map((link) =>
    Buffer.concat([first.subarray(8), Buffer.from(String(link).padStart(8, '0'))]),
  );
  const deltas = texts.map((_, link) =>
    object(REFERENCE_DELTA, withNumber(64, link), nameOf('blob', texts[link - 1] ?? first)),
  );
  return packed([...deltas.toReversed(), object(BLOB, first)]);
}

/** Very many deltas on one base that comes last, with much of their own. */
function waitingCrowd(size: number): Buffer {
  const base = Buffer.alloc(500, 'x');
  const deltas = numbers(size).map((number) => {
    const own = numbers(6).map((part) =>
      insert(
        sha1(Buffer.from(`${number} ${part}`))
          .toString('hex')
          .repeat(2),
      ),
    );
    return object(REFERENCE_DELTA, delta(500, 980, copy(0, 500), ...own), nameOf('blob', base));
  });
  return packed([...deltas, object(BLOB, base)]);
}

/** An object on whose name a delta builds that makes the object itself. */
function itself(type: number, word: string, content: Buffer): Buffer {
  const same = delta(content.length, content.length, copy(0, content.length));
  return packed([object(type, content), object(REFERENCE_DELTA, same, nameOf(word, content))]);
}

const ADLER_OF_X = Buffer.from([0, 0x79, 0, 0x79]);

/** One byte, behind megabytes of a deflated stream that give none. */
function emptyBlocks(count: number): Buffer {
  const block = Buffer.from([0, 0, 0, 0xff, 0xff]);
  const stream = Buffer.concat([
    Buffer.from([0x78, 0x01]),
    ...numbers(count).map(() => block),
    deflateRawSync('x'),
    ADLER_OF_X,
  ]);
  return packed([Buffer.concat([sized(1, BLOB), stream])]);
}

/** A tree with one name of a megabyte, which another one has thousands of times. */
function longNames(entries: number): { readonly bytes: Buffer; readonly tree: string } {
  const inner = Buffer.concat([
    Buffer.from('100644 '),
    Buffer.alloc(MIB - 100, 'n'),
    Buffer.from([0]),
    Buffer.alloc(20, 1),
  ]);
  const name = nameOf('tree', inner);
  const outer = Buffer.concat(numbers(entries).flatMap((entry) => [Buffer.from(`40000 d${entry}\0`), name]));
  return { bytes: packed([object(TREE, inner), object(TREE, outer)]), tree: nameOf('tree', outer).toString('hex') };
}

/** Thousands of files, each as large as an object may be: none is taken over, and each has to be looked at. */
function largeFiles(count: number): { readonly bytes: Buffer; readonly tree: string } {
  const blobs = numbers(count).map((index) => Buffer.alloc(MIB, `file ${index} `));
  const tree = Buffer.concat(
    blobs.flatMap((blob, index) => [
      Buffer.from(`100644 f${String(index).padStart(4, '0')}.yaml\0`),
      nameOf('blob', blob),
    ]),
  );
  const objects = [...blobs.map((blob) => object(BLOB, blob)), object(TREE, tree)];
  return { bytes: packed(objects), tree: nameOf('tree', tree).toString('hex') };
}

const text = Buffer.from('hello, this is a blob\n');
const commit = Buffer.from(`tree ${'a'.repeat(40)}\nauthor A <a@a> 1 +0000\ncommitter A <a@a> 1 +0000\n\nhi\n`);
const nowhere = Buffer.alloc(20, 7);

/** Made when they are asked for, one after the other: together they are too large to be kept. */
export function* hostilePacks(): Generator<HostilePack> {
  const bad = (what: string, bytes: Buffer): HostilePack => ({ what, bytes, outcome: 'GIT_DAMAGED' });
  const big = (what: string, bytes: Buffer): HostilePack => ({ what, bytes, outcome: 'GIT_TOO_BIG' });
  const good = (what: string, bytes: Buffer): HostilePack => ({ what, bytes, outcome: 'read' });

  yield bad('a blob by a delta on itself', itself(BLOB, 'blob', text));
  yield bad('a commit by a delta on itself', itself(COMMIT, 'commit', commit));
  yield bad('an object twice', packed([object(BLOB, text), object(BLOB, text)]));
  yield bad(
    'two deltas that make the same',
    packed([
      object(BLOB, text),
      ...[0, 1].map(() => object(REFERENCE_DELTA, delta(22, 22, insert('x'.repeat(22))), nameOf('blob', text))),
    ]),
  );
  yield bad('a delta on what is not there', packed([object(REFERENCE_DELTA, delta(22, 1, insert('x')), nowhere)]));
  yield bad(
    'a delta on a delta on what is not there',
    packed([
      object(REFERENCE_DELTA, delta(22, 1, insert('x')), nowhere),
      object(
        OFFSET_DELTA,
        delta(1, 1, insert('y')),
        distanced(object(REFERENCE_DELTA, delta(22, 1, insert('x')), nowhere).length),
      ),
    ]),
  );
  for (const [what, wrong] of [
    ['of another base', delta(21, 1, insert('x'))],
    ['that copies from behind its base', delta(22, 10, copy(20, 10))],
    ['that makes more than it says', delta(22, 1, insert('xx'))],
    ['that makes less than it says', delta(22, 3, insert('xx'))],
    ['with an instruction of no meaning', delta(22, 1, Buffer.from([0]), insert('x'))],
    ['that ends within an instruction', delta(22, 9, Buffer.from([9, 120]))],
    ['that ends within a copy', delta(22, 22, Buffer.from([0x91]))],
  ] as const) {
    yield bad(`a delta ${what}`, packed([object(BLOB, text), object(REFERENCE_DELTA, wrong, nameOf('blob', text))]));
  }
  yield bad('a chain of 39,999 deltas', chains([39_999], 800));
  yield bad('a chain of 4,096 deltas', chains([4_096], 64));
  yield good('a chain of 4,095 deltas', chains([4_095], 15 * KIB));
  yield good(
    'sixty chains, each as long as may be together',
    chains(
      numbers(60).map(() => 60),
      16 * KIB,
    ),
  );
  yield good('a chain that comes last link first', waitingChain(4_000));
  yield bad('a longer chain that comes last link first', waitingChain(30_000));
  yield good('39,999 deltas that wait for one base', waitingCrowd(39_999));
  yield good(
    'as many bytes as may be',
    packed(numbers(63).map((index) => object(BLOB, Buffer.alloc(MIB, `${index} `)))),
  );
  yield big('more bytes', packed(numbers(65).map((index) => object(BLOB, Buffer.alloc(MIB, `${index} `)))));
  yield big('deltas that make more bytes', chains([100], MIB));
  yield big('more objects than there can be', packed([], 0xffff_ffff));
  yield bad('a stream that goes on and on', emptyBlocks(2_000_000));
  yield { ...longNames(9_900), what: 'a long name, thousands of times', outcome: 'GIT_TOO_BIG' };
  yield { ...largeFiles(60), what: 'as large files as may be', outcome: 'read' };
}
