import type { ApplyMode } from './kubelet-node.ts';

/** What identifies a config: the payload's bytes, and what becomes of the node's own config under it. */
export interface ConfigIdentity {
  /** Hex SHA-256 of the payload. */
  readonly sha256: string;
  readonly apply: ApplyMode;
  /** With `replace`, the fields of the node's own config that stay. Sorted; absent for none. */
  readonly keepFields?: readonly string[];
}

/** An identity as objects carry it: without a word on it, the payload is laid over. */
export type WrittenIdentity = Pick<ConfigIdentity, 'sha256'> & Partial<ConfigIdentity>;

export const identityIn = ({ sha256, apply = 'overlay', keepFields }: WrittenIdentity): ConfigIdentity => ({
  sha256,
  apply,
  ...writtenKeep({ keepFields }),
});

/** An identity in one word, to be looked up by. */
export const identityText = ({ sha256, apply, keepFields = [] }: ConfigIdentity): string =>
  [apply, sha256, ...keepFields].join(' ');

/** `keepFields` as it is written: nothing for none. */
export const writtenKeep = ({
  keepFields,
}: {
  readonly keepFields?: readonly string[] | undefined;
}): Pick<ConfigIdentity, 'keepFields'> => (keepFields === undefined || keepFields.length === 0 ? {} : { keepFields });

/**
 * Whether an assignment says of `replace` what stays, and be it nothing. API servers with older definitions drop the field: what policy
 * denies would be taken from the node.
 */
export const saysWhatStays = ({ apply, keepFields }: Partial<ConfigIdentity>): boolean =>
  apply !== 'replace' || keepFields !== undefined;

export function sameIdentity(a: ConfigIdentity, b: ConfigIdentity): boolean {
  return a.sha256 === b.sha256 && a.apply === b.apply && sameFields(a.keepFields, b.keepFields);
}

const sameFields = (some: readonly string[] = NONE, others: readonly string[] = NONE): boolean =>
  some === others || (some.length === others.length && some.every((field, index) => field === others[index]));

const NONE: readonly string[] = [];
