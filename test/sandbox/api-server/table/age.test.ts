import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ageOf, humanDuration } from '#sandbox/api-server/table/age.ts';

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
const Y = 365 * D;

it('a span is shown as kubectl shows it', () => {
  // The cases of k8s.io/apimachinery/pkg/util/duration's own tests, at and before each change of form.
  const rows: readonly (readonly [number, string])[] = [
    [-2 * S, '<invalid>'],
    [-1 * S, '0s'],
    [0, '0s'],
    [S - 1, '0s'],
    [70 * S, '70s'],
    [2 * M - 1, '119s'],
    [2 * M, '2m'],
    [9 * M + 59 * S, '9m59s'],
    [10 * M, '10m'],
    [3 * H - 1, '179m'],
    [3 * H, '3h'],
    [7 * H + 59 * M, '7h59m'],
    [8 * H, '8h'],
    [2 * D - 1, '47h'],
    [2 * D, '2d'],
    [2 * D + 5 * H, '2d5h'],
    [8 * D - 1, '7d23h'],
    [8 * D, '8d'],
    [2 * Y - 1, '729d'],
    [2 * Y, '2y'],
    [2 * Y + 3 * D, '2y3d'],
    [8 * Y, '8y'],
    [9 * Y + 3 * D, '9y'],
  ];
  for (const [span, shown] of rows) assert.equal(humanDuration(span), shown);
});

it('what is no timestamp has no age', () => {
  assert.equal(ageOf('soon', 0), '<unknown>');
  assert.equal(ageOf(7, 0), '<unknown>');
  assert.equal(ageOf('1970-01-01T00:00:00Z', 5 * S), '5s');
});
