import { sendAndCollect } from '#shared/http/body.ts';
import { retryAfterMs } from '#shared/http/retry-after.ts';
import { describeProxy, type ProxySettings, proxiesFor, proxyFor } from '#shared/http/proxy.ts';
import { certificateFault, isTrustFailure } from '#shared/http/trust-failure.ts';
import { TunnelRefused } from '#shared/http/tunnel-refused.ts';
import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';
import { withLifetime } from '#shared/runtime/lifetime.ts';
import { VERSION } from '#shared/runtime/version.ts';
import { type ConnectionAgents, createConnectionAgents } from '../../git/http/connection-agents.ts';
import { signBody } from '../../git/webhook/webhook-signature.ts';
import { CLOUD_EVENT_TYPE, cloudEvent } from './cloud-event.ts';
import { NotificationError, type NotificationErrorCode } from './errors.ts';
import type { MessageContext } from './message.ts';
import { readAddress, readKey } from './receiver-secrets.ts';
import type { Receiver } from './receivers.ts';
import { slackMessage } from './slack-message.ts';
import type { Owed } from './told-record.ts';

/** Sends one message to one receiver. @throws NotificationError */
export type SendNotification = (receiver: Receiver, owed: Owed, signal: AbortSignal) => Promise<void>;

interface SendOptions {
  readonly context: MessageContext;
  readonly proxy?: ProxySettings | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** How long a receiver may take for a whole answer. */
  readonly timeoutMs?: Millis;
}

/** Nobody reads what a receiver says besides its status. */
const LONGEST_ANSWER = 64 * 1024;
const LONGEST_WAIT_MS: Millis = 60 * 60_000;

export function createSendNotification({ context, proxy, clock, timeoutMs = 10_000 }: SendOptions): SendNotification {
  const kept = new Map<string, ConnectionAgents>();

  /** Connections of one receiver, for the origin that it has now: which proxy stands before it depends on that. */
  function connectionsTo({ name, caFile }: Receiver, url: URL): ConnectionAgents {
    const key = `${name} ${url.origin}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    for (const other of kept.keys()) if (other.startsWith(`${name} `)) kept.delete(other);
    const made = createConnectionAgents(caFile, proxy === undefined ? undefined : proxiesFor(proxy, url));
    kept.set(key, made);
    return made;
  }

  return async (receiver, owed, signal) => {
    const [url, key] = await Promise.all([readAddress(receiver), readKey(receiver)]);
    const between = proxy === undefined ? undefined : describeProxy(proxyFor(proxy, url));
    const from = `${shown(receiver, url)}${between === undefined ? '' : ` through the proxy ${between}`}`;
    const failed = (why: string): NotificationError =>
      new NotificationError('NOTIFICATION_UNREACHABLE', `no answer from ${from} (${why})`);
    const { headers, body } = messageFor(receiver, owed, context, key, clock.now());
    const limits = {
      // Sockets take real time, whatever clock the rounds use.
      clock: systemClock,
      parent: signal,
      onParent: () => failed('called off'),
      ms: timeoutMs,
      reason: () => failed(`no complete answer within ${timeoutMs / 1000} s`),
    };
    const bounds = { maxBytes: LONGEST_ANSWER, tooLong: () => failed('its answer does not come to an end') };
    try {
      const way = await connectionsTo(receiver, url).current();
      const over = { agent: (url.protocol === 'https:' ? way.https : way.http).agent };
      // What arrives twice has the same id; a connection that was closed meanwhile must not count as a fault.
      const outgoing = { method: 'POST', url, headers, body, over, repeatable: true };
      const answer = await withLifetime(limits, (life) => sendAndCollect(outgoing, life, bounds));
      const { status } = answer;
      // Of the proxy: the receiver has not seen the message.
      if (status === 407) throw failed('status 407');
      if (status < 200 || status > 299)
        throw refusal(receiver, url, status, answer.headers['retry-after'], clock.now());
    } catch (error) {
      throw error instanceof NotificationError ? error : asNotificationError(error, receiver, failed);
    }
  };
}

/** The host alone: the rest of the address is a secret. */
const shown = ({ name }: Receiver, { host }: URL): string => `the receiver ${name} at ${host}`;

function asNotificationError(
  error: unknown,
  { name, caFile }: Receiver,
  failed: (why: string) => NotificationError,
): NotificationError {
  if (error instanceof GitopsError && error.code === 'GIT_CA_UNREADABLE') {
    const why = `the caFile ${caFile} of the receiver ${name} is not a readable PEM file of certificates`;
    return new NotificationError('NOTIFICATION_SECRET_UNUSABLE', why);
  }
  if (isTrustFailure(error)) {
    const missing = caFile === undefined ? 'name its authority in caFile' : 'it is not in caFile';
    const { is, help } = certificateFault(error, missing);
    return failed(`its certificate is ${is}, ${codeOf(error)}: ${help}`);
  }
  return failed(error instanceof TunnelRefused ? error.answer : (codeOf(error) ?? 'no reason given'));
}

interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function messageFor(
  { type }: Receiver,
  { id, notification }: Owed,
  context: MessageContext,
  key: string | null,
  now: Millis,
): Message {
  const agent = { 'user-agent': `kubelet-gitops/${VERSION}` };
  if (type === 'slack') {
    const body = JSON.stringify(slackMessage(notification, context, now));
    return { headers: { ...agent, 'content-type': 'application/json' }, body };
  }
  const body = JSON.stringify(cloudEvent(id, notification, context));
  const time = String(Math.floor(now / 1000));
  const signature =
    key === null
      ? {}
      : {
          'x-kubelet-gitops-timestamp': time,
          'x-kubelet-gitops-signature': signBody(key, time, Buffer.from(body, 'utf8')),
        };
  return { headers: { ...agent, 'content-type': CLOUD_EVENT_TYPE, ...signature }, body };
}

function refusal(
  receiver: Receiver,
  url: URL,
  status: number,
  retryAfter: string | undefined,
  now: Millis,
): NotificationError {
  const [code, why] = meaningOf(status);
  const message = `${shown(receiver, url)} ${why} (status ${status})`;
  const waitMs = retryAfterMs(retryAfter, now);
  if (waitMs === undefined) return new NotificationError(code, message);
  return new NotificationError(code, message, { disposition: { kind: 'wait', ms: Math.min(waitMs, LONGEST_WAIT_MS) } });
}

/** Another address or key gets the message through: 405 and 421 say that nobody takes any here, 414 and 431 that it is too long. */
const ABOUT_THE_ADDRESS = [401, 403, 404, 405, 410, 414, 421, 431];

function meaningOf(status: number): readonly [code: NotificationErrorCode, why: string] {
  if (status === 429) return ['NOTIFICATION_THROTTLED', 'asks for fewer messages'];
  if (status >= 500 || status === 408) return ['NOTIFICATION_SERVER_ERROR', 'failed'];
  if (ABOUT_THE_ADDRESS.includes(status))
    return ['NOTIFICATION_UNAUTHORIZED', 'does not know this address, or this key'];
  if (status >= 300 && status <= 399) return ['NOTIFICATION_MOVED', 'points elsewhere, which is not followed'];
  return ['NOTIFICATION_REFUSED', 'does not take this message'];
}
