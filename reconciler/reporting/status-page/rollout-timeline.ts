import type { RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { Generation } from '../../policy/forecast/generations.ts';
import type { RolloutModel, WaveBar } from './model.ts';

/** The scale of a timeline: its end, in thousandths of its length. */
export const TIMELINE_END = 1_000;

/**
 * A rollout with its waves and generations laid out over its time: from its start to its end, to its halt, or to now. Pure.
 *
 * @param haltedAt when the pool was halted; undefined if it is not
 */
export function timelineOf(
  rollout: RolloutStatus,
  haltedAt: string | undefined,
  generations: readonly Generation[],
  now: Millis,
): Omit<RolloutModel, 'remaining'> {
  const { configName, startedAt, finishedAt = '', waves } = rollout;
  const from = fromTimestamp(startedAt) ?? now;
  const until = Math.max(fromTimestamp(finishedAt) ?? fromTimestamp(haltedAt) ?? now, from + 1);
  const place = (at: Millis): number =>
    Math.round(Math.min(1, Math.max(0, (at - from) / (until - from))) * TIMELINE_END);
  const bars = waves.map((wave) => barOf(wave, place, until));
  const withSpans = generations.map((each) => ({
    ...each,
    span: { from: place(each.from), to: place(each.doneAt ?? until) },
  }));
  return { configName, startedAt, finishedAt, waves: bars, generations: withSpans };
}

function barOf(wave: WaveStatus, place: (at: Millis) => number, until: Millis): WaveBar {
  const began = fromTimestamp(wave.startedAt);
  if (began === undefined) return { ...wave, span: null };
  return { ...wave, span: { from: place(began), to: place(fromTimestamp(wave.doneAt) ?? until) } };
}
