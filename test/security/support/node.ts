import { pino } from 'pino';
import type { SandboxApiServer } from '#sandbox/api-server/server.ts';
import { nodesIn, type SandboxNode, startNode } from '#sandbox/sandbox-node.ts';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { describeError } from '#shared/runtime/log.ts';
import { CANARIES } from './canaries.ts';

export interface NodePorts {
  readonly api: SandboxApiServer;
  /** Where the agent finds the API server, and whom it trusts there. */
  readonly server: string;
  readonly ca: string;
  readonly directory: string;
  /** Hears every line that the agent logs. */
  readonly heard: (line: string) => void;
}

/** A node whose agent has a token that can be told from anything else. */
export function nodeWithCanary({ api, server, ca, directory, heard }: NodePorts): Promise<SandboxNode> {
  const log = pino({ level: 'trace', serializers: { err: describeError } }, { write: heard });
  const credentials = staticCredentials({ ca, token: CANARIES['token of the agent'] });
  const kube = createKube({ server, credentials, clock: systemClock, log, userAgent: 'agent' });
  return startNode({ name: 'node-a', labels: { role: 'worker' } }, { nodes: nodesIn(api), kube, directory, log });
}
