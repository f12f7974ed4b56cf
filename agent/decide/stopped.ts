import type { Observation } from './observation.ts';

/**
 * Whether somebody stopped the kubelet. That accuses no config, and it stays stopped: whoever stopped it starts it again.
 */
export const isStoppedByPerson = ({ service }: Pick<Observation, 'service'>): boolean =>
  service.state === 'stopped' && service.wasStopped === true;

/** Part of a sentence about the node. */
export const STOPPED = 'somebody stopped the kubelet, and it stays so until it is started again';
