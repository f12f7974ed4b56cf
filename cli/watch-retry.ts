import { isKubeError } from '#shared/kube/kube-error.ts';
import type { Millis } from '#shared/runtime/clock.ts';

/** How often a command that watches looks. */
export const WATCH_INTERVAL_MS: Millis = 2_000;
/** An API server that is away for longer is not restarting. */
export const MAX_OUTAGE_MS: Millis = 5 * 60_000;

const PASSING = [
  'KUBE_UNREACHABLE',
  'KUBE_TIMEOUT',
  'KUBE_SERVER_ERROR',
  'KUBE_THROTTLED',
  'KUBE_GARBLED',
  'KUBE_TOO_LONG',
] as const;

/** What ends by itself when the API server is back, or can be listed by pages again. */
export const isTransient = (error: unknown): boolean => isKubeError(error, ...PASSING);
