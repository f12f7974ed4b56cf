import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import type { Finding } from '#shared/contract/finding.ts';

/** What is assigned, before it met the node's own config. */
export interface Assigned {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly apply: ApplyMode;
}

/** The code of an error that ends without a person: the config is not rejected for it, and is looked at again. */
export const TRANSIENT_CODE = 'runtime-away';

/** The same of an error that ends with the pods of the node. */
export const PODS_CODE = 'pods-keep-user-ids';

/** Before the pods of the node are told to leave, these are no errors. */
export const CODES_OF_PODS: ReadonlySet<string> = new Set([PODS_CODE, 'too-many-pods']);

/**
 * Looks at the node for what would keep the kubelet from starting with a config, before the kubelet hears of it. Errors
 * refuse the config, warnings are only said.
 *
 * @param effective the whole config that the kubelet would load, without its defaults
 * @param minor     the kubelet's version: `v1.34.2`
 */
export type Preflight = (
  effective: Readonly<Record<string, unknown>>,
  minor: string,
  assigned: Assigned,
) => readonly Finding[] | Promise<readonly Finding[]>;

export const noPreflight: Preflight = () => [];
