import type { RebootOrder } from '#shared/contract/api/kubelet-node.ts';
import { formatDuration, parseDuration } from '#shared/runtime/duration.ts';
import type { Reboot } from '../state.ts';

/** Of the kernel: letters, digits and dashes. It is compared, and written into a file that a shell may read. */
const BOOT_ID = /^[0-9A-Za-z-]{1,64}$/;

/**
 * Reads a reboot order from the API server or from disk, which both are foreign.
 *
 * @returns null for an unreadable order
 */
export function rebootFrom(value: unknown): Reboot | null {
  if (typeof value !== 'object' || value === null) return null;
  const { by, boot, timeout } = value as Partial<Readonly<Record<keyof RebootOrder, unknown>>>;
  const timeoutMs = typeof timeout === 'string' ? parseDuration(timeout) : undefined;
  if (by !== 'systemd' && by !== 'sentinel') return null;
  if (typeof boot !== 'string' || !BOOT_ID.test(boot) || timeoutMs === undefined || timeoutMs <= 0) return null;
  return { by, boot, timeoutMs };
}

export const rebootToOrder = ({ by, boot, timeoutMs }: Reboot): RebootOrder => ({
  by,
  boot,
  timeout: formatDuration(timeoutMs),
});
