import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundDisk } from '#agent/host/disk/bounded-disk.ts';
import type { Disk } from '#agent/ports/disk.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** A disk on which reading waits to be let go, path by path. */
function slowDisk() {
  const waiting = new Map<string, () => void>();
  const read: Disk['read'] = (path) => new Promise((resolve) => waiting.set(path, () => resolve(Buffer.from('there'))));
  return { waiting, disk: { read, list: () => Promise.resolve(['a']) } as unknown as Disk };
}

const codeAndText = (error: unknown): string => `${(error as { code: string }).code} ${(error as Error).message}`;

describe('a disk that hangs', () => {
  it('fails after half a minute, and says what it was asked for', async () => {
    const { disk } = slowDisk();
    const clock = createManualClock();
    const failed = boundDisk(disk, clock).read('/a').catch(codeAndText);
    await clock.advance(29_999);
    await clock.advance(1);
    assert.equal(await failed, 'DISK_READ cannot read /a: the disk does not answer: look at the kernel log');
  });

  it('is asked for nothing more while two calls hang, and then again', async () => {
    const { disk, waiting } = slowDisk();
    const clock = createManualClock();
    const bounded = boundDisk(disk, clock);
    const failed = ['/a', '/b'].map((path) => bounded.read(path).catch(codeAndText));
    await clock.advance(30_000);
    await Promise.all(failed);
    assert.match(String(await bounded.read('/c').catch(codeAndText)), /cannot read \/c: the disk does not answer/);
    assert.ok(!waiting.has('/c'), 'it was asked all the same');
    waiting.get('/a')?.();
    await clock.advance(0);
    assert.deepEqual(await bounded.list('/'), ['a']);
  });

  it('answers as it is where it answers, and fails as it does', async () => {
    const { disk, waiting } = slowDisk();
    const clock = createManualClock();
    const bounded = boundDisk({ ...disk, stat: () => Promise.reject(new Error('EIO')) }, clock);
    const read = bounded.read('/a');
    await clock.advance(20_000);
    waiting.get('/a')?.();
    assert.equal(String(await read), 'there');
    await assert.rejects(bounded.stat('/a'), /^Error: EIO$/);
    await clock.advance(60_000);
    assert.deepEqual(await bounded.list('/'), ['a']);
  });
});
