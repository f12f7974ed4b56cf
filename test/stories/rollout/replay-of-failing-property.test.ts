import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { holds, replayFrom } from '../../support/replayable.ts';

const small = fc.property(fc.nat(1_000), (number) => assert.ok(number < 100, `${number} is too much`));

describe('a property that fails', () => {
  it('says its seed at once, and its path at the end, each in one line', () => {
    const lines: string[] = [];
    assert.throws(() => holds('small', small, 100, { seed: 7 }, (line) => void lines.push(line)), /Property failed/);
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? '', /^PROPERTY FAILED: "small", PROPERTY_SEED=7: AssertionError.* is too much; .*\n$/);
    assert.match(lines[1] ?? '', /^PROPERTY FAILED: "small", to replay: PROPERTY_SEED=7 PROPERTY_PATH=\S+\n$/);
  });

  it('fails again in one run by what it said', () => {
    let line = '';
    assert.throws(() => holds('small', small, 100, { seed: 7 }, (said) => (line = said)));
    const [, seed, path] = /PROPERTY_SEED=(\S+) PROPERTY_PATH=(\S+)/.exec(line) ?? [];
    const replay = replayFrom({ PROPERTY_SEED: seed, PROPERTY_PATH: path }, 0);
    let last = '';
    assert.throws(() => holds('small', small, 1, replay, (said) => (last = said)), /: \[100\]/s);
    assert.match(last, /to replay/);
  });

  it('is quiet where it holds, with its usual seed where nothing chooses another', () => {
    const { seed, path } = replayFrom({}, 5);
    assert.deepEqual([seed, path], [5, undefined]);
    holds(
      'true',
      fc.property(fc.nat(), () => true),
      10,
      { seed },
      () => assert.fail('nothing to say'),
    );
  });
});
