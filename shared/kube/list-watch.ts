import type { KubeObject } from '../contract/api/object.ts';
import type { BackoffOptions } from '../runtime/backoff.ts';
import type { Clock, Millis } from '../runtime/clock.ts';
import { GitopsError } from '../runtime/errors.ts';
import { STABLE_WATCH_MS, backoffAfter, type WatchAttempt } from './watch-backoff.ts';
import { askedToWaitMs, isKubeError } from './kube-error.ts';
import type { ListWatchEvent, Kube, Selection, WatchStart, Trim } from './kube.ts';

export interface ListWatchOptions<T = never> {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Hears of every fault, and in how many milliseconds the next try begins. A forgotten version alone is none. */
  readonly onFault: (error: unknown, retryInMs: Millis) => void;
  readonly backoff?: BackoffOptions;
  /** What is kept of the items of a list. */
  readonly trim?: Trim<T> | undefined;
}

const FOLLOW_BACKOFF: BackoffOptions = { firstMs: 1000, maxMs: 30_000, jitter: 0.5 };

/** The server is asked to end each watch after this long; jittered, so that a fleet does not come back in step. */
const SHORTEST_WATCH_MS = 5 * 60_000;
const LONGEST_WATCH_MS = 10 * 60_000;

/**
 * After a fault the API server may be another one, over an etcd that was restored: the watch goes on, and lacks what that lost. So
 * the whole list is read again about this long after the last one, spread over the minutes after it. A watch that the server ends in
 * order, as it does with slow readers (`apiserver_terminated_watchers_total`), lost nothing if the next one can begin at its last version.
 */
const LIST_AGAIN_AFTER_MS = 10 * 60_000;
const LIST_AGAIN_SPREAD_MS = 5 * 60_000;

/** Where a follower stands. All times are monotonic. */
interface Standing {
  /** The version it goes on from; null before a list. */
  from: string | null;
  listedMs: Millis;
  /** Infinity until a fault since the list. */
  listDueMs: Millis;
}

/**
 * The objects of a selection, for as long as the signal does not abort: first the list, then what changes, and the list
 * again when the server has lost the thread or may have. No fault ends it, refusals included: rights are granted
 * and CRDs installed while we wait.
 */
export async function* listWatch<T extends KubeObject>(
  kube: Kube,
  selection: Selection,
  options: ListWatchOptions<T>,
): AsyncGenerator<ListWatchEvent<T>, void, void> {
  const { signal, clock, random, onFault, backoff = FOLLOW_BACKOFF } = options;
  const standing: Standing = { from: null, listedMs: 0, listDueMs: Infinity };
  let misses = 0;
  while (!signal.aborted) {
    let began = clock.monotonic();
    let heard = false;
    let ended: WatchAttempt['ended'] = 'closed';
    let fault: unknown;
    try {
      for await (const each of listThenWatch<T>(kube, selection, standing, options)) {
        if (each.heard === 'replaced') began = clock.monotonic();
        else heard = true;
        if (each.heard !== 'nothing') yield each;
      }
    } catch (error) {
      ended = isKubeError(error, 'KUBE_GONE') ? 'gone' : 'fault';
      fault = error;
    }
    if (signal.aborted) return;
    const tried: WatchAttempt = {
      ended,
      heard,
      lastedMs: clock.monotonic() - began,
      askedMs: askedToWaitMs(fault) ?? 0,
    };
    const pace = backoffAfter(tried, misses, backoff, random());
    misses = pace.misses;
    if (pace.listAgain) standing.from = null;
    if (ended === 'fault') standing.listDueMs = Math.min(standing.listDueMs, listAgainMs(standing, options));
    if (ended === 'fault' || misses > 1) onFault(fault ?? hastyClose(selection), pace.pauseMs);
    await clock.sleep(pace.pauseMs, signal);
  }
}

/** The watch is in order, though there is nothing to say. */
interface Alive {
  readonly heard: 'nothing';
}

/** One try. */
async function* listThenWatch<T extends KubeObject>(
  kube: Kube,
  selection: Selection,
  standing: Standing,
  options: ListWatchOptions<T>,
): AsyncGenerator<ListWatchEvent<T> | Alive, void, void> {
  const { signal, clock, random } = options;
  // A generator of its own, that is gone before the watch begins: it would hold the whole list for as long as that lasts.
  if (standing.from === null || standing.listDueMs - clock.monotonic() < STABLE_WATCH_MS)
    yield* listed(kube, selection, standing, options);
  const longMs = SHORTEST_WATCH_MS + random() * (LONGEST_WATCH_MS - SHORTEST_WATCH_MS);
  const since: WatchStart = {
    version: standing.from ?? '',
    lastsMs: Math.min(longMs, standing.listDueMs - clock.monotonic()),
  };
  for await (const event of kube.watch<T>(selection, since, signal)) {
    if (event.type === 'BOOKMARK') {
      standing.from = event.resourceVersion;
      yield { heard: 'nothing' };
    } else {
      standing.from = event.object.metadata.resourceVersion ?? standing.from;
      yield { heard: 'changed', type: event.type, item: event.object };
    }
  }
}

async function* listed<T extends KubeObject>(
  kube: Kube,
  selection: Selection,
  standing: Standing,
  { signal, clock, trim }: ListWatchOptions<T>,
): AsyncGenerator<ListWatchEvent<T>, void, void> {
  const askedAtMs = clock.monotonic();
  const { items, resourceVersion } = await kube.list<T>(selection, signal, trim);
  standing.from = resourceVersion;
  standing.listedMs = clock.monotonic();
  standing.listDueMs = Infinity;
  yield { heard: 'replaced', items, askedAtMs };
}

const listAgainMs = ({ listedMs }: Standing, { clock, random }: Pick<ListWatchOptions, 'clock' | 'random'>): Millis =>
  Math.max(clock.monotonic(), listedMs + LIST_AGAIN_AFTER_MS) + random() * LIST_AGAIN_SPREAD_MS;

function hastyClose({ resource }: Selection): GitopsError {
  return new GitopsError(
    'KUBE_CLOSED_AT_ONCE',
    `the API server closes the watch of ${resource.plural} as soon as it is open`,
  );
}
