import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAllAsyncOf } from '../../support/property.ts';
import { linesOf } from '#shared/kube/response-body.ts';
import type { Call } from '#shared/kube/kube-call.ts';
import { NODES } from '#shared/kube/kube.ts';
import { collect, refusalOf } from './support/test-kube.ts';

const call: Call = { verb: 'watch', resource: NODES };

async function* pieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

const linesFrom = (bytes: Buffer, sizes: readonly number[] = [], most = 1000): Promise<string[]> =>
  collect(linesOf(call, pieces(bytes, sizes), most));

describe('the lines of a body', () => {
  it('are the same however the bytes are cut, in the middle of a character too', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.replaceAll('\n', ''));
    await forAllAsyncOf(100, fc.array(line), fc.array(fc.nat(5)), async (lines, sizes) => {
      const whole = lines.filter((each) => each !== '');
      const got = await linesFrom(Buffer.from(lines.map((each) => `${each}\n`).join('')), sizes, 100_000);
      assert.deepEqual(got, whole);
    });
  });

  it('end with the last one, with or without a line feed', async () => {
    assert.deepEqual(await linesFrom(Buffer.from('a\n\nb\n')), ['a', 'b']);
    assert.deepEqual(await linesFrom(Buffer.from('a\nb')), ['a', 'b']);
    assert.deepEqual(await linesFrom(Buffer.from('')), []);
  });

  it('are refused where the bytes are no UTF-8', async () => {
    assert.equal((await refusalOf(linesFrom(Buffer.from([0x61, 0xff, 0x0a])))).code, 'KUBE_GARBLED');
    assert.equal((await refusalOf(linesFrom(Buffer.from('é').subarray(0, 1)))).code, 'KUBE_GARBLED');
  });

  it('are bounded in length', async () => {
    assert.deepEqual(await linesFrom(Buffer.from(`${'x'.repeat(10)}\n`), [4, 4], 10), ['x'.repeat(10)]);
    assert.equal((await refusalOf(linesFrom(Buffer.from('x'.repeat(30)), [4, 4, 4], 10))).code, 'KUBE_GARBLED');
  });
});
