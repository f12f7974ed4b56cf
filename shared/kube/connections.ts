import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type Credential, sameConnection } from './credentials.ts';

/** Probes of the operating system that notice a peer which went away without a word, on a quiet watch above all. */
export const TCP_KEEP_ALIVE_MS = 30_000;

/** An idle connection is closed after this: before API servers (90 s) and load balancers (60 s) would. */
const IDLE_MS = 45_000;

/** Keeps connections to one server, of one credential at a time. */
export interface Connections {
  /** The agent for this credential: the same as before unless certificates or authorities changed. */
  agentFor(credential: Credential): HttpAgent;
}

export function createConnections(server: URL): Connections {
  let present: { readonly credential: Credential; readonly agent: HttpAgent } | undefined;
  return {
    agentFor(credential) {
      if (credential.agent !== undefined) return credential.agent;
      if (present !== undefined && sameConnection(present.credential, credential)) return present.agent;
      if (present !== undefined) retire(present.agent);
      present = { credential, agent: createAgent(server, credential) };
      return present.agent;
    },
  };
}

function createAgent(server: URL, { ca, cert, key, serverName, insecure }: Credential): HttpAgent {
  const kept = { keepAlive: true, keepAliveMsecs: TCP_KEEP_ALIVE_MS, timeout: IDLE_MS, maxFreeSockets: 4 };
  if (server.protocol === 'http:') return new HttpAgent(kept);
  return new HttpsAgent({
    ...kept,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(insecure === true ? { rejectUnauthorized: false } : {}),
  });
}

/** Idle connections end now; those in use when their answer is complete. */
function retire(agent: HttpAgent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}
