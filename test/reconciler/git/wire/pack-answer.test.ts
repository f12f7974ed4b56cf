import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { isGitError } from '#reconciler/git/errors.ts';
import { createPackAnswerReader } from '#reconciler/git/wire/pack-answer.ts';
import { FLUSH, packetLine } from '#reconciler/git/wire/pkt-line.ts';
import { failsWith } from '../support/start.ts';

const reader = (inSections = false, enough?: string) =>
  createPackAnswerReader({ url: 'https://git.invalid/x.git', maxBytes: 100_000, clean: hide, inSections, enough });
const hide = (text: string): string => text.replaceAll('secret', '***');

/** As a server sends it: the bytes themselves, not a text that would be encoded. */
function band(number: number, payload: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from([number]), payload]);
  return Buffer.concat([Buffer.from((body.length + 4).toString(16).padStart(4, '0')), body]);
}

/** The answer in pieces of these lengths, the last one with all that is left. */
function read(answer: Buffer, lengths: readonly number[], from = reader()): Buffer | null {
  let at = 0;
  for (const length of [...lengths, answer.length]) {
    if (from.take(answer.subarray(at, at + length))) break;
    at += length;
  }
  return from.end();
}

const WHOLE = Buffer.concat([
  packetLine('shallow 0123\n'),
  packetLine('NAK\n'),
  band(2, Buffer.from('counting')),
  band(1, Buffer.from('PACK and')),
  packetLine(''),
  band(1, Buffer.from([0, 1, 2, 255])),
  FLUSH,
]);
const PACK = Buffer.concat([Buffer.from('PACK and'), Buffer.from([0, 1, 2, 255])]);

describe('an answer with a pack', () => {
  it('gives the pack, in whatever pieces it arrives', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 }), (lengths) => {
        assert.deepEqual(read(WHOLE, lengths), PACK);
      }),
    );
  });

  it('in sections gives what stands behind the heading, whatever looks like a band before it', () => {
    const answer = Buffer.concat([
      packetLine('\u0001acknowledgments\n'),
      Buffer.from('0001'),
      packetLine('packfile\n'),
      band(1, PACK),
      FLUSH,
    ]);
    for (const length of [1, 7, 1_000]) assert.deepEqual(read(answer, Array(100).fill(length), reader(true)), PACK);
  });

  it('that was cut anywhere is never taken for whole', () => {
    for (let length = 0; length < WHOLE.length; length += 1) {
      assert.throws(() => read(WHOLE.subarray(0, length), [5]), failsWith('GIT_CUT'), `after ${length} bytes`);
    }
    assert.throws(() => read(Buffer.concat([WHOLE, Buffer.from('00')]), [5]), failsWith('GIT_CUT'));
  });

  it('is held once, in memory that grows with it', () => {
    const [piece, mib] = [Buffer.alloc(65_000, 7), 1024 * 1024];
    const { take, end } = createPackAnswerReader({ url: 'x', maxBytes: 64 * mib, clean: hide, inSections: false });
    for (let count = 0; count < 64; count += 1) take(band(1, piece));
    take(FLUSH);
    const pack = end();
    assert.ok(pack !== null && pack.equals(Buffer.alloc(64 * piece.length, 7)));
    assert.ok(pack.buffer.byteLength - pack.length <= mib, `${pack.buffer.byteLength} bytes`);
  });

  it('ends early where the first line says so', () => {
    const none = Buffer.concat([packetLine('NAK\n'), band(1, PACK)]);
    assert.equal(read(none, [3, 5], reader(false, 'NAK')), null);
    assert.deepEqual(read(WHOLE, [3, 5], reader(false, 'NAK')), PACK, 'not where another line does');
  });

  for (const [what, answer, code, words] of [
    [
      'a last word of the server',
      [band(1, PACK), band(3, Buffer.from('out of secret\nmemory'))],
      'GIT_REMOTE_ERROR',
      /out of \*\*\* memory/,
    ],
    ['an error in place of it', [packetLine('ERR not our ref secret')], 'GIT_REMOTE_ERROR', /not our ref \*\*\*/],
    ['a web page', [Buffer.from('<html>')], 'GIT_NOT_GIT', /git’s protocol/],
    ['nothing', [], 'GIT_CUT', /empty/],
    ['no objects', [packetLine('NAK\n'), FLUSH], 'GIT_CUT', /sent no objects/],
  ] as const) {
    it(`that is ${what} fails at its end, whatever follows`, () => {
      for (const tail of [[], [WHOLE]]) {
        if (tail.length > 0 && code === 'GIT_CUT') continue;
        assert.throws(() => read(Buffer.concat([...answer, ...tail]), [2]), failsWith(code, words));
      }
    });
  }

  it('fails as an error of git, whatever comes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, inSections) => {
        assert.throws(
          () => read(Buffer.from(bytes), [9], reader(inSections)),
          (error) => isGitError(error),
        );
      }),
    );
  });
});
