import { Agent } from 'node:https';
import { TLSSocket } from 'node:tls';
import { chunksOf, collectBody } from '#shared/http/body.ts';
import { sendRequest } from '#shared/http/send-request.ts';
import { isTrustFailure } from '#shared/http/trust-failure.ts';
import type { Credential } from '#shared/kube/kube-credentials.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { NODES } from '#shared/kube/kube.ts';
import type { Transport } from '#shared/kube/transport.ts';
import { type Clock, type Millis } from '#shared/runtime/clock.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { withLifetime } from '#shared/runtime/lifetime.ts';
import type { UnseenNodes } from '../audit-report.ts';

export type KubeletPath = 'configz' | 'stats/summary';

export interface KubeletAnswer {
  readonly body: unknown;
  /** When the certificate ends that it served with; absent where that is not seen. */
  readonly certificateEnds?: Millis;
}

/** A way to kubelets. */
export interface Kubelets {
  readonly from: 'cluster' | 'direct';
  readonly mostAtOnce: number;
  /** @throws NotSeen */
  ask(node: string, path: KubeletPath): Promise<KubeletAnswer>;
}

/** Why a kubelet said nothing. */
export class NotSeen extends Error {
  readonly reason: UnseenNodes['reason'];

  constructor(reason: UnseenNodes['reason'], because: string) {
    super(because);
    this.reason = reason;
  }
}

/** A kubelet that is there answers in milliseconds; the API server would wait twice as long for one that is not. */
const PATIENCE_MS: Millis = 15_000;
const MOST_BYTES = 8 * 1024 * 1024;
const SECONDS = `${PATIENCE_MS / 1000} s`;

/** Through the API server: the right is nodes/proxy, whatever is asked. */
export function proxiedKubelets(transport: Transport): Kubelets {
  return {
    from: 'cluster',
    mostAtOnce: 16,
    async ask(name, path) {
      const call = {
        verb: 'get',
        resource: NODES,
        name,
        subresource: `proxy/${path}`,
        ...(path === 'stats/summary' ? { query: { only_cpu_and_memory: 'true' } } : {}),
      } as const;
      try {
        const answer = await transport.ask(call, MOST_BYTES, AbortSignal.timeout(PATIENCE_MS));
        if (!answer.ok) throw answer.error;
        return { body: answer.body };
      } catch (error) {
        throw proxyFailure(error);
      }
    },
  };
}

/** In words of ours: the API server's would ask for nodes/proxy, and name each node. */
function proxyFailure(error: unknown): NotSeen {
  if (isKubeError(error, 'KUBE_FORBIDDEN'))
    return new NotSeen('forbidden', 'the API server does not pass the question on');
  if (isKubeError(error, 'KUBE_UNAUTHORIZED'))
    return new NotSeen('forbidden', 'the API server does not take the credential');
  if (isKubeError(error, 'KUBE_ABORTED', 'KUBE_TIMEOUT'))
    return new NotSeen('no-answer', `no answer through the API server within ${SECONDS}`);
  if (isKubeError(error, 'KUBE_THROTTLED'))
    return new NotSeen('no-answer', 'the API server has too much to do (HTTP 429)');
  if (isKubeError(error, 'KUBE_UNREACHABLE')) return new NotSeen('no-answer', 'the API server does not answer');
  if (isKubeError(error, 'KUBE_SERVER_ERROR'))
    return new NotSeen('no-answer', `the API server does not reach the kubelet (HTTP ${error.status})`);
  const status =
    isKubeError(error) && error.status !== 0 ? `HTTP ${error.status}` : 'an answer that is not JSON, or too long';
  return new NotSeen('unreadable', `the kubelet does not say it: ${status}`);
}

/** Where a kubelet listens. */
export interface KubeletAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * On the kubelets' own port, over TLS. Whoever has no certificate of the cluster's authority for the address is shown nothing.
 *
 * @throws GitopsError `DIRECT_UNSAFE` without an authority or a credential of its own
 */
export function directKubelets(
  addresses: ReadonlyMap<string, KubeletAddress>,
  { ca, token, cert, key, insecure }: Credential,
  clock: Clock,
): Kubelets {
  if (ca === undefined || insecure === true)
    throw new GitopsError(
      'DIRECT_UNSAFE',
      '--direct needs the cluster’s authority, and the kubeconfig names none (certificate-authority) or checks no certificate',
    );
  if (token === undefined && cert === undefined)
    throw new GitopsError('DIRECT_UNSAFE', '--direct needs a token or a client certificate in the kubeconfig');
  const agent = new Agent({ ca, cert, key, rejectUnauthorized: true, keepAlive: false });
  const headers = { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  return {
    from: 'direct',
    mostAtOnce: 32,
    async ask(name, path) {
      const at = addresses.get(name);
      if (at === undefined) throw new NotSeen('no-answer', 'its Node names no address and port of the kubelet');
      const host = at.host.includes(':') ? `[${at.host}]` : at.host;
      const query = path === 'stats/summary' ? '?only_cpu_and_memory=true' : '';
      const url = new URL(`https://${host}:${at.port}/${path}${query}`);
      const silent = (): NotSeen => new NotSeen('no-answer', `the kubelet’s port does not answer within ${SECONDS}`);
      try {
        return await withLifetime(
          { clock, parent: undefined, onParent: silent, ms: PATIENCE_MS, reason: silent },
          async (life) => {
            const response = await sendRequest({ method: 'GET', url, headers, over: { agent } }, life);
            const { socket, statusCode = 0 } = response;
            const end = socket instanceof TLSSocket ? Date.parse(socket.getPeerCertificate().valid_to) : NaN;
            const tooLong = (): NotSeen => new NotSeen('unreadable', `the answer is longer than ${MOST_BYTES} bytes`);
            const body = await collectBody(chunksOf(response, life), { maxBytes: MOST_BYTES, tooLong });
            if (statusCode === 401) throw new NotSeen('forbidden', 'the kubelet does not take the credential');
            if (statusCode === 403) throw new NotSeen('forbidden', 'the kubelet does not answer this user');
            if (statusCode !== 200) throw new NotSeen('unreadable', `the kubelet does not say it: HTTP ${statusCode}`);
            const certificateEnds = Number.isNaN(end) ? {} : { certificateEnds: end };
            return { body: JSON.parse(body.toString('utf8')) as unknown, ...certificateEnds };
          },
        );
      } catch (error) {
        throw directFailure(error);
      }
    },
  };
}

function directFailure(error: unknown): NotSeen {
  if (error instanceof NotSeen) return error;
  if (error instanceof SyntaxError) return new NotSeen('unreadable', 'the kubelet’s answer is not JSON');
  return isTrustFailure(error)
    ? new NotSeen('untrusted', 'the kubelet’s certificate is not from the cluster’s authority, or for another address')
    : new NotSeen('no-answer', 'the kubelet’s port cannot be reached');
}
