import { type BackoffOptions, backoffDelay } from '#shared/runtime/backoff.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { TriedConfig } from '../decide/process-memory.ts';
import type { StageResult } from '../decide/observation.ts';
import { type Config, sameConfig } from '../decide/state.ts';

const BACKOFF: BackoffOptions = { firstMs: 2_000, maxMs: 5 * 60_000, jitter: 0.5 };

/**
 * What to remember of a config that was just fetched and checked. Pure.
 *
 * @param before what was remembered so far
 * @param now monotonic
 */
export function stagingResultAfter(
  before: TriedConfig | null,
  config: Config,
  result: StageResult,
  now: Millis,
  random: number,
): TriedConfig {
  const faultsBefore = sameConfig(before?.config ?? null, config) ? (before?.faults ?? 0) : 0;
  const faults = result.outcome === 'unavailable' ? faultsBefore + 1 : 0;
  return { config, result, retryAt: now + backoffDelay(faults, BACKOFF, random), faults };
}
