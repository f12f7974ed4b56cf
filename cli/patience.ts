import { isKubeError } from '#shared/kube/kube-error.ts';
import type { Millis } from '#shared/runtime/clock.ts';

/** How often a command that watches looks. */
export const LOOK_EVERY_MS: Millis = 2_000;
/** An API server that is away for longer is not restarting. */
export const PATIENCE_MS: Millis = 5 * 60_000;

/** What ends by itself when the API server is back. */
export const isPassing = (error: unknown): boolean =>
  isKubeError(error, 'KUBE_UNREACHABLE', 'KUBE_TIMEOUT', 'KUBE_SERVER_ERROR', 'KUBE_THROTTLED', 'KUBE_GARBLED');
