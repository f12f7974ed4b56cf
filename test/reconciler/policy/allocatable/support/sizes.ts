import type { NodeSize } from '#reconciler/policy/allocatable/allocatable.ts';

export const MI = 2 ** 20;
export const GI = 2 ** 30;
/** What a node has, and leaves to pods. */
export const CAPACITY = { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi', pods: '110' };

/** A node that leaves all of `CAPACITY` to pods. @param capacity what it has, where that is something else */
export const size = (capacity: Readonly<Record<string, string>> = {}, kubeletVersion = 'v1.34.2'): NodeSize => ({
  kubeletVersion,
  capacity: { ...CAPACITY, ...capacity },
  allocatable: CAPACITY,
});

export type Config = Readonly<Record<string, unknown>>;
/** Over the node's own config. */
export const over = (value: Config) => ({ value, apply: 'overlay' }) as const;
/** In place of the node's own config. */
export const instead = (value: Config) => ({ value, apply: 'replace' }) as const;
