import type { ProxySettings } from '#shared/http/proxy.ts';
import { createNotifier, type Notifier, type NotifierOptions } from './notifier.ts';
import { loadReceivers } from './receivers.ts';
import { createSendNotification } from './send-notification.ts';

interface NotifierSettings extends Omit<NotifierOptions, 'receivers' | 'send'> {
  readonly cluster: string;
  readonly proxy?: ProxySettings | undefined;
}

/** @throws GitopsError `NOTIFICATIONS_INVALID` */
export function connectNotifier(file: string, settings: NotifierSettings): Notifier {
  const { cluster, proxy, ...ports } = settings;
  const { receivers, runbooksUrl } = loadReceivers(file);
  const send = createSendNotification({ context: { cluster, runbooksUrl }, proxy, clock: ports.clock });
  return createNotifier({ ...ports, receivers, send });
}
