import { type BackoffOptions, backoffDelay } from '#shared/runtime/backoff.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { EVENTS, type Kube, type Place } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';
import { toMicroTime } from '../../cluster/kube/micro-time.ts';
import { createTokenBucket } from '../../http-server/token-bucket.ts';
import { EVENTS_NAMESPACE, eventObject, OLDER_EVENTS_NAMESPACE } from './event-object.ts';
import type { ClusterEvent } from './cluster-event.ts';

/** What became of an Event. `known`: the API server had it already. `dropped`: too many waited, or it was refused. */
export type EventOutcome = 'created' | 'repeated' | 'known' | 'dropped';

interface EventPublisherOptions {
  readonly kube: Kube;
  /** Name of this process, for the Event's `reportingInstance`. */
  readonly instance: string;
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly onOutcome: (outcome: EventOutcome) => void;
}

/** Writes Events, slowly enough for any API server. Nothing waits for it: what is too much is dropped and counted. */
export interface EventPublisher {
  publish(occurrences: readonly ClusterEvent[]): void;
  run(signal: AbortSignal): Promise<void>;
}

const MOST_WAITING = 2_000;
/** A quarter of what client-go's own recorder may send for each object, for the whole fleet. */
const PACE = { burst: 50, everyMs: 100 };
/** The same happening on the same object within this time is one Event that counts, as client-go has it. */
const SERIES_MS: Millis = 6 * 60_000;
const BACKOFF: BackoffOptions = { firstMs: 2_000, maxMs: 5 * 60_000, jitter: 0.3 };

interface Series {
  readonly name: string;
  readonly count: number;
  readonly at: Millis;
}

export function createEventPublisher(options: EventPublisherOptions): EventPublisher {
  const { kube, instance, mayWrite, clock, random, log, onOutcome } = options;
  const waiting: ClusterEvent[] = [];
  const series = new Map<string, Series>();
  const wakeUps = createWakeUps(clock);
  const pace = createTokenBucket(clock, PACE);
  let namespace = EVENTS_NAMESPACE;
  let faults = 0;
  const place = (): Place => ({ resource: EVENTS, namespace });

  async function write(occurrence: ClusterEvent, signal: AbortSignal): Promise<EventOutcome> {
    const key = seriesOf(occurrence);
    const now = clock.now();
    const last = series.get(key);
    forgetOld(series, now);
    if (last !== undefined && now - last.at <= SERIES_MS) {
      const next = { ...last, count: last.count + 1, at: now };
      const patch = { series: { count: next.count, lastObservedTime: toMicroTime(now) } };
      try {
        await kube.mergePatch(place(), last.name, patch, {}, signal);
        // Deleted first, so that the map stays in the order of the times.
        series.delete(key);
        series.set(key, next);
        return 'repeated';
      } catch (error) {
        // It went the way of all Events: a new one begins.
        if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
      }
    }
    const event = eventObject(occurrence, namespace, instance, now);
    try {
      await kube.create(place(), event, signal);
    } catch (error) {
      if (isKubeError(error, 'KUBE_ALREADY_EXISTS')) return 'known';
      if (namespace === OLDER_EVENTS_NAMESPACE || !belongsElsewhere(error)) throw error;
      namespace = OLDER_EVENTS_NAMESPACE;
      return write(occurrence, signal);
    }
    series.set(key, { name: event.metadata.name, count: 1, at: now });
    return 'created';
  }

  function dropUnsayable({ about: { kind, name }, reason }: ClusterEvent, err: unknown): void {
    log.error({ kind, name, happening: reason, err }, 'an Event cannot be made of it');
    onOutcome('dropped');
  }

  /** @returns how long to wait before the next one */
  async function next(occurrence: ClusterEvent, signal: AbortSignal): Promise<Millis> {
    try {
      onOutcome(await write(occurrence, signal));
      faults = 0;
      return 0;
    } catch (error) {
      if (signal.aborted) return 0;
      faults += 1;
      if (faults === 1) log.warn({ err: error }, 'Events cannot be written: trying again');
      // One that is refused for what it says would be refused forever, and all others behind it.
      if (isKubeError(error, 'KUBE_INVALID')) onOutcome('dropped');
      else if (isKubeError(error)) waiting.unshift(occurrence);
      else dropUnsayable(occurrence, error);
      return backoffDelay(faults, BACKOFF, random());
    }
  }

  return {
    publish(occurrences) {
      waiting.push(...occurrences);
      const tooMany = waiting.length - MOST_WAITING;
      if (tooMany > 0) {
        waiting.splice(0, tooMany);
        for (let dropped = 0; dropped < tooMany; dropped += 1) onOutcome('dropped');
      }
      if (occurrences.length > 0) wakeUps.poke();
    },
    async run(signal) {
      while (!signal.aborted) {
        const occurrence = mayWrite() ? waiting.shift() : undefined;
        if (occurrence === undefined) {
          await wakeUps.next(60_000, signal);
          continue;
        }
        await clock.sleep(pace.reserve(), signal);
        const waitMs = signal.aborted ? 0 : await next(occurrence, signal);
        if (waitMs > 0) await clock.sleep(waitMs, signal);
      }
    },
  };
}

/**
 * What is one Event that counts. An Event's note cannot be changed (k8s.io/kubernetes/pkg/apis/core/validation/events.go), so
 * an assignment by another commit is another series: the first one's note would name the wrong commit. So is what people and commits
 * do, and each class of machines without a config.
 */
const seriesOf = ({ about, reason, config, cause, note }: ClusterEvent): string =>
  `${about.uid} ${reason} ${config} ${BY_NOTE.has(reason) || isOfCommit(about, reason) ? note : (cause ?? '')}`;

/** Agents refuse a config as well, and say why in a word. */
const isOfCommit = ({ kind }: ClusterEvent['about'], happening: ClusterEvent['reason']): boolean =>
  happening === 'ConfigRefused' && kind !== 'Node';

const BY_NOTE: ReadonlySet<ClusterEvent['reason']> = new Set([
  'ConfigAssigned',
  'ClassHeld',
  'CommitInForce',
  'CommitRefused',
  'Suspended',
  'Resumed',
  'Released',
  'WaitsForApproval',
  'Approved',
]);

/** An API server before 1.23: Events of cluster-scoped objects are to be in its other namespace. */
const belongsElsewhere = (error: unknown): boolean =>
  isKubeError(error, 'KUBE_INVALID') && error.message.includes('does not match event.namespace');

function forgetOld(series: Map<string, Series>, now: Millis): void {
  for (const [key, { at }] of series) {
    if (now - at <= SERIES_MS) return;
    series.delete(key);
  }
}
