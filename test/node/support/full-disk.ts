import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';

const SAYS_SO = /ENOSPC|no space/i;

/** Whether a node says that its disk is full. */
export const reportsFullDisk = ({ error, conditions }: KubeletNodeStatus): boolean =>
  SAYS_SO.test(error?.message ?? '') ||
  conditions?.some(({ type, message }) => type === 'CheckpointsIntact' && SAYS_SO.test(message)) === true;
