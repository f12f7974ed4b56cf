import type { BlockersSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { withLifetime } from '#shared/runtime/lifetime.ts';
import { readRules, rulesRequestFor } from './alert-rules.ts';
import { type BlockersQuery, type BlockersAnswer, blocked, NOT_BLOCKED } from '../../policy/pool-blockers.ts';
import { limitConcurrency } from './limit-concurrency.ts';
import { nodesWithBlockingPods, trimPod, podSelection } from './blocking-pods.ts';
import { readAnswer, requestFor, prometheusUnavailable } from './prometheus.ts';
import type { WebGet } from './web-get.ts';

export interface BlockerChecksPorts {
  readonly kube: Pick<Kube, 'list'>;
  readonly web: WebGet;
  readonly clock: Clock;
}

/** What must be quiet before the next node is changed. */
export interface BlockerChecks {
  /**
   * An answer for each pool, at most `FRESH_FOR_MS` old. Pools that ask for the same share one question. Never rejects:
   * what cannot be asked is not quiet, and the answer says why.
   */
  ask(pools: readonly BlockersQuery[], signal: AbortSignal): Promise<ReadonlyMap<string, BlockersAnswer>>;
}

/** Prometheus' usual interval of scraping and of evaluating rules: asking more often says nothing new. */
export const FRESH_FOR_MS: Millis = 15_000;

/** A pass waits for Prometheus no longer than this. */
export const ASK_TIMEOUT_MS: Millis = 5_000;

/** A pass waits for lists of pods no longer than for any call of the API server. */
export const LIST_TIMEOUT_MS: Millis = 30_000;

/** Pages of pods have megabytes. */
const LISTS_AT_ONCE = 4;

const late = (): Error => new Error(`no answer within ${LIST_TIMEOUT_MS / 1000} s`);

/** Thousands of series; an answer that is longer is one that has results. */
export const MOST_ANSWER_BYTES = 1024 * 1024;

export function createBlockerChecks({ kube, web, clock }: BlockerChecksPorts): BlockerChecks {
  const known = new Map<string, { readonly at: Millis; readonly answer: Promise<BlockersAnswer> }>();
  const inTurn = limitConcurrency(LISTS_AT_ONCE);
  const missed = new Set<string>();

  return {
    ask(pools, parent) {
      const now = clock.monotonic();
      for (const [key, { at }] of known) if (now - at >= FRESH_FOR_MS) known.delete(key);
      const wasMissed = ({ spec }: BlockersQuery): boolean => missed.has(keyOf(spec));
      // Who got no answer comes first: where there is no time for all, the last ones would never get one.
      const inOrder = [...pools.filter(wasMissed), ...pools.filter((pool) => !wasMissed(pool))];
      for (const key of missed) if (!known.has(key)) missed.delete(key);
      const onParent = () => parent.reason as unknown;
      const ms = LIST_TIMEOUT_MS;
      // One end for all: when the time of the first lists is over, none of those that wait is begun.
      return withLifetime({ clock, parent, onParent, ms, reason: late }, async ({ signal }) => {
        const answers = inOrder.map(async ({ name, spec }) => [name, await answerFor(spec, now, signal)] as const);
        return new Map(await Promise.all(answers));
      });
    },
  };

  function answerFor(spec: BlockersSpec, now: Millis, signal: AbortSignal): Promise<BlockersAnswer> {
    const key = keyOf(spec);
    const answer = known.get(key)?.answer ?? askAll(spec, signal, () => missed.add(key));
    // Its age counts from when it was asked for: what it says may be that old.
    if (!known.has(key)) known.set(key, { at: now, answer });
    return answer;
  }

  async function askAll(
    { prometheus, pods }: BlockersSpec,
    signal: AbortSignal,
    onMiss: () => void,
  ): Promise<BlockersAnswer> {
    const [first, second] = await Promise.all([
      prometheus === undefined ? NOT_BLOCKED : askPrometheus(prometheus, signal, onMiss),
      pods === undefined ? NOT_BLOCKED : askPods(pods, signal, onMiss),
    ]);
    return first.quiet ? second : first;
  }

  async function askPrometheus(
    spec: NonNullable<BlockersSpec['prometheus']>,
    signal: AbortSignal,
    onMiss: () => void,
  ): Promise<BlockersAnswer> {
    try {
      const [answer, rules] = await Promise.all([
        web(requestFor(spec, ASK_TIMEOUT_MS / 1000), signal),
        spec.alerts === undefined ? null : web(rulesRequestFor(spec), signal),
      ]);
      const said = readAnswer(spec, answer.status, answer.text);
      return !said.quiet || rules === null ? said : readRules(spec, rules.status, rules.text);
    } catch (error) {
      onMiss();
      return prometheusUnavailable(spec, reasonOf(error));
    }
  }

  async function askPods(
    spec: NonNullable<BlockersSpec['pods']>,
    signal: AbortSignal,
    onMiss: () => void,
  ): Promise<BlockersAnswer> {
    try {
      const { items } = await inTurn(() => {
        signal.throwIfAborted();
        return kube.list(podSelection(spec), signal, trimPod);
      });
      const busy = nodesWithBlockingPods(items);
      return busy.size === 0 ? NOT_BLOCKED : { ...NOT_BLOCKED, busy };
    } catch (error) {
      onMiss();
      return blocked(`the pods that must not run cannot be listed: ${reasonOf(error)}`);
    }
  }
}

/** Pools that ask for the same have the same. */
const keyOf = (spec: BlockersSpec): string => JSON.stringify(spec);
