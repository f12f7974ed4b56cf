import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatRoughly } from '#shared/runtime/rough-duration.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000] as const;

describe('a rough duration', () => {
  const ROWS: readonly (readonly [number, string])[] = [
    [-1, '0 s'],
    [0, '0 s'],
    [1, '1 s'],
    [90 * SECOND, '90 s'],
    [90 * SECOND + 1, '2 min'],
    [2 * MINUTE + 1, '3 min'],
    [59 * MINUTE, '59 min'],
    [59 * MINUTE + 1, '1 h'],
    [HOUR + 1, '1 h 1 min'],
    [110 * MINUTE, '1 h 50 min'],
    [DAY - MINUTE, '23 h 59 min'],
    [DAY - 1, '1 d'],
    [DAY + 1, '1 d 1 h'],
    [2 * DAY - 1, '2 d'],
  ];
  for (const [span, said] of ROWS) it(`says ${said} of ${span} ms`, () => assert.equal(formatRoughly(span), said));
});
