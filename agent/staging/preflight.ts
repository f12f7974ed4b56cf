import type { Finding } from '#shared/contract/finding.ts';

/**
 * Looks at the node for what would keep the kubelet from starting with a config, before the kubelet hears of it.
 *
 * @param effective the whole config that the kubelet would load, without its defaults
 * @param minor     the kubelet's version: `v1.34.2`
 */
export type Preflight = (
  effective: Readonly<Record<string, unknown>>,
  minor: string,
) => readonly Finding[] | Promise<readonly Finding[]>;

export const noPreflight: Preflight = () => [];
