import type { Kube } from '#shared/kube/kube.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import type { CheckpointStore } from '../checkpoint/checkpoint-store.ts';
import type { Failure } from '../decide/failure.ts';
import type { StageResult } from '../decide/observation.ts';
import { isTransientDiskError } from '../host/disk/transient-errors.ts';
import type { NodeFacts } from '../ports/own-node.ts';
import type { Config } from '../decide/state.ts';
import { checkConfig, type Checks } from './check-config.ts';
import { fetchPayload } from './fetch-payload.ts';

export interface StageOptions extends Checks {
  readonly kube: Kube;
  readonly payloads: CheckpointStore['payloads'];
  /** The machine's Node, with the kubelet's version (`v1.34.2`). */
  readonly lookAtNode: () => Promise<Pick<NodeFacts, 'kubeletVersion' | 'problem'>>;
}

const unavailable = (failure: Failure): StageResult => ({ outcome: 'unavailable', failure });

/**
 * Gets a config ready to be installed: fetched, verified and on the node's disk, and then found good for this kubelet.
 * A checkpoint that is there already is not fetched again. Never throws, never touches the kubelet.
 */
export async function stageConfig(config: Config, options: StageOptions, signal: AbortSignal): Promise<StageResult> {
  const { kube, payloads, lookAtNode } = options;
  const present = await payloads.read(config);
  let payload = 'payload' in present ? present.payload : undefined;
  if (payload === undefined) {
    const fetched = await fetchPayload(kube, config, signal);
    if ('failure' in fetched) return unavailable(fetched.failure);
    ({ payload } = fetched);
    try {
      await payloads.write(config, payload);
    } catch (error) {
      return unavailable(failureOf('CheckpointFailed', error));
    }
  }
  const { kubeletVersion: minor, problem = 'the Node object of this machine does not say it' } = await lookAtNode();
  if (minor === undefined) {
    return unavailable({ reason: 'VersionUnknown', message: `the kubelet's version is not known: ${problem}` });
  }
  try {
    const checked = await checkConfig(config, payload, minor, options);
    if (!('failure' in checked)) return { outcome: 'ready', ...checked };
    return { outcome: checked.failure.mayPass === true ? 'unavailable' : 'refused', ...checked };
  } catch (error) {
    const failure = failureOf('CannotInstall', error);
    return { outcome: isForGood(error) ? 'refused' : 'unavailable', failure };
  }
}

const failureOf = (reason: Failure['reason'], error: unknown): Failure => ({
  reason,
  message: reasonOf(error),
  ...(isTransientDiskError(error) ? { mayPass: true } : {}),
});

/** Trying again cannot help. */
export function isForGood(error: unknown): boolean {
  return error instanceof GitopsError && error.disposition.kind === 'stalled';
}
