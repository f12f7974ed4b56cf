import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMemoryFs } from '#reconciler/git/objects/memory-fs.ts';
import { ownCopy } from '#reconciler/git/objects/own-copy.ts';

const MIB = 1024 * 1024;

describe('a file in memory', () => {
  it('is the pack itself, not another copy of it, where nothing else is in its memory', async () => {
    const pack = ownCopy(Buffer.alloc(4 * MIB, 1));
    const { promises: fs } = createMemoryFs();
    await fs.writeFile('/pack', pack);
    const read = (await fs.readFile('/pack')) as Buffer;
    assert.equal(read.buffer, pack.buffer);
  });

  it('keeps nothing of what it was cut from', async () => {
    const answer = Buffer.alloc(4 * MIB, 1);
    const { promises: fs } = createMemoryFs();
    await fs.writeFile('/part', answer.subarray(10, 20));
    const read = (await fs.readFile('/part')) as Buffer;
    assert.deepEqual([read.length, read.buffer.byteLength], [10, 10]);
  });
});
