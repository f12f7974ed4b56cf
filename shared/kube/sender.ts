import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions } from 'node:https';
import { KEEP_ALIVE_OPTIONS, keepConnections } from '../http/keep-alive.ts';
import { sendRequest, type OutgoingRequest } from '../http/send-request.ts';
import { forwarded, tunnelThrough } from '../http/tunnel.ts';
import { isTrustFailure } from '../http/trust-failure.ts';
import type { Clock, Millis } from '../runtime/clock.ts';
import { reasonOf } from '../runtime/errors.ts';
import { type Lifetime, within } from '../runtime/lifetime.ts';
import { type Call, isRead, methodOf, pathOf, titleOf } from './kube-call.ts';
import { type Credential, type Credentials, sameCredential } from './kube-credentials.ts';
import { createSentSecrets } from './sent-secrets.ts';
import { isKubeError, KubeError } from './kube-error.ts';
import { throughProxy, timeoutError, unreachableError } from './unreachable.ts';

interface Timeouts {
  /** For the connection, TLS included. */
  readonly connectMs: Millis;
  /** For a whole call; for a watch, until its answer begins. */
  readonly callMs: Millis;
}

export const DEFAULT_TIMEOUTS: Timeouts = { connectMs: 10_000, callMs: 30_000 };

export interface SenderOptions {
  /** `https://10.96.0.1:443`, `http://127.0.0.1:8001`, with a path in front of the API's where there is one. */
  readonly server: string;
  readonly credentials: Credentials;
  /** What stands between: `http://[user:password@]host:port`, or https, or socks5. Default: nothing. */
  readonly proxy?: string | undefined;
  /** A kubeconfig's `disable-compression`: lists are not asked for packed. */
  readonly disableCompression?: boolean;
  readonly clock: Clock;
  /** `kubelet-gitops-agent/0.1.0`: shows in audit logs. */
  readonly userAgent: string;
  readonly timeouts?: Partial<Timeouts>;
  /** Objects say who wrote which field, and when. Default: they need not, which can halve them. */
  readonly managedFields?: boolean;
  /** Hears the server's `Warning` headers (deprecated versions, fields it does not know). */
  readonly onWarning?: (call: Call, warning: string) => void;
}

interface Sender {
  /** @throws KubeError where there is no answer; the lifetime's reason where that ends first */
  send(call: Call, life: Lifetime): Promise<IncomingMessage>;
  /** Takes out of a text whatever this sender showed in confidence: a proxy may echo what it was sent. */
  hide(text: string): string;
}

/**
 * Sends a call until there is an answer worth having. It is sent again at most once for each of: a connection that was
 * stale (reads only), a refused token or an untrusted certificate that a look at the credentials replaces.
 */
export function createSender(options: SenderOptions, timeouts: Timeouts): Sender {
  const { credentials, onWarning, managedFields = false, proxy } = options;
  const accept = managedFields ? JSON_ALONE : WITHOUT_MANAGED_FIELDS;
  const server = new URL(options.server);
  const target = new URL(server.origin);
  const byProxy = forwarded(proxy, target);
  const kept = keepConnections((tls: AgentOptions) => {
    const direct =
      server.protocol === 'https:' ? new HttpsAgent({ ...AGENT_OPTIONS, ...tls }) : new HttpAgent(AGENT_OPTIONS);
    // Only what was asked for and given up is left to end by itself.
    return { agent: proxy === undefined ? direct : tunnelThrough(direct, proxy, 2 * timeouts.connectMs) };
  });
  const shown = createSentSecrets();

  const currentCredential = async (call: Call, life: Lifetime): Promise<Credential> => {
    try {
      return shown.note(await within(life.signal, credentials.current()));
    } catch (error) {
      if (isKubeError(life.signal.reason, 'KUBE_TIMEOUT')) throw timeoutError(call, NO_CREDENTIAL, timeouts.callMs);
      if (life.signal.aborted) throw life.signal.reason;
      throw credentialError(call, error);
    }
  };

  const attempt = async (call: Call, credential: Credential, life: Lifetime): Promise<Sent> => {
    const outgoing: OutgoingRequest = {
      method: methodOf(call),
      url: target,
      path: byProxy.origin + server.pathname.replace(/\/$/, '') + pathOf(call),
      headers: { accept, ...headersOf(call, credential, options), ...byProxy.headers },
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      over: kept(tlsOf(credential)),
      repeatable: isRead(call),
      connect: {
        ms: timeouts.connectMs,
        reason: () => timeoutError(call, `no connection to ${server.host}${throughProxy(proxy)}`, timeouts.connectMs),
      },
    };
    try {
      return { response: await sendRequest(outgoing, life) };
    } catch (error) {
      if (life.signal.aborted) throw error;
      return { error };
    }
  };

  async function send(call: Call, life: Lifetime): Promise<IncomingMessage> {
    const credential = await currentCredential(call, life);
    let sent = await attempt(call, credential, life);
    if (isRefusedCredential(sent)) {
      credentials.refresh();
      const renewed = await currentCredential(call, life);
      if (!sameCredential(credential, renewed)) {
        sent.response?.destroy();
        sent = await attempt(call, renewed, life);
      }
    }
    if (sent.response === undefined) throw unreachableError(call, server, proxy, sent.error);
    for (const warning of warningsOf(sent.response)) onWarning?.(call, shown.hide(warning));
    return sent.response;
  }
  return { send, hide: shown.hide };
}

/** The API server was not even asked. */
const NO_CREDENTIAL = 'no credential from where it comes from (a plugin, a file, an identity provider)';

/** An answer, or why there is none. */
interface Sent {
  readonly response?: IncomingMessage;
  readonly error?: unknown;
}

const isRefusedCredential = (sent: Sent): boolean =>
  sent.response === undefined ? isTrustFailure(sent.error) : sent.response.statusCode === 401;

/** An idle connection is closed after 45 s: before API servers (90 s) and load balancers (60 s) would. */
const AGENT_OPTIONS = { ...KEEP_ALIVE_OPTIONS, timeout: 45_000 };

/** Tokens and headers travel by request; a connection is made with the rest. */
const tlsOf = ({ ca, cert, key, serverName, insecure }: Credential): AgentOptions => ({
  ca,
  cert,
  key,
  servername: serverName,
  rejectUnauthorized: insecure !== true,
});

const JSON_ALONE = 'application/json';
/** KEP-5958 (1.38, gate ManagedFieldsOptOut), in watches too; servers that do not know the parameter pass over it. */
const WITHOUT_MANAGED_FIELDS = 'application/json;drop=metadata.managedFields, application/json;q=0.9';

function headersOf(
  call: Call,
  { token, headers = {} }: Credential,
  { userAgent, disableCompression = false }: SenderOptions,
): OutgoingRequest['headers'] {
  return {
    'user-agent': userAgent,
    // API servers pack what is longer than 128 KiB (APIResponseCompression), and never a watch.
    ...(call.verb === 'list' && !disableCompression ? { 'accept-encoding': 'gzip' } : {}),
    ...(call.body === undefined ? {} : { 'content-type': contentTypeOf(call) }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
  };
}

function contentTypeOf({ verb, strategic }: Call): string {
  if (verb !== 'patch') return 'application/json';
  return strategic === true ? 'application/strategic-merge-patch+json' : 'application/merge-patch+json';
}

const LONGEST_WARNINGS = 4_096;

/** The text of each `Warning: 299 - "text"`, RFC 7234 5.5. */
function warningsOf(response: IncomingMessage): readonly string[] {
  const header = response.headers['warning'];
  const all = typeof header === 'string' ? header.slice(0, LONGEST_WARNINGS) : '';
  return [...all.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => (text ?? '').replaceAll(/\\(.)/g, '$1'));
}

function credentialError(call: Call, cause: unknown): KubeError {
  return new KubeError('KUBE_UNAUTHORIZED', `cannot ${titleOf(call)}: there is no credential (${reasonOf(cause)})`, {
    cause,
  });
}
