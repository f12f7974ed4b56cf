import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent } from 'node:https';
import { KEEP_ALIVE_OPTIONS, keepConnections } from '#shared/http/keep-alive.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { certificatesIn } from '#shared/runtime/pem.ts';
import type { ClientCertificate } from '../git-credentials.ts';
import { GitError } from '../errors.ts';
import { DEFAULT_GIT_LIMITS } from '../git-limits.ts';
import { NO_PROXY, type Proxies, describeProxy } from '#shared/http/proxy.ts';
import { tunnelThrough } from '#shared/http/tunnel.ts';

/** The kept connections to one repository's server. */
export interface ConnectionAgents {
  /**
   * The agents to use now: the same as before unless the file of authorities or the certificate changed.
   *
   * @param certificate for a server that asks for one
   * @throws GitError `GIT_CA_UNREADABLE`
   */
  current(certificate?: ClientCertificate | null): Promise<ProxyAgents>;
}

/** By scheme, because a server may redirect from http to https. */
export interface ProxyAgents {
  readonly http: ProxiedAgent;
  readonly https: ProxiedAgent;
}

interface ProxiedAgent {
  readonly agent: HttpAgent;
  /** What stands between, for messages: `proxy.example.com:3128`. */
  readonly proxy: string | undefined;
}

const AGENT_OPTIONS = { ...KEEP_ALIVE_OPTIONS, maxFreeSockets: 2 };

/**
 * @param caFile  PEM certificates that are trusted instead of the well-known authorities
 * @param openMs  how long a proxy may take to open a tunnel
 * @param proxies that stand before the server. Of https they see the host's name alone: what is said goes through a tunnel.
 */
export function createConnectionAgents(
  caFile: string | undefined,
  proxies: Proxies = NO_PROXY,
  openMs: Millis = DEFAULT_GIT_LIMITS.connectMs,
): ConnectionAgents {
  const kept = keepConnections((tls: AgentOptions) => {
    const direct = new HttpsAgent({ ...AGENT_OPTIONS, ...tls });
    return {
      http: httpAgent(proxies.http, openMs),
      https: proxies.https === undefined ? direct : tunnelThrough(direct, proxies.https, openMs),
    };
  });
  return {
    async current(certificate = null) {
      const ca = caFile === undefined ? undefined : await readAuthorities(caFile);
      const { http, https } = kept({ ...certificate, ca });
      return {
        http: { agent: http, proxy: describeProxy(proxies.http) },
        https: { agent: https, proxy: describeProxy(proxies.https) },
      };
    },
  };
}

/** Nothing of this process's own environment counts, which may name proxies for something else. */
const httpAgent = (proxy: string | undefined, openMs: Millis): HttpAgent =>
  proxy?.startsWith('socks') === true
    ? tunnelThrough(new HttpAgent(AGENT_OPTIONS), proxy, openMs)
    : new HttpAgent({ ...AGENT_OPTIONS, proxyEnv: { HTTP_PROXY: proxy } });

async function readAuthorities(file: string): Promise<string> {
  try {
    const pem = await readFile(file, 'utf8');
    const certificates = certificatesIn(pem);
    if (certificates.length === 0) throw new Error('no certificate in it');
    // Node takes garbage for an empty list, and then trusts no server without saying why.
    for (const certificate of certificates) void new X509Certificate(certificate);
    return pem;
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'it is not there' : 'it is not a readable PEM file of certificates';
    throw new GitError('GIT_CA_UNREADABLE', `the file of certificate authorities ${file} cannot be used: ${why}`, {
      cause: error,
    });
  }
}
