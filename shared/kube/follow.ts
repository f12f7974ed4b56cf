import type { KubeObject } from '../contract/api/object.ts';
import type { BackoffOptions } from '../runtime/backoff.ts';
import type { Clock, Millis } from '../runtime/clock.ts';
import { GitopsError } from '../runtime/errors.ts';
import { paceAfter, type Try } from './follow-pace.ts';
import { askedToWaitMs, isKubeError } from './kube-error.ts';
import type { Heard, Kube, Selection, Trim } from './kube.ts';
import { createLifetime } from '../runtime/lifetime.ts';

export interface FollowOptions<T = never> {
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

/** The whole list is read this often even where nothing went wrong: what a watch lost is not lost for longer. */
const SHORTEST_RELIST_MS = 10 * 60_000;
const LONGEST_RELIST_MS = 15 * 60_000;

/** Where a follower stands: the version it goes on from (null before a list), and when the next list is due. */
interface Standing {
  from: string | null;
  /** Monotonic. */
  listDueMs: Millis;
}

/**
 * The objects of a selection, for as long as the signal does not abort: first the list, then what changes, and the list
 * again whenever it is due or the server has lost the thread. No fault ends it, refusals included: rights are granted
 * and CRDs installed while we wait.
 */
export async function* follow<T extends KubeObject>(
  kube: Kube,
  selection: Selection,
  options: FollowOptions<T>,
): AsyncGenerator<Heard<T>, void, void> {
  const { signal, clock, random, onFault, backoff = FOLLOW_BACKOFF } = options;
  const standing: Standing = { from: null, listDueMs: 0 };
  let misses = 0;
  while (!signal.aborted) {
    let began = clock.monotonic();
    let heard = false;
    let ended: Try['ended'] = 'closed';
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
    const tried: Try = { ended, heard, lastedMs: clock.monotonic() - began, askedMs: askedToWaitMs(fault) ?? 0 };
    const pace = paceAfter(tried, misses, backoff, random());
    misses = pace.misses;
    if (pace.listAgain) standing.from = null;
    if (ended === 'fault' || misses > 1) onFault(fault ?? hastyClose(selection), pace.pauseMs);
    await clock.sleep(pace.pauseMs, signal);
  }
}

/** The watch is in order, though there is nothing to say. */
interface Alive {
  readonly heard: 'nothing';
}

/** One try. A list that falls due ends the watch before its time. */
async function* listThenWatch<T extends KubeObject>(
  kube: Kube,
  selection: Selection,
  standing: Standing,
  options: FollowOptions<T>,
): AsyncGenerator<Heard<T> | Alive, void, void> {
  const { signal, clock } = options;
  // A generator of its own, that is gone before the watch begins: it would hold the whole list for as long as that lasts.
  if (standing.from === null || clock.monotonic() >= standing.listDueMs)
    yield* listed(kube, selection, standing, options);
  const life = createLifetime(clock, signal, () => signal.reason as unknown);
  let due = false;
  life.cutAfter(standing.listDueMs - clock.monotonic(), () => {
    due = true;
    return undefined;
  });
  try {
    for await (const event of kube.watch<T>(selection, standing.from ?? '', life.signal)) {
      if (event.type === 'BOOKMARK') {
        standing.from = event.resourceVersion;
        yield { heard: 'nothing' };
      } else {
        standing.from = event.object.metadata.resourceVersion ?? standing.from;
        yield { heard: 'changed', type: event.type, item: event.object };
      }
    }
  } catch (error) {
    if (!due) throw error;
    yield { heard: 'nothing' };
  } finally {
    life.end();
  }
}

async function* listed<T extends KubeObject>(
  kube: Kube,
  selection: Selection,
  standing: Standing,
  { signal, clock, random, trim }: FollowOptions<T>,
): AsyncGenerator<Heard<T>, void, void> {
  const askedAtMs = clock.monotonic();
  const { items, resourceVersion } = await kube.list<T>(selection, signal, trim);
  standing.from = resourceVersion;
  standing.listDueMs =
    clock.monotonic() + SHORTEST_RELIST_MS + Math.round(random() * (LONGEST_RELIST_MS - SHORTEST_RELIST_MS));
  yield { heard: 'replaced', items, askedAtMs };
}

function hastyClose({ resource }: Selection): GitopsError {
  return new GitopsError(
    'KUBE_CLOSED_AT_ONCE',
    `the API server closes the watch of ${resource.plural} as soon as it is open`,
  );
}
