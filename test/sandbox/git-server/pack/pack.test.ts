import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { deflateSync } from 'node:zlib';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { fc } from '../../../support/property.ts';
import type { GitObject, ObjectLookup, Oid } from '#sandbox/git-server/objects/oid.ts';
import { oidOf } from '#sandbox/git-server/objects/git-object.ts';
import { applyDelta } from '#sandbox/git-server/pack/delta.ts';
import { firstMissing, readPack } from '#sandbox/git-server/pack/pack-reader.ts';
import { writePack } from '#sandbox/git-server/pack/pack-writer.ts';
import { nativeGit, temporaryDirectory, WITHOUT_GIT } from '../support/native-git.ts';

const LIMITS = { maxObjects: 10_000, maxObjectBytes: 1 << 20, maxTotalBytes: 8 << 20 };
const nothing: ObjectLookup = () => undefined;
const blob = (text: string): GitObject => ({ type: 'blob', body: Buffer.from(text) });
const invalid = (message: RegExp) => ({ code: 'GIT_PACK_INVALID', message });

/** A pack with a right checksum around whatever is in it. */
function sealed(count: number, ...entries: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  const content = Buffer.concat([header, ...entries]);
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}

describe('packs', () => {
  it('come back as they were written, whatever the objects', () => {
    const bodies = fc.array(fc.uint8Array({ maxLength: 40_000, size: 'max' }), { maxLength: 6 });
    fc.assert(
      fc.property(bodies, (list) => {
        const objects = list.map((bytes): GitObject => ({ type: 'blob', body: Buffer.from(bytes) }));
        const read = readPack(writePack(objects), nothing, LIMITS);
        assert.deepEqual(read, new Map(objects.map((object) => [oidOf(object), object])));
      }),
      { numRuns: 50 },
    );
  });

  it('are refused when a single byte differs, wherever it is', () => {
    const pack = writePack([blob('one'), blob('two'), { type: 'tree', body: Buffer.alloc(0) }]);
    for (let at = 0; at < pack.length; at += 1) {
      const broken = Buffer.from(pack);
      broken[at] = (broken[at] ?? 0) ^ 0x10;
      assert.throws(() => readPack(broken, nothing, LIMITS), { code: 'GIT_PACK_INVALID' });
    }
    for (let length = 0; length < pack.length; length += 1) {
      assert.throws(() => readPack(pack.subarray(0, length), nothing, LIMITS), { code: 'GIT_PACK_INVALID' });
    }
  });

  it('are refused when their parts do not fit, though the checksum is right', () => {
    const three = Buffer.concat([Buffer.from([0x33]), deflateSync(Buffer.from('abc'))]);
    const five = Buffer.concat([Buffer.from([0x35]), deflateSync(Buffer.from('abc'))]);
    const two = Buffer.concat([Buffer.from([0x32]), deflateSync(Buffer.from('abc'))]);
    const lost = Buffer.concat([Buffer.from([0x71]), Buffer.alloc(20, 7), deflateSync(Buffer.from('x'))]);
    const ahead = Buffer.concat([Buffer.from([0x61, 0x05]), deflateSync(Buffer.from('x'))]);
    assert.equal(readPack(sealed(1, three), nothing, LIMITS).size, 1);
    assert.throws(() => readPack(sealed(2, three), nothing, LIMITS), invalid(/cut short/));
    assert.throws(() => readPack(sealed(1, three, three), nothing, LIMITS), invalid(/after its last object/));
    assert.throws(() => readPack(sealed(1, five), nothing, LIMITS), invalid(/shorter than its header/));
    assert.throws(() => readPack(sealed(1, two), nothing, LIMITS), invalid(/cannot be inflated/));
    assert.throws(() => readPack(sealed(1, Buffer.from([0x53, 1, 2])), nothing, LIMITS), invalid(/unknown type 5/));
    assert.throws(() => readPack(sealed(1, lost), nothing, LIMITS), invalid(/neither in the pack/));
    assert.throws(() => readPack(sealed(1, ahead), nothing, LIMITS), invalid(/neither in the pack/));
  });

  it('are refused above the limits before their objects fill the memory', () => {
    const big = writePack([{ type: 'blob', body: Buffer.alloc(1000) }]);
    assert.throws(() => readPack(big, nothing, { ...LIMITS, maxObjectBytes: 999 }), invalid(/1000 bytes, at most 999/));
    const two = writePack([blob('a'.repeat(600)), blob('b'.repeat(600))]);
    assert.throws(() => readPack(two, nothing, { ...LIMITS, maxTotalBytes: 1000 }), invalid(/more than 1000/));
    assert.throws(() => readPack(two, nothing, { ...LIMITS, maxObjects: 1 }), invalid(/2 objects, at most 1/));
  });

  it('must bring what their objects name, unless the repository has it', () => {
    const file = blob('x');
    const entry = Buffer.concat([Buffer.from('100644 f\0'), Buffer.from(oidOf(file), 'hex')]);
    const tree: GitObject = { type: 'tree', body: entry };
    const incoming = new Map([[oidOf(tree), tree]]);
    assert.equal(firstMissing(incoming, nothing), oidOf(file));
    assert.equal(
      firstMissing(incoming, () => file),
      undefined,
    );
    assert.equal(firstMissing(new Map([...incoming, [oidOf(file), file]]), nothing), undefined);
  });
});

describe('deltas', () => {
  const base = Buffer.from('0123456789');
  it('copy from the base and insert', () => {
    // 10 → 7 bytes: copy 4 from offset 2, insert "abc".
    const delta = Buffer.from([10, 7, 0x91, 2, 4, 3, 0x61, 0x62, 0x63]);
    assert.equal(applyDelta(base, delta, 100).toString(), '2345abc');
  });

  for (const [name, ...bytes] of [
    ['another base', 9, 1, 1, 0x61],
    ['a result beyond the limit', 10, 101, 1, 0x61],
    ['a copy beyond the base', 10, 4, 0x91, 8, 4],
    ['an insert beyond the delta', 10, 4, 4, 0x61],
    ['the reserved instruction', 10, 1, 0],
    ['too little', 10, 2, 1, 0x61],
    ['too much', 10, 1, 2, 0x61, 0x62],
    ['a cut copy', 10, 4, 0x91, 2],
    ['an endless size', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  ] as const) {
    it(`are refused with ${name}`, () => {
      assert.throws(() => applyDelta(base, Buffer.from(bytes), 100), invalid(/does not fit/));
    });
  }
});

describeOrSkip('packs of the real git', { skip: WITHOUT_GIT }, () => {
  for (const [name, ...options] of [
    ['deltas by offset', '--delta-base-offset'],
    ['deltas by name'],
    ['no deltas', '--window=0'],
  ] as const) {
    it(`are read with ${name}, and thin ones with their bases from the repository`, async (t) => {
      const git = nativeGit(await temporaryDirectory(t));
      await git('init', '-b', 'main');
      for (let index = 0; index < 8; index += 1) {
        await writeFile(
          join(git.directory, 'f'),
          Array.from({ length: 500 }, (_, line) => `${line} ${line % 8 === index}\n`),
        );
        await git('add', 'f');
        await git('commit', '-m', `Commit ${index}`);
      }
      const packed = async (revisions: string, prefix: string, ...more: readonly string[]) => {
        const made = await git.feed(
          revisions,
          'pack-objects',
          '--revs',
          '--no-reuse-delta',
          ...options,
          ...more,
          prefix,
        );
        assert.equal(made.code, 0, made.err);
        return readFile(join(git.directory, `${prefix}-${made.out.trim()}.pack`));
      };
      const all = readPack(await packed('main\n', 'all'), nothing, LIMITS);
      await assertSame(git, all);
      assert.equal(all.size, 24);

      const old = readPack(await packed('main~1\n', 'old'), nothing, LIMITS);
      const command = ['!git pack-objects --revs --thin --stdout -q', ...options, '> thin.pack'].join(' ');
      await git.feed('main\n^main~1\n', '-c', `alias.thin=${command}`, 'thin');
      const thin = readPack(await readFile(join(git.directory, 'thin.pack')), (oid) => old.get(oid), LIMITS);
      assert.deepEqual(new Map([...old, ...thin]), all);
      assert.equal(thin.size, 3);
      if (options[0] === '--window=0') return;
      const bytes = await readFile(join(git.directory, 'thin.pack'));
      assert.throws(() => readPack(bytes, nothing, LIMITS), invalid(/neither in the pack nor in the repository/));
    });
  }
});

async function assertSame(git: ReturnType<typeof nativeGit>, objects: ReadonlyMap<Oid, GitObject>): Promise<void> {
  const asked = await git.feed(
    [...objects.keys()].join('\n'),
    'cat-file',
    '--batch-check=%(objectname) %(objecttype) %(objectsize)',
  );
  const ours = [...objects].map(([oid, { type, body }]) => `${oid} ${type} ${body.length}`);
  assert.deepEqual(asked.out.trim().split('\n'), ours);
}
