import type { FailedWrite } from '#shared/contract/api/kubelet-pool.ts';
import { LOCAL } from '#shared/contract/api/kubelet-node.ts';

/** `its assignment could not be written since 2026-11-21T12:00:00Z: 500 Internal Server Error`. */
export function formatFailedWrite({ write, since, message }: FailedWrite): string {
  return `${WRITES[write] ?? `what is to be done about it (${write})`} could not be written since ${since}: ${message}`;
}

const WRITES: Readonly<Record<string, string>> = {
  assign: 'its assignment',
  unassign: `its way back to ${LOCAL}`,
  amend: 'the change of its assignment',
  'create-node': 'its KubeletNode',
  'create-config-source': 'its config source',
  'write-pool': 'its spec',
  'write-pool-status': 'its status',
};
