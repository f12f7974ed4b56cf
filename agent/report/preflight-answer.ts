import { isDeepStrictEqual as equal } from 'node:util';
import { writtenKeep } from '#shared/contract/api/config-identity.ts';
import { MAX_WARNING_LENGTH, type PreflightAnswer } from '#shared/contract/api/kubelet-node.ts';
import type { Observation } from '../decide/observation.ts';

/** What the node has to say of the config that it was asked about. */
export function preflightAnswer({ candidate, at }: Pick<Observation, 'candidate' | 'at'>): PreflightAnswer {
  if (candidate === null) return { outcome: 'ready' };
  const { config, retry, result } = candidate;
  const { source, apply } = config;
  const about = { sha256: source.sha256, apply, ...writtenKeep(config), ...(retry === '' ? {} : { retry }) };
  if (result === null) return { outcome: 'ready', ...about };
  if (result.outcome === 'ready') return { outcome: 'passed', ...about, at };
  const { reason, message } = result.failure;
  return { outcome: result.outcome, ...about, reason, message: message.slice(0, MAX_WARNING_LENGTH), at };
}

/**
 * The one before where only the time differs, or where another agent has said it and this one has yet to check. Its time says
 * since when that is so, and identifies a refusal.
 */
export function keepAnswerTime(now: PreflightAnswer, before: PreflightAnswer | null): PreflightAnswer {
  if (before === null) return now;
  const isAboutTheSame = ABOUT.every((field) => equal(now[field], before[field]));
  const isUnchecked = now.outcome === 'ready' && now.sha256 !== undefined;
  return isAboutTheSame && (isUnchecked || SAID.every((field) => now[field] === before[field])) ? before : now;
}

const ABOUT = ['sha256', 'apply', 'keepFields', 'retry'] as const;
const SAID = ['outcome', 'reason', 'message'] as const;
