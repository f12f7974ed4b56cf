import { DENIED_BY_DEFAULT } from '#shared/contract/kubelet-config/field-policy.ts';
import type { Field } from '#shared/contract/kubelet-config/fields/field.ts';

/**
 * Fields that say how a machine was set up, beside those that the field policy denies: its cgroups, its resolver, the address at
 * which its pods find DNS. An overlay leaves them as the host has them; in git they would only be a way to break a node.
 */
const SET_UP_WITH_THE_HOST: ReadonlySet<string> = new Set([
  'cgroupDriver',
  'cgroupRoot',
  'clusterDNS',
  'kubeReservedCgroup',
  'kubeletCgroups',
  'resolvConf',
  'systemCgroups',
  'systemReservedCgroup',
]);

/** Whether the field stays in the node's own config: its identity, its ways in, or how its machine was set up. */
export const isHostField = (path: string, { cost }: Pick<Field, 'cost'>): boolean =>
  cost === 'never' || SET_UP_WITH_THE_HOST.has(path) || isDenied(path);

/** By the default policy. */
const isDenied = (path: string): boolean =>
  Object.keys(DENIED_BY_DEFAULT).some((field) => path === field || path.startsWith(`${field}.`));
