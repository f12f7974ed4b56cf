import type { ServiceStatus } from './kubelet-service.ts';

/** The flags that the kubelet was started with. */
export interface CommandLine {
  /** Without the program. */
  readonly args: readonly string[];
  /**
   * `process`: the kubelet's own. `journal`: what the program logged that the kubelet is a part of. `files`: what that program's settings
   * say, without its own defaults.
   */
  readonly seenIn: 'process' | 'journal' | 'files';
}

/**
 * The flags of the present run of the kubelet; while it is down, those of the last run that was seen. Undefined if they were never
 * visible. Never rejects.
 */
export type ReadCommandLine = (status: Pick<ServiceStatus, 'run' | 'pid'>) => Promise<CommandLine | undefined>;
