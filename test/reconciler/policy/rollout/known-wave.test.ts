import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { knownWave } from '#reconciler/policy/rollout/known-wave.ts';
import type { RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';

const AT = '2026-11-21T12:00:00Z';

/** As many nodes as each step has; the canary has one. */
const named = (steps: readonly number[]) =>
  [1, ...steps, 9].map((nodes, index, { length }) => ({
    name: index === 0 ? 'canary' : index === length - 1 ? 'rest' : `step ${index}`,
    nodes,
  }));
const rolled = (steps: readonly number[], more: Partial<RolloutStatus> = {}): RolloutStatus => ({
  configName: 'a',
  sha256: 'f'.repeat(64),
  startedAt: AT,
  waves: named(steps).map((wave) => ({ ...wave, state: 'waiting' })),
  ...more,
});

/** Steps before, steps now, and by which former one each of these is known. */
const ROWS: readonly (readonly [string, readonly number[], readonly number[], readonly (string | undefined)[]])[] = [
  ['are what they were', [2, 4], [2, 4], ['step 1', 'step 2']],
  ['have fewer nodes, as some left', [4, 5], [3, 4], ['step 1', 'step 2']],
  ['have more nodes than before', [2, 4], [3, 6], [undefined, undefined]],
  ['are fewer', [2, 4], [4], ['step 2']],
  ['are more', [4], [2, 4], [undefined, 'step 1']],
  ['are fewer, and others', [2, 4], [3], [undefined]],
  ['were two of a size', [4, 4], [4], ['step 2']],
];

describe('what is remembered of a wave', () => {
  for (const [what, was, is, expected] of ROWS) {
    it(`is of the same nodes where the steps ${what}`, () => {
      const waves = named(is);
      const found = waves.map((wave) => knownWave(wave, waves, rolled(was))?.name);
      assert.deepEqual(found, ['canary', ...expected, 'rest']);
    });
  }

  it('is of some step once the rollout is over, and of the same nodes if it can', () => {
    for (const [was, is, expected] of [
      [[2, 4], [6], 'step 1'],
      [[2, 4], [4], 'step 2'],
      [[2], [3], 'step 1'],
    ] as const) {
      const waves = named(is);
      const known = knownWave({ name: 'step 1', nodes: is[0] }, waves, rolled(was, { finishedAt: AT }));
      assert.equal(known?.name, expected);
    }
  });

  it('is nothing for a new payload', () => {
    assert.equal(knownWave({ name: 'canary', nodes: 1 }, named([]), undefined), undefined);
  });
});
