import { askedToWaitMs } from '#shared/kube/kube-error.ts';
import { type BackoffOptions, backoffDelay } from '#shared/runtime/backoff.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';
import { createTokenBucket } from '../../http-server/token-bucket.ts';
import { isNotificationError } from './errors.ts';
import { occurrencesOf, placesOver, type Seen } from './occurrences.ts';
import type { Receiver } from './receivers.ts';
import type { SendNotification } from './send-notification.ts';
import { nextTold, type Owed, readTold, writeTold } from './told-record.ts';

/** What became of a message to one receiver. `refused`: it does not take this one. `dropped`: too many waited. */
export type NotificationOutcome = 'sent' | 'failed' | 'refused' | 'dropped';

/** How one receiver fares. */
export interface ReceiverState {
  readonly name: string;
  readonly waiting: number;
  /** Why nothing reaches it; null while it takes what it is sent. */
  readonly failure: string | null;
}

/**
 * Tells receivers what the record says that they are owed. Never in the way of anything else.
 *
 * A pass asks for the next record, saves it, and says so; only then is anything sent. So nobody but the leader, whose write the API server
 * took, tells; and what a process ends over is told by the next.
 */
export interface Notifier {
  /** The record as it is to be after a pass: with what is news, without what receivers have taken. */
  next(recorded: string, seen: Seen, isPool: (name: string) => boolean): string;
  /** The same without what is news: for the last write of a process that ends. */
  atEnd(recorded: string): string;
  /** This record stands in the cluster. */
  saved(record: string): void;
  /** In words of the record: `on`, or `off: <reason>`. */
  state(): string;
  receivers(): readonly ReceiverState[];
  run(signal: AbortSignal): Promise<void>;
}

export interface NotifierOptions {
  readonly receivers: readonly Receiver[];
  readonly send: SendNotification;
  readonly isLeader: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly onOutcome: (receiver: string, outcome: NotificationOutcome) => void;
  /** Hears when a receiver has taken something, or `state()` changed. */
  readonly onChange: () => void;
}

const BACKOFF: BackoffOptions = { firstMs: 5_000, maxMs: 10 * 60_000, jitter: 0.2 };
/** Slack takes one message a second for each webhook, and short bursts (docs.slack.dev: rate limits). */
const PACE = { burst: 3, everyMs: 1_000 };
const IDLE_MS: Millis = 10 * 60_000;
/** Not broken off at the end of the program: whether it arrived would be unknown, and it would be told twice. */
const NEVER = new AbortController().signal;

export function createNotifier(options: NotifierOptions): Notifier {
  const { receivers, send, isLeader, clock, log, random, onOutcome, onChange } = options;
  /** As it was saved. */
  let owed: readonly Owed[] = [];
  /** Who has taken what, until the saved record says so. */
  const taken = new Map<string, Set<string>>();
  const lines = receivers.map((receiver) => ({ receiver, wakeUps: createWakeUps(clock) }));
  const failures = new Map<string, string>();

  const owedTo = ({ name }: Receiver): readonly Owed[] =>
    owed.filter(({ id, to }) => to.includes(name) && taken.get(id)?.has(name) !== true);

  function take({ id }: Owed, { name }: Receiver): void {
    taken.set(id, (taken.get(id) ?? new Set()).add(name));
    onChange();
  }

  function enter({ name }: Receiver, failure: string | null): void {
    const before = failures.get(name);
    if (failure === null) failures.delete(name);
    else failures.set(name, failure);
    if ((before === undefined) !== (failure === null)) onChange();
  }

  /** @returns how long to stay away */
  async function tell(receiver: Receiver, message: Owed, faults: number): Promise<Millis> {
    const { name } = receiver;
    const { kind, pools } = message.notification;
    try {
      await send(receiver, message, NEVER);
      log.info({ receiver: name, kind, pools, id: message.id }, 'notification sent');
      onOutcome(name, 'sent');
    } catch (error) {
      if (!isNotificationError(error, 'NOTIFICATION_REFUSED')) {
        onOutcome(name, 'failed');
        if (faults === 0)
          log.warn({ receiver: name, code: codeOf(error), err: error }, 'notification could not be sent');
        enter(receiver, reasonOf(error));
        return Math.max(askedToWaitMs(error) ?? 0, backoffDelay(faults + 1, BACKOFF, random()));
      }
      // What it does not take now it would never take, and all others would wait behind it.
      log.warn({ receiver: name, kind, pools, id: message.id, err: error }, 'notification refused');
      onOutcome(name, 'refused');
    }
    take(message, receiver);
    enter(receiver, null);
    return 0;
  }

  /** One after the other: whoever is slow keeps nobody else waiting. */
  async function serve({ receiver, wakeUps }: (typeof lines)[number], signal: AbortSignal): Promise<void> {
    const pace = createTokenBucket(clock, PACE);
    let faults = 0;
    while (!signal.aborted) {
      if (owedTo(receiver).length === 0 || !isLeader()) {
        await wakeUps.next(IDLE_MS, signal);
        continue;
      }
      await clock.sleep(pace.reserve(), signal);
      const [message] = owedTo(receiver);
      if (signal.aborted || message === undefined || !isLeader()) continue;
      const waitMs = await tell(receiver, message, faults);
      faults = waitMs === 0 ? 0 : faults + 1;
      if (waitMs > 0) await clock.sleep(waitMs, signal);
    }
  }

  return {
    next(recorded, seen, isPool) {
      const look = { occurrences: occurrencesOf(seen), over: placesOver(seen), receivers, taken, isPool };
      const { record, dropped } = nextTold({ before: readTold(recorded), ...look });
      for (const name of dropped) onOutcome(name, 'dropped');
      if (dropped.length > 0)
        log.warn({ receivers: dropped }, 'too many notifications wait: the mildest were given up');
      return writeTold(record);
    },
    atEnd(recorded) {
      const before = readTold(recorded);
      if (before === null) return recorded;
      return writeTold(nextTold({ before, occurrences: [], receivers, taken, isPool: () => true }).record);
    },
    saved(record) {
      owed = readTold(record)?.owed ?? [];
      const left = new Set(owed.map(({ id }) => id));
      for (const id of taken.keys()) if (!left.has(id)) taken.delete(id);
      for (const { receiver, wakeUps } of lines) if (owedTo(receiver).length > 0) wakeUps.poke();
    },
    state() {
      if (failures.size === 0) return 'on';
      return `off: ${[...failures].map(([name, why]) => `${name}: ${why}`).join('; ')}`;
    },
    receivers: () =>
      receivers.map((receiver) => ({
        name: receiver.name,
        waiting: owedTo(receiver).length,
        failure: failures.get(receiver.name) ?? null,
      })),
    async run(signal) {
      await Promise.all(lines.map((line) => serve(line, signal)));
    },
  };
}
