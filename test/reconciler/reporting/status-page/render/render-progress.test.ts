import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildModel } from '#reconciler/reporting/status-page/build-model.ts';
import { toText } from '#reconciler/reporting/status-page/html.ts';
import { renderProgress, describeRemaining } from '#reconciler/reporting/status-page/render/render-progress.ts';
import { type Moment, rolloutInTime } from '../../../../support/rollout/rollout-in-time.ts';
import { passResultOf } from '../pass-results.ts';

const ABOUT = { cluster: 'prod', version: '1.2.3', forge: undefined } as const;
const poolAt = ({ fleet, inForce, now }: Moment) =>
  buildModel(passResultOf({ fleet, inForce, at: now }), ABOUT, now).pools[0];

describe('the progress of a rollout on the page', () => {
  const moments = rolloutInTime(30, { maxUnavailable: 3 });

  it('shows as many nodes in generations as were told, each once and in its time', () => {
    for (const moment of moments.slice(2, -1)) {
      const { counts, rollout } = poolAt(moment) ?? {};
      const shown = rollout?.generations.flatMap(({ nodes }) => nodes) ?? [];
      assert.equal(shown.length, new Set(shown).size);
      assert.equal(shown.length, (counts?.updated ?? 0) + (counts?.updating ?? 0));
      for (const { span } of rollout?.generations ?? [])
        assert.ok(0 <= span.from && span.from <= span.to && span.to <= 1_000);
    }
  });

  it('is a bar with its numbers, in words that say the same', () => {
    const pool = poolAt(moments[Math.floor(moments.length / 2)] ?? assert.fail());
    assert.ok(pool !== undefined && pool.rollout !== null);
    const text = toText(renderProgress(pool) ?? assert.fail());
    const { updated } = pool.counts;
    assert.ok(updated > 0 && updated < 30);
    assert.match(text, new RegExp(`aria-valuemax="30"\\s+aria-valuenow="${updated}"`));
    assert.match(
      text,
      new RegExp(`aria-valuetext="${updated} of 30 nodes up to date. About .* left.*, if all goes well."`),
    );
  });

  it('is as wide as the share of nodes that are up to date, and has none where there are no nodes', () => {
    const pool = poolAt(moments[Math.floor(moments.length / 2)] ?? assert.fail()) ?? assert.fail();
    const width = (nodes: number, updated: number): string | undefined => {
      const drawn = renderProgress({ ...pool, counts: { ...pool.counts, nodes, updated } }) ?? assert.fail();
      return /<rect[^>]* width="([^"]*)"/s.exec(toText(drawn))?.[1];
    };
    assert.deepEqual([width(4, 1), width(3, 3), width(0, 0)], ['25.00', '100.00', '0.00']);
  });

  it('is gone when the rollout is over', () => {
    const pool = poolAt(moments.at(-1) ?? assert.fail());
    assert.ok(pool !== undefined && pool.rollout?.remaining === null);
    assert.equal(renderProgress(pool), null);
  });

  it('says why nobody knows how long it takes, or with which spread', () => {
    const [time, soak] = [
      { is: 'time', expectedMs: 600_000, quickMs: 540_000, slowMs: 1_200_000 },
      { is: 'soak', ms: 240_000 },
    ] as const;
    assert.equal(describeRemaining(time), 'About 10 min left (9 min to 20 min), if all goes well.');
    assert.equal(
      describeRemaining({ ...time, quickMs: 600_000, slowMs: 600_000 }),
      'About 10 min left, if all goes well.',
    );
    assert.equal(describeRemaining(soak), 'All have proven it; the last ones soak for 4 min.');
    assert.equal(
      describeRemaining({ is: 'unknown', because: 'the pool is halted' }),
      'Time left is not known: the pool is halted.',
    );
  });
});
