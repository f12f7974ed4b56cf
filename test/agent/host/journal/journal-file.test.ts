import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fc, forAllAsyncOf } from '../../../support/property.ts';
import { inBlocks, type ReadAt } from '#agent/host/journal/blocks.ts';
import { entriesBackwards } from '#agent/host/journal/journal-file.ts';
import { type Fields, journalOf } from './support/journal-writer.ts';

const KUBELET = 'kubelet.service';
const readsOf =
  (file: Buffer): ReadAt =>
  (offset, length) =>
    Promise.resolve(file.subarray(offset, offset + length));

async function messagesIn(file: Buffer, unit = KUBELET): Promise<readonly string[]> {
  const read = inBlocks(readsOf(file), 64);
  const messages: string[] = [];
  for await (const { at, fields } of entriesBackwards(read, '_SYSTEMD_UNIT', unit, ['MESSAGE', 'RUN']))
    messages.push(`${at} ${fields.get('RUN') ?? '-'} ${fields.get('MESSAGE') ?? '-'}`);
  return messages;
}

const line = (at: number, MESSAGE: string, more: Fields = {}): { readonly at: number; readonly fields: Fields } => ({
  at,
  fields: { _HOSTNAME: 'node-1', _SYSTEMD_UNIT: KUBELET, MESSAGE, ...more },
});

for (const isCompact of [false, true]) {
  describe(`a journal file, ${isCompact ? 'compact' : 'as before 252'}`, () => {
    it('gives a unit’s lines, the newest first, with the fields that are asked for', async () => {
      const others = line(2, 'of another', { _SYSTEMD_UNIT: 'sshd.service' });
      const file = journalOf([line(1, 'one', { RUN: 'a' }), others, line(3, 'two')], { isCompact });
      assert.deepEqual(await messagesIn(file), ['3 - two', '1 a one']);
      assert.deepEqual(await messagesIn(file, 'sshd.service'), ['2 - of another']);
    });

    it('gives nothing of a unit that never wrote, though one with a longer name did', async () => {
      const file = journalOf([line(1, 'one')], { isCompact });
      assert.deepEqual(await messagesIn(file, 'kubelet.servic'), []);
      assert.deepEqual(await messagesIn(file, 'kubelet.service2'), []);
    });

    it('gives as many as there are, over any number of lists', async () => {
      for (const count of [0, 1, 2, 4, 5, 6, 12, 13, 14, 500]) {
        const lines = Array.from({ length: count }, (_, index) => line(index, `line ${index}`));
        const expected = lines.map(({ at, fields }) => `${at} - ${fields['MESSAGE']}`).toReversed();
        assert.deepEqual(await messagesIn(journalOf(lines, { isCompact })), expected, `${count}`);
      }
    });

    it('unpacks what zstd or, before 246, LZ4 packed, and leaves out what XZ did', async () => {
      const lines = [line(1, 'x'.repeat(600)), line(2, 'short')];
      const zstd = journalOf(lines, { isCompact, packFrom: 512 });
      assert.deepEqual(await messagesIn(zstd), ['2 - short', `1 - ${'x'.repeat(600)}`]);
      const lz4 = journalOf(lines, { isCompact, packFrom: 512, packedBy: 2 });
      assert.deepEqual(await messagesIn(lz4), ['2 - short', `1 - ${'x'.repeat(600)}`]);
      const xz = journalOf(lines, { isCompact, packFrom: 512, packedBy: 1 });
      assert.deepEqual(await messagesIn(xz), ['2 - short', '1 - -']);
    });

    it('leaves out a value that is too long unpacked, or damaged, and nothing else', async () => {
      const lines = [line(1, 'one'), line(2, 'x'.repeat(70_000)), line(3, 'y'.repeat(600))];
      const file = journalOf(lines, { isCompact, packFrom: 512 });
      assert.deepEqual(await messagesIn(file), [`3 - ${'y'.repeat(600)}`, '2 - -', '1 - one']);
      const frame = file.lastIndexOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]));
      file.fill(0xff, frame, frame + 8);
      assert.deepEqual(await messagesIn(file), ['3 - -', '2 - -', '1 - one']);
      const lz4 = journalOf(lines, { isCompact, packFrom: 512, packedBy: 2 });
      const token = lz4.lastIndexOf(Buffer.from('MESSAGE=y')) - 4;
      assert.equal(lz4[token], 0xf0);
      lz4[token] = 0x0f;
      assert.deepEqual(await messagesIn(lz4), ['3 - -', `2 - ${'x'.repeat(4096)}`, '1 - one']);
    });

    it('keeps no long values: an agent has little memory', async () => {
      const lines = Array.from({ length: 2_000 }, (_, index) => line(index, `${index} ${'x'.repeat(4_000)}`));
      const read = readsOf(journalOf(lines, { isCompact, packFrom: 512 }));
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const used = (): number => {
        collect();
        return process.memoryUsage().heapUsed / 1e6;
      };
      const before = used();
      let most = 0;
      let count = 0;
      for await (const _ of entriesBackwards(read, '_SYSTEMD_UNIT', KUBELET, ['MESSAGE']))
        if ((count += 1) === lines.length) most = used();
      assert.ok(most > 0 && most < before + 2, `${most - before} MB`);
    });

    it('leaves out an entry that is not written yet, and no other', async () => {
      const file = journalOf([line(1, 'one'), line(2, 'two'), line(3, 'three')], { isCompact });
      const entry = file.indexOf('MESSAGE=three') + Math.ceil('MESSAGE=three'.length / 8) * 8;
      assert.equal(file[entry], 3);
      file.fill(0, entry, entry + 64);
      assert.deepEqual(await messagesIn(file), ['2 - two', '1 - one']);
    });

    it('comes to an end whatever is damaged, within the blocks that it may read', async () => {
      const whole = journalOf(
        Array.from({ length: 40 }, (_, index) => line(index, `line ${index}`, { RUN: `run-${index % 3}` })),
        { isCompact, packFrom: 7 },
      );
      const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 12 });
      await forAllAsyncOf(300, damage, fc.nat(whole.length), async (bytes, length) => {
        const file = Buffer.from(whole);
        for (const [at, byte] of bytes) file[at] = byte;
        let asked = 0;
        const counted: ReadAt = (offset, many) => {
          asked += 1;
          return readsOf(file.subarray(0, Math.max(length, 300)))(offset, many);
        };
        try {
          const entries = entriesBackwards(inBlocks(counted, 64), '_SYSTEMD_UNIT', KUBELET, ['MESSAGE']);
          let count = 0;
          for await (const _ of entries) if ((count += 1) > 5_000) break;
        } catch (error) {
          assert.ok(error instanceof Error);
        }
        assert.ok(asked <= 64);
      });
    });

    it('is not followed forever where a chain leads back', async () => {
      const file = journalOf([line(1, 'one'), line(2, 'two', { _SYSTEMD_UNIT: 'sshd.service' })], { isCompact });
      const key = file.indexOf('_SYSTEMD_UNIT=sshd.service') - (isCompact ? 72 : 64);
      file.writeBigUInt64LE(BigInt(key), key + 32);
      assert.deepEqual(await messagesIn(file), []);
    });
  });
}

describe('what is no journal', () => {
  it('is said to be none: other files, empty ones, and journals of a kind that is yet to come', async () => {
    const future = journalOf([line(1, 'one')], { isCompact: true });
    future.writeUInt32LE(16 | 32, 12);
    for (const file of [Buffer.alloc(0), Buffer.alloc(4096), Buffer.from('LPKSHHRH'), future])
      await assert.rejects(messagesIn(file), /no journal/);
  });
});

describe('reading in blocks', () => {
  it('gives the very bytes, across borders and at the end, and reads no block twice', async () => {
    const file = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
    const asked: number[] = [];
    const read = inBlocks((offset, length) => {
      asked.push(offset);
      return readsOf(file)(offset, length);
    }, 64);
    for (const [offset, length] of [
      [0, 10],
      [16_380, 20],
      [30_000, 20_000],
      [199_995, 50],
    ] as const)
      assert.deepEqual(await read(offset, length), file.subarray(offset, offset + length));
    assert.deepEqual(asked, [0, 16_384, 32_768, 49_152, 196_608]);
  });

  it('refuses the block that is one too many', async () => {
    const read = inBlocks(readsOf(Buffer.alloc(1_000_000)), 2);
    await read(0, 32_768);
    await assert.rejects(read(32_768, 1), /blocks/);
  });
});
