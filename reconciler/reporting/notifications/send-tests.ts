import { randomUUID } from 'node:crypto';
import type { ProxySettings } from '#shared/http/proxy.ts';
import { type Clock, toTimestamp } from '#shared/runtime/clock.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import { runbookOf } from '../../policy/runbook.ts';
import type { Notification } from './notification.ts';
import type { Receiver, Receivers } from './receivers.ts';
import { createSendNotification } from './send-notification.ts';

interface TestSettings {
  readonly cluster: string;
  readonly proxy: ProxySettings;
  readonly clock: Pick<Clock, 'now'>;
}

/** What became of a test message. */
export interface Tested {
  readonly isSent: boolean;
  /** For people. */
  readonly line: string;
}

/** Sends each receiver, whatever it asked for, a message that says it is a test. In their order. */
export async function sendTests(
  { receivers, runbooksUrl }: Receivers,
  { cluster, proxy, clock }: TestSettings,
): Promise<readonly Tested[]> {
  const send = createSendNotification({ context: { cluster, runbooksUrl }, proxy, clock });
  const { signal } = new AbortController();
  return Promise.all(
    receivers.map(async (receiver) => {
      const { name } = receiver;
      const owed = { id: randomUUID(), to: [name], notification: testOf(receiver, toTimestamp(clock.now())) };
      try {
        await send(receiver, owed, signal);
        return { isSent: true, line: `${name}: sent` };
      } catch (error) {
        return { isSent: false, line: `${name}: ${codeOf(error)}: ${reasonOf(error)}` };
      }
    }),
  );
}

const testOf = (receiver: Receiver, at: string): Notification => ({
  kind: 'test',
  severity: 'info',
  pools: [],
  morePools: 0,
  title: 'This is a test',
  lines: [
    `kubelet-gitops reaches the receiver ${receiver.name}; nothing has happened`,
    `it hears of ${asked(receiver)}`,
  ],
  runbook: runbookOf('NotificationsNotSent'),
  at,
});

const asked = ({ kinds, severity, pools }: Receiver): string =>
  [
    kinds === undefined ? 'everything' : listed(kinds),
    ...(severity === 'info' ? [] : [`from ${severity} on`]),
    ...(pools === undefined ? [] : [`of pools named ${listed(pools)}`]),
  ].join(', ');

const listed = (words: readonly string[]): string => new Intl.ListFormat('en-GB').format(words);
