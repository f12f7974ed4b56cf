import { systemError } from './system-error.ts';

/** Something is about to be changed: a moment at which a machine can fail. */
export interface Point {
  readonly call:
    | 'create'
    | 'write'
    | 'write-over'
    | 'chown'
    | 'chmod'
    | 'sync'
    | 'rename'
    | 'unlink'
    | 'rmdir'
    | 'mkdir'
    | 'sync-directory'
    | 'restart-kubelet'
    | 'reload-units'
    | 'stop-timer';
  /** Of the file; the unit's name for the last three. */
  readonly path: string;
}

/**
 * What a point comes to. `death`: the process ends before it, and nothing that it called ever returns. `full`: there is
 * no space left on the disk. `torn-…`: after half of what was to be written. `fails`: with this code of the system.
 * `hangs`: no answer ever comes, and the process lives on.
 */
export type InjectedFault =
  | 'none'
  | 'death'
  | 'torn-death'
  | 'full'
  | 'torn-full'
  | 'hangs'
  | { readonly fails: string };

/** One process, which can be struck at each of its points. */
export interface CrashInjector {
  /** @param work `part`: how much of what is to be written arrives, up to 1 */
  at<T>(point: Point, work: (part: number) => T | Promise<T>): Promise<T>;
  /** Reads a file, or a directory. */
  read<T>(path: string, work: () => T): Promise<T>;
  /** What changes nothing, and never returns to a process that is dead. */
  alive<A extends readonly unknown[], R>(work: (...args: A) => Promise<R>): (...args: A) => Promise<R>;
  kill(): void;
}

/** @param strikeRead what reading a path fails with; undefined where it does not */
export function createCrashInjector(
  strike: (point: Point) => InjectedFault = () => 'none',
  strikeRead: (path: string) => string | undefined = () => undefined,
): CrashInjector {
  let isDead = false;
  const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
  return {
    async at(point, work) {
      if (isDead) return never();
      const struck = strike(point);
      if (struck === 'none') return work(1);
      if (struck === 'hangs') return never();
      if (typeof struck === 'object') throw systemError(struck.fails, point.call, point.path);
      if (struck === 'torn-death' || struck === 'torn-full') await work(0.5);
      if (struck === 'full' || struck === 'torn-full') throw systemError('ENOSPC', point.call, point.path);
      isDead = true;
      return never();
    },
    async read(path, work) {
      if (isDead) return never();
      const code = strikeRead(path);
      if (code !== undefined) throw systemError(code, 'open', path);
      return work();
    },
    alive:
      (work) =>
      (...args) =>
        isDead ? never() : work(...args),
    kill() {
      isDead = true;
    },
  };
}
