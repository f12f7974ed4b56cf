import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { deflateSync } from 'node:zlib';
import { fc } from '../../../support/property.ts';
import { isGitError } from '#reconciler/git/errors.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { readAdvertisement } from '#reconciler/git/wire/advertisement.ts';
import { scanPack } from '#reconciler/git/wire/pack-scan.ts';
import { assertWhole, FLUSH, packetLine, readPackets, textOf } from '#reconciler/git/wire/pkt-line.ts';
import { readSideBand } from '#reconciler/git/wire/side-band.ts';
import { failsWith } from '../support/start.ts';

const asIs = (text: string): string => text;
const roomy = { objects: 100, objectBytes: 1000, inflatedBytes: 5000 };

describe('packets', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 200, unit: 'binary' })), (texts) => {
        const packets = readPackets(Buffer.concat([...texts.map(packetLine), FLUSH]));
        assertWhole(packets);
        assert.deepEqual(
          packets.slice(0, -1).map(textOf),
          texts.map((text) => text.replace(/\n$/, '')),
        );
      }),
    );
  });

  it('are as many as refs can be, and not the millions of empty ones that as many bytes have room for', () => {
    const refs = Buffer.concat([...Array<Buffer>(250_000).fill(packetLine(`${'a'.repeat(40)} refs/heads/b\n`)), FLUSH]);
    assert.equal(readPackets(refs).length, 250_001);
    for (const smallest of ['0000', '0001', '0004', '0005x']) {
      const many = Buffer.from(smallest.repeat(DEFAULT_GIT_LIMITS.advertisementBytes / 8));
      assert.throws(() => readPackets(many), failsWith('GIT_TOO_BIG', /more than the 300000 lines/));
    }
  });

  it('that were cut anywhere are never taken for whole', () => {
    const whole = Buffer.concat([packetLine('one\n'), FLUSH, packetLine('two\n'), FLUSH]);
    for (let length = 0; length < whole.length; length += 1) {
      // After the first flush stands what would be a whole answer of its own.
      if (length === 12) continue;
      assert.throws(
        () => assertWhole(readPackets(whole.subarray(0, length))),
        (error) => isGitError(error, 'GIT_CUT'),
      );
    }
  });

  it('that are none are told from those that were cut', () => {
    for (const text of ['<html>', '0003', 'zzzz', '-001']) {
      assert.throws(() => readPackets(Buffer.from(text)), failsWith('GIT_NOT_GIT'));
    }
  });
});

describe('what a server says first', () => {
  const advertised = (...lines: readonly string[]): Buffer =>
    Buffer.concat([packetLine('# service=git-upload-pack\n'), FLUSH, ...lines.map(packetLine), FLUSH]);

  it('tells its version and what it can', () => {
    const two = readAdvertisement(advertised('version 2\n', 'ls-refs\n', 'fetch=shallow\n'), asIs);
    assert.deepEqual(two, { version: 2, capabilities: new Set(['ls-refs', 'fetch=shallow']) });
    const zero = readAdvertisement(advertised(`${'a'.repeat(40)} HEAD\0side-band-64k ofs-delta\n`), asIs);
    assert.deepEqual(zero, { version: 0, capabilities: new Set(['side-band-64k', 'ofs-delta']) });
  });

  it('without the service line, as Bitbucket has it, is understood', () => {
    const body = Buffer.concat([packetLine('version 2\n'), packetLine('ls-refs\n'), FLUSH]);
    assert.equal(readAdvertisement(body, asIs).version, 2);
  });

  it('may be an error', () => {
    const body = packetLine('ERR access denied\u0007\n');
    assert.throws(() => readAdvertisement(body, asIs), failsWith('GIT_REMOTE_ERROR', /says: access denied$/));
  });
});

describe('side bands', () => {
  const band = (number: number, text: string): Buffer => packetLine(String.fromCharCode(number) + text);

  it('are told apart', () => {
    const packets = readPackets(
      Buffer.concat([packetLine('NAK\n'), band(1, 'PA'), band(2, 'hi'), band(1, 'CK'), FLUSH]),
    );
    assert.deepEqual(readSideBand(packets, asIs), { payload: Buffer.from('PACK'), remarks: 'hi' });
  });

  it('with a last word in the third are an error, also without an end', () => {
    const packets = readPackets(Buffer.concat([band(1, 'PACK'), band(3, 'out of\nmemory')]));
    assert.throws(() => readSideBand(packets, asIs), failsWith('GIT_REMOTE_ERROR', /out of memory/));
  });
});

interface Part {
  readonly type: number;
  /** As the header says; the true one by default. */
  readonly size?: number;
  readonly content: Uint8Array;
  /** For a delta: what stands between header and content. */
  readonly base?: Uint8Array;
}

function packOf(parts: readonly Part[], { count = parts.length, trailing = Buffer.alloc(0) } = {}): Buffer {
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  head.writeUInt32BE(count, 8);
  const objects = parts.flatMap(({ type, content, size = content.length, base = Buffer.alloc(0) }) => [
    header(type, size),
    base,
    deflateSync(content),
  ]);
  const body = Buffer.concat([head, ...objects, trailing]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

function header(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let rest = Math.floor(size / 16);
  bytes.push((type << 4) | (size % 16) | (rest > 0 ? 0x80 : 0));
  while (rest > 0) {
    bytes.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
    rest = Math.floor(rest / 128);
  }
  return Buffer.from(bytes);
}

const blob = (length: number): Part => ({ type: 3, content: Buffer.alloc(length, 'x') });
/** Copies nothing, inserts one byte; says that it makes `result` bytes of `base`. */
const delta = (base: number, result: number): Buffer =>
  Buffer.from([base | 0x80, 0, (result % 128) | 0x80, Math.floor(result / 128), 1, 0x78]);

describe('the scan of a pack', () => {
  it('passes what is right', async () => {
    assert.deepEqual(await scanPack(packOf([blob(0), blob(15), blob(16), blob(1000)]), roomy), { objects: 4 });
    assert.deepEqual(await scanPack(packOf([]), roomy), { objects: 0 });
  });

  const wrong: readonly (readonly [string, Buffer, 'GIT_DAMAGED' | 'GIT_TOO_BIG'])[] = [
    ['nothing', Buffer.alloc(0), 'GIT_DAMAGED'],
    ['other bytes', Buffer.alloc(100), 'GIT_DAMAGED'],
    ['one object more than there is', packOf([blob(5)], { count: 2 }), 'GIT_DAMAGED'],
    ['one object less than there is', packOf([blob(5), blob(6)], { count: 1 }), 'GIT_DAMAGED'],
    ['something behind the last object', packOf([blob(5)], { trailing: Buffer.from('x') }), 'GIT_DAMAGED'],
    ['an object that is longer than it says', packOf([{ ...blob(50), size: 40 }]), 'GIT_DAMAGED'],
    ['an object that is shorter than it says', packOf([{ ...blob(50), size: 60 }]), 'GIT_DAMAGED'],
    ['an object of no type', packOf([{ ...blob(5), type: 5 }]), 'GIT_DAMAGED'],
    ['too many objects', packOf([], { count: 101 }), 'GIT_TOO_BIG'],
    ['too big an object', packOf([blob(1001)]), 'GIT_TOO_BIG'],
    ['an object of nearly endless size', packOf([{ ...blob(5), size: 2 ** 50 }]), 'GIT_TOO_BIG'],
    ['too many bytes in all', packOf(Array.from({ length: 6 }, () => blob(900))), 'GIT_TOO_BIG'],
    [
      'a delta that makes too big an object',
      packOf([blob(9), { type: 7, base: Buffer.alloc(20), content: delta(9, 1001) }]),
      'GIT_TOO_BIG',
    ],
    ['a delta on itself', packOf([{ type: 6, base: Buffer.from([0]), content: delta(9, 1) }]), 'GIT_DAMAGED'],
    [
      'a delta on what is not an object',
      packOf([blob(9), { type: 6, base: Buffer.from([3]), content: delta(9, 1) }]),
      'GIT_DAMAGED',
    ],
    [
      'a delta on what stands before all',
      packOf([{ type: 6, base: Buffer.from([0xff, 0xff, 0x7f]), content: delta(9, 1) }]),
      'GIT_DAMAGED',
    ],
  ];
  for (const [what, pack, code] of wrong) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(scanPack(pack, roomy), failsWith(code));
    });
  }

  it('refuses every pack with a wrong byte, by its checksum', async () => {
    const pack = packOf([blob(100), blob(200)]);
    await fc.assert(
      fc.asyncProperty(fc.nat(pack.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const wrong = Buffer.from(pack);
        wrong[at] = (wrong[at] ?? 0) ^ change;
        await assert.rejects(scanPack(wrong, roomy), (error) => isGitError(error, 'GIT_DAMAGED'));
      }),
    );
  });

  it('ends with an error, whatever the bytes are, even with a right checksum', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 5 }), async (noise, count) => {
        const pack = packOf([], { count, trailing: Buffer.from(noise) });
        await scanPack(pack, roomy).catch((error: unknown) => assert.ok(isGitError(error), String(error)));
      }),
    );
  });
});
