import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GitError } from '#reconciler/git/errors.ts';
import type { GitSource } from '#reconciler/git/source-port.ts';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const never = new AbortController().signal;

/** A repository whose every reading takes three seconds, and what is measured of it. */
function metered(outcome: Error | string) {
  const clock = createManualClock();
  const metrics = createMetrics({ clock, ofProcess: false });
  const read = async (): Promise<never> => {
    clock.skip(3_000);
    if (outcome instanceof Error) throw outcome;
    return outcome as never;
  };
  const source = metrics.meterSource({
    url: 'u',
    branch: 'main',
    resolve: read,
    snapshot: read,
    earlier: read,
  } satisfies GitSource);
  const { gitErrors, gitGoodAt, gitSeconds } = metrics.instruments;
  return {
    source,
    clock,
    errors: async () => (await gitErrors.get()).values.map(({ labels, value }) => [labels.code, value]),
    goodAt: async () => (await gitGoodAt.get()).values[0]?.value,
    seconds: async () =>
      (await gitSeconds.get()).values
        .filter(({ metricName }) => metricName?.endsWith('_sum'))
        .map(({ labels, value }) => [labels.operation, value]),
  };
}

describe('a metered repository', () => {
  it('hands on what it has, and says how long that took and when it was', async () => {
    const { source, clock, errors, goodAt, seconds } = metered('oid');
    assert.deepEqual([source.url, source.branch, await goodAt()], ['u', 'main', 0]);
    assert.equal(await source.resolve(never), 'oid');
    assert.equal(await source.snapshot(null, never), 'oid');
    assert.equal(await source.earlier('oid', 'of', never), 'oid');
    assert.equal(await goodAt(), clock.now() / 1000);
    assert.deepEqual(await errors(), []);
    assert.deepEqual(await seconds(), [
      ['resolve', 3],
      ['snapshot', 3],
      ['earlier', 3],
    ]);
  });

  it('counts failures by their code, but none that was called off', async () => {
    for (const [error, code] of [
      [new GitError('GIT_TIMEOUT', 'late'), 'GIT_TIMEOUT'],
      [new RangeError('ours'), 'GIT_ERROR'],
    ] as const) {
      const { source, errors, goodAt, seconds } = metered(error);
      await assert.rejects(source.resolve(AbortSignal.abort()), error);
      assert.deepEqual(await errors(), []);
      await assert.rejects(source.resolve(never), error);
      assert.deepEqual([await errors(), await goodAt(), await seconds()], [[[code, 1]], 0, [['resolve', 6]]]);
    }
  });
});
