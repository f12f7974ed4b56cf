import { UNKNOWN_CLASS } from '../../payload-classes.ts';
import { hold } from './hold.ts';
import type { HoldCheck } from './hold-question.ts';

export const halted: HoldCheck = (question) => {
  const { targetKind, member } = question.targeted;
  return targetKind === 'config' || member.turnRequest !== undefined ? poolHalted(question) : null;
};

/** Who shows the cluster without having read git does not know what a machine of a new class gets: that is not why it gets nothing. */
export const haltedForNewClass: HoldCheck = (question) =>
  question.targeted.member.payloadClass === UNKNOWN_CLASS ? poolHalted(question) : null;

const poolHalted: HoldCheck = ({ facts: { halt } }) =>
  halt === null ? null : hold('halted', `the pool is halted: ${halt.message}`);

const LOST =
  'somebody deleted or changed the ConfigMap of the config that the pool settled on, and no copy is left: commit that config again';

/** The bytes that the node would be told to fetch are not in the cluster. */
export const noConfigSource: HoldCheck = ({ targeted: { targetKind, configName, member }, facts: { isAvailable } }) =>
  configName === null || isAvailable(configName, member.target)
    ? null
    : hold('no-config-source', targetKind === 'settled' ? LOST : 'the config source is not in the cluster yet');
