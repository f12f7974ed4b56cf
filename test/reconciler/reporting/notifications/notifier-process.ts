import { NotificationError } from '#reconciler/reporting/notifications/errors.ts';
import {
  createNotifier,
  type NotificationOutcome,
  type Notifier,
} from '#reconciler/reporting/notifications/notifier.ts';
import type { Receiver } from '#reconciler/reporting/notifications/receivers.ts';
import type { SendNotification } from '#reconciler/reporting/notifications/send-notification.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { halt, impact, NOW, pool, receiver, source } from './support.ts';

export const SECOND = 1_000;
/** What a receiver answers: nothing for all is well. */
export type Answer = NotificationError | 'hangs' | undefined;

export interface Process {
  readonly notifier: Notifier;
  /** `<receiver> <title>` */
  readonly sent: readonly string[];
  readonly outcomes: readonly string[];
  readonly changes: () => number;
  /** One pass that saves what it says. @returns the record */
  pass(record: string, pools: readonly KubeletPool[]): string;
  end(): Promise<void>;
}

export function begin(
  clock: ManualClock,
  receivers: readonly Receiver[],
  {
    answer = () => undefined,
    isLeader = () => true,
  }: { answer?: (name: string, title: string) => Answer; isLeader?: () => boolean } = {},
): Process {
  const sent: string[] = [];
  const outcomes: string[] = [];
  const hanging: (() => void)[] = [];
  let changes = 0;
  const send: SendNotification = async ({ name }, { notification }) => {
    const said = answer(name, notification.title);
    if (said === 'hangs') await new Promise<void>((resolve) => hanging.push(resolve));
    else if (said !== undefined) throw said;
    sent.push(`${name} ${notification.title}`);
  };
  const notifier = createNotifier({
    receivers,
    send,
    isLeader,
    clock,
    log: silentLog,
    random: () => 0,
    onOutcome: (name: string, outcome: NotificationOutcome) => outcomes.push(`${name} ${outcome}`),
    onChange: () => (changes += 1),
  });
  const stop = new AbortController();
  const running = notifier.run(stop.signal);
  return {
    notifier,
    sent,
    outcomes,
    changes: () => changes,
    pass(record, pools) {
      const next = notifier.next(record, { source: source(), pools, now: NOW, isRead: true }, () => true);
      notifier.saved(next);
      return next;
    },
    async end() {
      stop.abort();
      for (const over of hanging) over();
      await clock.advance(0);
      await running;
    },
  };
}

export const halted = (name: string, at = NOW): KubeletPool =>
  pool({ halt: halt({ at: toTimestamp(at) }), impact: impact('none') }, { name });
export const title = (name: string): string => `Pool ${name} is halted, and at rest`;
export const refusal = (code: NotificationError['code']): NotificationError => new NotificationError(code, 'no');
export const CHAT = receiver();
export const PAGER = receiver({ name: 'pager' });
