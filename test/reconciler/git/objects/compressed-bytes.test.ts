import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { createBytesCompressor } from '#reconciler/git/objects/compressed-bytes.ts';
import { createBufferGc } from '#reconciler/git/buffer-gc.ts';
import { forceGc, forceFullGc } from '#shared/runtime/force-gc.ts';
import { createEventLoopYield } from '#reconciler/git/event-loop-yield.ts';
import { manifestFlags } from '../../../support/manifest-flags.ts';

const MIB = 1024 * 1024;

describe('the bytes of a file that is kept', () => {
  it('are what they were', () => {
    const keep = createBytesCompressor();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3_000 }), fc.nat(4_000), (head, zeros) => {
        const bytes = Buffer.concat([head, Buffer.alloc(zeros)]);
        const kept = keep(bytes);
        assert.ok(Buffer.from(kept.bytes).equals(bytes));
        keep(Buffer.alloc(2_000, 1)).bytes.at(0);
        assert.ok(Buffer.from(kept.bytes).equals(bytes), 'also after others were read');
      }),
    );
  });

  it('are held packed where that is less, and unpacked once for readings in a row', () => {
    const keep = createBytesCompressor();
    const texts = [1, 2].map((pods) => Buffer.from(`maxPods: ${pods}\n`.repeat(1_000)));
    const [first, second] = texts.map(keep);
    assert.equal(first?.bytes, first?.bytes);
    const unpacked = first?.bytes;
    assert.ok(second?.bytes.length);
    assert.notEqual(first?.bytes, unpacked, 'what was unpacked before is not held');
    assert.deepEqual(first?.bytes, unpacked);
  });

  it('stay as they are, in memory of their own, where packing gains nothing', () => {
    const keep = createBytesCompressor();
    for (const bytes of [Buffer.from('a: 1\n'), randomBytes(5_000)]) {
      const kept = keep(bytes);
      assert.equal(kept.bytes.buffer.byteLength, bytes.length);
      assert.notEqual(kept.bytes.buffer, bytes.buffer);
    }
  });
});

describe('dead Buffers', () => {
  const collected: string[] = [];
  const present = globalThis.gc;
  before(() => {
    globalThis.gc = ((options: { readonly type: string; readonly flavor?: string }) =>
      void collected.push([options.type, options.flavor ?? []].flat().join())) as unknown as typeof present;
  });
  afterEach(() => void collected.splice(0));
  after(() => {
    globalThis.gc = present;
  });

  it('are collected by the youngest generation after each four MiB, and all of them for a commit', () => {
    const sweep = createBufferGc();
    for (let count = 0; count < 9; count += 1) sweep(MIB);
    assert.deepEqual(collected, ['minor', 'minor']);
    forceGc();
    assert.deepEqual(collected.at(-1), 'major');
  });

  it('go back to the system, with the pages they stood on, where nothing is to be done', () => {
    forceFullGc();
    assert.deepEqual(collected, ['major,last-resort']);
  });

  it('of a long work are collected at its turns', async () => {
    const spend = createEventLoopYield();
    for (let count = 0; count < 8; count += 1) await spend(MIB);
    assert.deepEqual(collected, ['minor', 'minor']);
  });

  it('are left to V8 where the program was not started for it, which the manifests do', () => {
    globalThis.gc = undefined;
    assert.doesNotThrow(() => createBufferGc()(100 * MIB));
    assert.doesNotThrow(forceGc);
    assert.doesNotThrow(forceFullGc);
    for (const program of ['reconciler', 'agent'] as const) assert.ok(manifestFlags(program).includes('--expose-gc'));
  });
});
