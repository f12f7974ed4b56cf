import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { timelineOf } from '#reconciler/reporting/status-page/rollout-timeline.ts';
import type { RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { NOW } from '../../../support/fleet.ts';

const at = (minute: number): string => toTimestamp(NOW + minute * 60_000);
const wave = (over: Partial<WaveStatus> = {}): WaveStatus => ({ name: 'w', state: 'rolling', nodes: 1, ...over });
const rollout = (over: Partial<RolloutStatus> = {}): RolloutStatus => ({
  configName: 'web-1',
  sha256: 'x',
  startedAt: at(0),
  waves: [wave({ startedAt: at(0), doneAt: at(2) }), wave({ startedAt: at(2) }), wave({ state: 'waiting' })],
  ...over,
});
const spans = (of: RolloutStatus, haltedAt?: string, minute = 8) =>
  timelineOf(of, haltedAt, [], NOW + minute * 60_000).waves.map(({ span }) => span && [span.from, span.to]);

describe('the waves of a rollout on its line of time', () => {
  it('reach from its start to now while it is under way', () => {
    assert.deepEqual(spans(rollout()), [[0, 250], [250, 1_000], null]);
  });

  it('reach to its end, or to its halt', () => {
    assert.deepEqual(spans(rollout({ finishedAt: at(4) })), [[0, 500], [500, 1_000], null]);
    assert.deepEqual(spans(rollout(), at(4)), [[0, 500], [500, 1_000], null]);
    assert.deepEqual(spans(rollout({ finishedAt: at(4) }), at(2))[0], [0, 500]);
  });

  it('stay on it, whatever the clocks of others say', () => {
    const odd = [wave({ startedAt: at(-5), doneAt: at(99) }), wave({ startedAt: at(50), doneAt: '?' })];
    assert.deepEqual(spans(rollout({ waves: odd })), [
      [0, 1_000],
      [1_000, 1_000],
    ]);
    assert.deepEqual(spans(rollout({ startedAt: '?' })), [[0, 0], [0, 1_000], null]);
    assert.deepEqual(spans(rollout(), undefined, 0), [[0, 1_000], [1_000, 1_000], null]);
  });

  it('lie beside the generations, of which one on trial goes on', () => {
    const generation = {
      generation: 0,
      maxOnTrial: 1,
      nodes: ['a'],
      inProbation: 0,
      onTrial: 1,
      promoted: 0,
      failed: 0,
    };
    const generations = [
      { ...generation, from: NOW, doneAt: NOW + 60_000 },
      { ...generation, from: NOW + 60_000, doneAt: null },
    ];
    const line = timelineOf(rollout(), undefined, generations, NOW + 4 * 60_000);
    assert.deepEqual(
      line.generations.map(({ span }) => [span.from, span.to]),
      [
        [0, 250],
        [250, 1_000],
      ],
    );
    assert.deepEqual([line.configName, line.startedAt, line.finishedAt], ['web-1', at(0), '']);
  });
});
