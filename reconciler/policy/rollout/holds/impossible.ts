import { hold } from './hold.ts';
import type { HoldCheck } from './hold-question.ts';

export const halted: HoldCheck = ({ targeted: { targetKind, member }, facts: { halt } }) =>
  (targetKind === 'config' || member.turnRequest !== undefined) && halt !== null
    ? hold('halted', `the pool is halted: ${halt.message}`)
    : null;

const LOST =
  'somebody deleted or changed the ConfigMap of the config that the pool settled on, and no copy is left: commit that config again';

/** The bytes that the node would be told to fetch are not in the cluster. */
export const noConfigSource: HoldCheck = ({ targeted: { targetKind, configName, member }, facts: { isAvailable } }) =>
  configName === null || isAvailable(configName, member.target?.apply)
    ? null
    : hold('no-config-source', targetKind === 'settled' ? LOST : 'the config source is not in the cluster yet');
