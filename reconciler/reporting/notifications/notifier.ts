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
/** So often a receiver is tried with one message before others pass it: by then a chat says of each when it was. */
const PATIENCE = 6;
/** Not broken off at the end of the program: whether it arrived would be unknown, and it would be told twice. */
const NEVER = new AbortController().signal;

/** What waits for one receiver, one after the other. */
interface Line {
  readonly receiver: Receiver;
  readonly wakeUps: ReturnType<typeof createWakeUps>;
  /** How often in a row it took nothing. */
  faults: number;
  /** How many it has taken. */
  count: number;
  /** By id, how often it failed at a message, and how many others it had taken when it first did. */
  readonly strikes: Map<string, { times: number; readonly count: number }>;
}

export function createNotifier(options: NotifierOptions): Notifier {
  const { receivers, send, isLeader, clock, log, random, onOutcome, onChange } = options;
  /** As it was saved. */
  let owed: readonly Owed[] = [];
  /** Who has taken what, until the saved record says so. */
  const taken = new Map<string, Set<string>>();
  const lines = receivers.map((receiver): Line => {
    return { receiver, wakeUps: createWakeUps(clock), faults: 0, count: 0, strikes: new Map() };
  });
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

  /** The oldest, but for those that were tried in vain; and each in its turn once nothing seems to get through. */
  function nextFor({ receiver, strikes, faults }: Line): Owed | undefined {
    const rounds = ({ id }: Owed): number =>
      Math.floor((strikes.get(id)?.times ?? 0) / (faults < PATIENCE ? PATIENCE : 1));
    const [oldest, ...others] = owedTo(receiver);
    return oldest && others.reduce((best, each) => (rounds(each) < rounds(best) ? each : best), oldest);
  }

  /** @returns why it has to be tried again; null where it has not */
  async function tell(line: Line, message: Owed): Promise<unknown> {
    const { receiver, strikes } = line;
    const { name } = receiver;
    const about = {
      receiver: name,
      kind: message.notification.kind,
      pools: message.notification.pools,
      id: message.id,
    };
    try {
      await send(receiver, message, NEVER);
      log.info(about, 'notification sent');
      onOutcome(name, 'sent');
      line.count += 1;
      // What was in vain while the receiver was down is in order again. What still is gets one more try before others pass it.
      for (const strike of strikes.values()) strike.times = Math.min(strike.times, PATIENCE - 1);
    } catch (error) {
      const isRefused = isNotificationError(error, 'NOTIFICATION_REFUSED');
      const strike = strikes.get(message.id) ?? { times: 0, count: line.count };
      strikes.set(message.id, strike);
      strike.times += isRefused ? PATIENCE : 1;
      if (!isRefused || strike.count === line.count) {
        onOutcome(name, 'failed');
        if (line.faults === 0)
          log.warn({ ...about, code: codeOf(error), err: error }, 'notification could not be sent');
        enter(receiver, reasonOf(error));
        return error;
      }
      // It takes others, and would never take this one.
      log.warn({ ...about, err: error }, 'notification refused');
      onOutcome(name, 'refused');
    }
    take(message, receiver);
    enter(receiver, null);
    return null;
  }

  /** One after the other: whoever is slow keeps nobody else waiting. */
  async function serve(line: Line, signal: AbortSignal): Promise<void> {
    const { wakeUps } = line;
    const pace = createTokenBucket(clock, PACE);
    while (!signal.aborted) {
      if (nextFor(line) === undefined || !isLeader()) {
        await wakeUps.next(IDLE_MS, signal);
        continue;
      }
      await clock.sleep(pace.reserve(), signal);
      const message = nextFor(line);
      if (signal.aborted || message === undefined || !isLeader()) continue;
      const error = await tell(line, message);
      line.faults = error === null ? 0 : line.faults + 1;
      if (error === null) continue;
      const askedMs = askedToWaitMs(error) ?? 0;
      const waitMs = backoffDelay(line.faults, BACKOFF, random());
      if (askedMs > 0) await clock.sleep(Math.max(askedMs, waitMs), signal);
      else await wakeUps.next(waitMs, signal);
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
      const before = new Set(owed.map(({ id }) => id));
      owed = readTold(record)?.owed ?? [];
      const left = new Set(owed.map(({ id }) => id));
      for (const { receiver, wakeUps, faults, strikes } of lines) {
        for (const ids of [taken, strikes]) for (const id of ids.keys()) if (!left.has(id)) ids.delete(id);
        // News does not wait for what is tried ever more rarely; a mere pass hurries nothing.
        if (owedTo(receiver).some(({ id }) => faults === 0 || !before.has(id))) wakeUps.poke();
      }
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
