import type { TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import { formatDuration, parseDuration } from '#shared/runtime/duration.ts';
import type { TrialTerms } from '../state.ts';

/** @returns undefined where a duration cannot be read or the count is not a whole number: it comes from others or from disk */
export function termsFrom(spec: TrialSpec): TrialTerms | undefined {
  if (typeof spec !== 'object' || spec === null) return undefined;
  if (typeof spec.duration !== 'string' || typeof spec.startTimeout !== 'string') return undefined;
  const durationMs = parseDuration(spec.duration);
  const startTimeoutMs = parseDuration(spec.startTimeout);
  if (durationMs === undefined || startTimeoutMs === undefined) return undefined;
  const { maxRestarts } = spec;
  return Number.isSafeInteger(maxRestarts) && maxRestarts >= 0
    ? { durationMs, startTimeoutMs, maxRestarts }
    : undefined;
}

export function termsToSpec({ durationMs, startTimeoutMs, maxRestarts }: TrialTerms): TrialSpec {
  return { duration: formatDuration(durationMs), startTimeout: formatDuration(startTimeoutMs), maxRestarts };
}

/** For configs that bring no terms of their own, and for local: what the contract's `DEFAULT_TRIAL` says. */
export const DEFAULT_TERMS: TrialTerms = { durationMs: 600_000, startTimeoutMs: 120_000, maxRestarts: 2 };
