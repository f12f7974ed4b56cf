import type { NodeError } from '#shared/contract/api/kubelet-node.ts';
import type { Failure } from './failure.ts';
import { type Config, nameOf } from './state.ts';

/** The failure as status shows it. Keeps the time of an equal error before, so that repeating it changes nothing. */
export function toNodeError(
  { reason, message }: Failure,
  config: Config | undefined,
  at: string,
  before: NodeError | null,
): NodeError {
  const error = { reason, message, at, ...(config === undefined ? {} : { config: nameOf(config) }) };
  return keepErrorTime(error, before);
}

/** The earlier one if only their times differ. */
export function keepErrorTime(error: NodeError, before: NodeError | null): NodeError {
  const { reason, message, config } = error;
  const isSame = before?.reason === reason && before.message === message && before.config === config;
  return isSame ? before : error;
}
