import type { MeasuresSource, QueryMeasure } from '#shared/contract/api/prometheus-queries.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { QueriedPool, QueryAnswer, QueryAnswers } from '../../policy/analysis/query-answer.ts';
import { ASK_TIMEOUT_MS } from './blocker-checks.ts';
import { describeServer, requestFor } from './prometheus.ts';
import { type NoNumbers, readNodeNumbers, readOneNumber } from './query-numbers.ts';
import type { WebAnswer, WebGet } from './web-get.ts';

interface CanaryQueriesPorts {
  readonly web: WebGet;
  readonly clock: Clock;
}

/** What Prometheus keeps of the canaries. */
export interface CanaryQueries {
  /** Answers for each pool, at most `ANSWER_LASTS_MS` old. Never rejects: a query without an answer says why. */
  ask(pools: readonly QueriedPool[], signal: AbortSignal): Promise<ReadonlyMap<string, QueryAnswers>>;
}

/** Canaries are judged over many minutes, and what was before the change does not change. */
export const ANSWER_LASTS_MS: Millis = 60_000;

export function createCanaryQueries({ web, clock }: CanaryQueriesPorts): CanaryQueries {
  const known = new Map<string, { readonly at: Millis; readonly answers: Promise<QueryAnswers> }>();

  return {
    async ask(pools, signal) {
      const now = clock.monotonic();
      for (const [key, { at }] of known) if (now - at >= ANSWER_LASTS_MS) known.delete(key);
      const answers = pools.map(async (pool) => [pool.name, await answersFor(pool, now, signal)] as const);
      return new Map(await Promise.all(answers));
    },
  };

  function answersFor({ source, before }: QueriedPool, now: Millis, signal: AbortSignal): Promise<QueryAnswers> {
    const key = JSON.stringify([source, before]);
    const answers = known.get(key)?.answers ?? askAll(source, before, signal);
    if (!known.has(key)) known.set(key, { at: now, answers });
    return answers;
  }

  async function askAll(source: MeasuresSource, before: Millis, signal: AbortSignal): Promise<QueryAnswers> {
    const asked = source.queries.map(async (query) => {
      const answer = await askOne(source, query, before, signal);
      return [query.name, answer] as const;
    });
    return new Map(await Promise.all(asked));
  }

  async function askOne(
    { url, nodeLabel = 'node' }: MeasuresSource,
    measure: QueryMeasure,
    before: Millis,
    signal: AbortSignal,
  ): Promise<QueryAnswer> {
    const { query } = measure;
    const get = (at?: Millis): Promise<WebAnswer> => web(requestFor({ url, query }, ASK_TIMEOUT_MS / 1000, at), signal);
    const from = ({ missing }: NoNumbers): QueryAnswer => ({ missing: `${describeServer({ url })}: ${missing}` });
    try {
      if (!('least' in measure)) {
        const { status, text } = await get();
        const answer = readOneNumber(status, text);
        return 'missing' in answer ? from(answer) : answer;
      }
      const [atFirst, atLast] = await Promise.all([get(before), get()]);
      const then = readNodeNumbers(nodeLabel, atFirst.status, atFirst.text);
      const now = readNodeNumbers(nodeLabel, atLast.status, atLast.text);
      if ('missing' in now) return from(now);
      return 'missing' in then ? from(then) : { before: then, now };
    } catch (error) {
      return { missing: `${describeServer({ url })} cannot be asked: ${reasonOf(error)}` };
    }
  }
}
