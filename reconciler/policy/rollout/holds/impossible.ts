import { hold } from './hold.ts';
import type { HoldCheck } from './hold-question.ts';

export const noAgent: HoldCheck = ({ targeted: { member } }) =>
  member.lifecycle.shown === 'no-agent'
    ? hold('no-agent', 'no agent has reported from this node lately: is the DaemonSet running there?')
    : null;

export const halted: HoldCheck = ({ targeted: { targetKind, member }, facts: { halt } }) =>
  (targetKind === 'config' || member.turnRequest !== undefined) && halt !== null
    ? hold('halted', `the pool is halted: ${halt.message}`)
    : null;

/** There is no config for its class of machines, or none that its kubelet would start with. */
export const notComputable: HoldCheck = ({ targeted: { member } }) => {
  const { unrendered, payloadClass } = member;
  if (unrendered === undefined) return null;
  if (payloadClass?.config !== null) return hold('not-valid', unrendered);
  return hold('not-computable', `there is no config for its machine: ${unrendered}`);
};

const LOST =
  'somebody deleted or changed the ConfigMap of the config that the pool settled on, and no copy is left: commit that config again';

/** The bytes that the node would be told to fetch are not in the cluster. */
export const noConfigSource: HoldCheck = ({ targeted: { targetKind, configName, member }, facts: { isAvailable } }) =>
  configName === null || isAvailable(configName, member.target?.apply)
    ? null
    : hold('no-config-source', targetKind === 'settled' ? LOST : 'the config source is not in the cluster yet');
