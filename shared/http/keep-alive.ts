import type { Agent } from 'node:http';
import { isDeepStrictEqual } from 'node:util';

/** When the operating system starts to probe a silent peer: on a quiet watch, nothing else notices that it is gone. */
export const TCP_KEEP_ALIVE_MS = 30_000;

/** Options of an agent that keeps its connections. */
export const KEEP_ALIVE_OPTIONS = { keepAlive: true, keepAliveMsecs: TCP_KEEP_ALIVE_MS } as const;

/**
 * Keeps connections while what they are made from stays the same. After a change, idle connections close at once, and
 * those in use close when their answer is complete.
 *
 * @param make makes the agents from, say, certificates and authorities
 * @returns gives the agents to use now
 */
export function keepConnections<Means, Agents extends Readonly<Record<keyof Agents, Agent>>>(
  make: (means: Means) => Agents,
): (means: Means) => Agents {
  let present: { readonly means: Means; readonly agents: Agents } | undefined;
  return (means) => {
    if (present !== undefined && isDeepStrictEqual(present.means, means)) return present.agents;
    if (present !== undefined) Object.values<Agent>(present.agents).forEach(retire);
    present = { means, agents: make(means) };
    return present.agents;
  };
}

function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  closeIdle(agent);
}

/** Closes the idle connections of an agent. */
export function closeIdle(agent: Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) {
    for (const socket of sockets ?? []) socket.destroy();
  }
}
