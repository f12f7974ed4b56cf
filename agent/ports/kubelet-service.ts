import type { Millis } from '#shared/runtime/clock.ts';

/** The kubelet as its service manager sees it. */
export interface ServiceStatus {
  /** `unknown` where the service manager cannot be asked or cannot tell. */
  readonly state: 'running' | 'starting' | 'stopped' | 'failed' | 'unknown';
  /** Identifies one run of the kubelet's process: another value means that it was started again. null while there is none. */
  readonly run: string | null;
  /** The kubelet's process on the host; absent where there is none, or where that is not known. */
  readonly pid?: number;
  /** Restarts that the service manager made by itself since the unit's last ordered start; null if not counted. */
  readonly automaticRestarts: number | null;
  /** How the last run ended, in the service manager's words (`exit-code 1`, `signal KILL`); absent where not known. */
  readonly lastExit?: string;
  /**
   * With `stopped`: it ended in good order and nothing is to start it again. A person or a dependency stopped it,
   * or it has not been started since the boot; it did not fail. Absent otherwise, and while this is unknown.
   */
  readonly wasStopped?: boolean;
  /** It ended by itself, and the service manager waits before it starts it again. */
  readonly awaitsRestart?: boolean;
  /** Why the state is `unknown`, or why the service does not run, where there is more to say. */
  readonly reason?: string;
}

/** The service manager of the kubelet, behind the two things the agent asks of it. */
export interface KubeletService {
  status(signal: AbortSignal): Promise<ServiceStatus>;
  /**
   * Restarts the kubelet and resolves when the order was carried out or queued, not when the kubelet is healthy.
   * Clears a start limit that was hit before. Throws `GitopsError` (`SERVICE_*`) where that cannot be done.
   *
   * @param because goes to the log and, where the service manager has a place for it, beside the restart
   */
  restart(because: string, signal: AbortSignal): Promise<void>;
  /**
   * Starts a kubelet that does not run, and leaves one that does alone; otherwise as `restart`. Absent where the service
   * manager knows restarts only.
   */
  start?(because: string, signal: AbortSignal): Promise<void>;
  /** Calls back when the service may have changed state, as far as the service manager tells. @returns stops listening */
  watch(changed: () => void): () => void;
  /** Longest sensible time between two looks at the service when nothing is heard from `watch`. */
  readonly pollMs: Millis;
}
