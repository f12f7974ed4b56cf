import type { Millis } from '#shared/runtime/clock.ts';

/**
 * `metav1.MicroTime`, as Leases and Events have it: RFC 3339 in UTC with six digits of a second. The API server takes no
 * other number of them.
 */
export const toMicroTime = (at: Millis): string => new Date(at).toISOString().replace('Z', '000Z');
