import type { FieldChange } from '#shared/contract/kubelet-config/field-diff.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { UnsetMeaning } from './merge-plan.ts';

/** @param before undefined for nodes that have their local config */
export const unsetMeaning = (before: ValidPool | undefined, after: ValidPool | undefined): UnsetMeaning => ({
  before: before?.spec.apply === 'replace' ? 'default' : 'local',
  after: after?.spec.apply === 'replace' ? 'default' : 'local',
});

/** For people. */
export const UNSET = { local: 'local config', default: 'not set' } as const;

/** First configs and the way back to local cost a restart and no more, whatever the fields would cost a node that changes its config. */
export const withoutDrain = (fields: readonly FieldChange[]): readonly FieldChange[] =>
  fields.map((field) => {
    const { cost, risk } = field;
    if (cost === 'restart') return field;
    const what = 'no node is drained for its first config, nor for the way back to its local one';
    return { ...field, cost: 'restart', risk: risk === undefined ? what : `${risk}; ${what}` };
  });
