import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readNodeNumbers, readOneNumber } from '#reconciler/cluster/blockers/query-numbers.ts';

const answer = (data: unknown, more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ status: 'success', data, ...more });
const vector = (...series: readonly (readonly [labels: object, value: unknown])[]): string =>
  answer({
    resultType: 'vector',
    result: series.map(([metric, value]) => ({ metric, value: [1_700_000_000, value] })),
  });
const scalar = (value: unknown): string => answer({ resultType: 'scalar', result: [1_700_000_000, value] });

/** What holds no numbers at all, and why. */
const NOTHING = [
  ['a page', '<html>', /^HTTP 200 without an answer of its API/],
  [
    'a refusal',
    '{"status":"error","errorType":"bad_data","error":"node n7"}',
    /^it refuses the question \(bad_data\)$/,
  ],
  ['a part', answer({ resultType: 'vector', result: [] }, { warnings: ['a store is away'] }), /^it answered in part/],
  ['no result', answer({ resultType: 'vector' }), /has no result/],
  ['no data', answer(null), /has no result/],
  ['a matrix', answer({ resultType: 'matrix', result: [] }), /neither a number nor a list/],
  ['a text', answer({ resultType: 'string', result: [1, 'x'] }), /neither a number nor a list/],
] as const;

describe('a number for each node', () => {
  const read = (text: string, label = 'node') => {
    const numbers = readNodeNumbers(label, 200, text);
    return 'missing' in numbers ? numbers.missing : Object.fromEntries(numbers);
  };

  for (const [what, text, expected] of [
    ['is its sample', vector([{ node: 'a' }, '1.5'], [{ node: 'b' }, '0']), { a: 1.5, b: 0 }],
    ['may be written with an exponent', vector([{ node: 'a' }, '1e-3']), { a: 0.001 }],
    ['is known without a port', vector([{ node: 'a.b:9100' }, '1']), { 'a.b': 1 }],
    [
      'is none where two series have its name',
      vector([{ node: 'a' }, '1'], [{ node: 'a:9100' }, '1']),
      { a: 'several' },
    ],
    ['is not less than 0', vector([{ node: 'a' }, '-1']), { a: 'none' }],
    ['is not NaN', vector([{ node: 'a' }, 'NaN']), { a: 'none' }],
    ['is not without end', vector([{ node: 'a' }, '+Inf'], [{ node: 'b' }, 'Infinity']), { a: 'none', b: 'none' }],
    ['is no JSON number', vector([{ node: 'a' }, 1]), { a: 'none' }],
    ['is no empty text', vector([{ node: 'a' }, '']), { a: 'none' }],
    ['is told of no other label', vector([{ node: 'a' }, '1'], [{ pod: 'b' }, '1'], [{ node: '' }, '1']), { a: 1 }],
    ['is missing where nobody answers', vector(), {}],
    ['is a matter of labels', vector([{ instance: 'a' }, '1']), 'none of its series has the label node'],
    ['is not a scalar', scalar('1'), 'none of its series has the label node'],
  ] as const) {
    it(what, () => assert.deepEqual(read(text), expected));
  }

  it('goes by the label that is asked for', () => {
    assert.deepEqual(read(vector([{ node: 'x', instance: 'a:9100' }, '1']), 'instance'), { a: 1 });
    assert.deepEqual(read(vector([{ node: 'constructor' }, '1'])), { constructor: 1 });
    assert.equal(read(vector([{}, '1']), 'constructor'), 'none of its series has the label constructor');
  });

  for (const [what, text, why] of NOTHING) {
    it(`is not in ${what}`, () => {
      const numbers = readNodeNumbers('node', 200, text);
      assert.ok('missing' in numbers);
      assert.match(numbers.missing, why);
    });
  }
});

describe('one number', () => {
  const read = (text: string) => {
    const found = readOneNumber(200, text);
    return 'missing' in found ? found.missing : found.value;
  };

  for (const [what, text, expected] of [
    ['is a scalar', scalar('0.5'), 0.5],
    ['is the only series', vector([{ a: 'b' }, '2']), 2],
    ['may be less than 0', scalar('-2'), -2],
    ['is not NaN', scalar('NaN'), 'the answer is not a finite number'],
    ['is not without end', vector([{}, '-Inf']), 'the answer is not a finite number'],
    ['is none of two', vector([{}, '1'], [{}, '2']), 'the answer has 2 series instead of one'],
    ['is not nothing', vector(), 'the answer is empty'],
    [
      'is no sample without a value',
      answer({ resultType: 'vector', result: [{}] }),
      'the answer is not a finite number',
    ],
    ['is no sample that is none', answer({ resultType: 'vector', result: [7] }), 'the answer is not a finite number'],
  ] as const) {
    it(what, () => assert.equal(read(text), expected));
  }

  for (const [what, text, why] of NOTHING) {
    it(`is not in ${what}`, () => assert.match(String(read(text)), why));
  }
});
