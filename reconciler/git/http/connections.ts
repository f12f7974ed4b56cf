import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError, UNTIL_OPERATOR } from '../errors.ts';

/** The kept connections to one repository's server. */
export interface Connections {
  /**
   * The agents to use now: the same as before unless the file of authorities changed.
   *
   * @throws GitError `GIT_CA_UNREADABLE`
   */
  current(): Promise<Agents>;
}

/** One a scheme, because a server may redirect from http to https. */
export interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

const KEPT = { keepAlive: true, maxFreeSockets: 2 };

/** @param caFile PEM certificates that are trusted instead of the well-known authorities */
export function createConnections(caFile: string | undefined): Connections {
  let present: { readonly ca: string | undefined; readonly agents: Agents } | undefined;
  return {
    async current() {
      const ca = caFile === undefined ? undefined : await readAuthorities(caFile);
      if (present !== undefined && present.ca === ca) return present.agents;
      present?.agents.http.destroy();
      present?.agents.https.destroy();
      const agents = {
        http: new HttpAgent(KEPT),
        https: new HttpsAgent({ ...KEPT, ...(ca === undefined ? {} : { ca }) }),
      };
      present = { ca, agents };
      return agents;
    },
  };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

async function readAuthorities(file: string): Promise<string> {
  try {
    const pem = await readFile(file, 'utf8');
    const certificates = pem.match(CERTIFICATE) ?? [];
    if (certificates.length === 0) throw new Error('no certificate in it');
    // Node takes garbage for an empty list, and then trusts nobody without saying why.
    for (const certificate of certificates) void new X509Certificate(certificate);
    return pem;
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'it is not there' : 'it is no readable PEM file of certificates';
    throw new GitError('GIT_CA_UNREADABLE', `the file of certificate authorities ${file} cannot be used: ${why}`, {
      disposition: UNTIL_OPERATOR,
      cause: error,
    });
  }
}
