import type { Observation } from './observation.ts';

/**
 * Whether a person stopped the kubelet. Its config is not blamed, and the kubelet stays stopped until a person starts it.
 */
export const isStoppedByPerson = ({ service }: Pick<Observation, 'service'>): boolean => service.wasStopped === true;

/** Part of a sentence about the node. */
export const STOPPED_BY_PERSON = 'somebody stopped the kubelet, and it stays so until it is started again';
