import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { createLabelLimit } from '#reconciler/reporting/metrics/label-limit.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { ClusterEvent } from '#reconciler/reporting/events/cluster-event.ts';

const fellBack = (cause: string): ClusterEvent => ({
  about: { kind: 'Node', name: 'worker-1', uid: 'u' },
  reason: 'ConfigFellBack',
  type: 'Warning',
  note: 'n',
  pool: 'general',
  config: 'general-a',
  cause,
  at: '2026-01-01T00:00:00Z',
  identity: cause,
});

describe('labels of the reconciler', () => {
  it('stay few, whatever reasons nodes report', async () => {
    const metrics = createMetrics({ clock: systemClock, ofProcess: false });
    const series = async (): Promise<number> =>
      (await metrics.text()).split('\n').filter((line) => line[0] !== '#').length;
    const before = await series();
    metrics.happened(Array.from({ length: 5_000 }, (_, n) => fellBack(`R${'abcdefghij'.repeat(3).slice(n % 30)}${n}`)));
    const letters = (n: number): string => String.fromCodePoint(97 + (n % 26), 97 + (Math.floor(n / 26) % 26));
    metrics.happened(Array.from({ length: 5_000 }, (_, n) => fellBack(`Reason${letters(n)}`)));
    assert.ok((await series()) - before <= 62, `${(await series()) - before} series more`);
    const { values } = await metrics.instruments.fallbacks.get();
    assert.equal(
      values.reduce((sum, { value }) => sum + value, 0),
      10_000,
      'each is counted',
    );
  });

  for (const [what, word, shown] of [
    ['a reason of ours', 'CrashLoop', 'CrashLoop'],
    ['text', 'exit code 1', 'Other'],
    ['nothing', '', 'Other'],
    ['a word without end', `A${'b'.repeat(60)}`, 'Other'],
  ] as const) {
    it(`show ${what} as ${shown}`, () => assert.equal(createLabelLimit()(word), shown));
  }

  it('go on showing the first words when there are too many', () => {
    const words = createLabelLimit(2);
    assert.deepEqual(['Aa', 'Bb', 'Cc', 'Aa'].map(words), ['Aa', 'Bb', 'Other', 'Aa']);
  });
});
