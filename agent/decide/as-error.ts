import type { NodeError } from '#shared/contract/api/kubelet-node.ts';
import type { Failure } from './failure.ts';
import { type Config, nameOf } from './state.ts';

/** The failure as status shows it. Keeps the time of an equal error before, so that repeating it changes nothing. */
export function asError(
  { reason, message }: Failure,
  config: Config | undefined,
  at: string,
  before: NodeError | null,
): NodeError {
  const error = { reason, message, at, ...(config === undefined ? {} : { config: nameOf(config) }) };
  const same = before?.reason === reason && before.message === message && before.config === error.config;
  return same ? before : error;
}
