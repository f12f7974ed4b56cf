import type { KubeletService, ServiceStatus } from '#agent/ports/kubelet-service.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Timing } from './kubelet-options.ts';
import type { ProcessExit } from './process.ts';

/** The kubelet's unit in a simulated service manager, with `Restart=always` and no start limit. */
export interface Unit {
  readonly service: KubeletService;
  /** `systemctl start`; running already is fine. */
  start(): Promise<void>;
  /** `systemctl stop`: resolves when the process is gone. */
  stop(): Promise<void>;
  /** As `stop`, without waiting, and for good. */
  close(): Promise<void>;
  /** SIGKILL to the process, if there is one. */
  kill(): void;
  /** How many processes there have been. */
  starts(): number;
  /** What the last process since the start that was ordered said as it ended by itself; empty for none. */
  lastWords(): string;
}

export interface UnitOptions {
  readonly clock: Clock;
  readonly timing: Timing;
  /** Default: a second. */
  readonly pollMs?: Millis | undefined;
  /** Begins the name of each run. */
  readonly bootId: () => string;
  /** The process: resolves with how it died, or with null after the signal. */
  readonly process: (signal: AbortSignal) => Promise<ProcessExit | null>;
}

/** Far more than it takes to hear of a change: the watch misses nothing here. */
const POLL_MS = 1000;

export function createUnit({ clock, timing, pollMs = POLL_MS, bootId, process }: UnitOptions): Unit {
  const watchers = new Set<() => void>();
  let status: ServiceStatus = { state: 'stopped', run: null, automaticRestarts: 0 };
  let starts = 0;
  let words = '';
  const closing = new AbortController();
  let life = new AbortController();
  let supervision: { readonly stop: AbortController; readonly ended: Promise<void> } | undefined;
  /** Orders are carried out one after the other. */
  let orders: Promise<void> = Promise.resolve();

  const become = (next: ServiceStatus): void => {
    status = next;
    for (const changed of watchers) changed();
  };

  const supervise = async (signal: AbortSignal): Promise<void> => {
    for (let automaticRestarts = 0; !signal.aborted; automaticRestarts += 1) {
      starts += 1;
      life = new AbortController();
      become({ state: 'running', run: `${bootId()}.${starts}`, automaticRestarts });
      const death = await process(AbortSignal.any([signal, life.signal]));
      if (signal.aborted) break;
      words = death?.said ?? words;
      become({ state: 'starting', run: null, automaticRestarts, lastExit: death?.exit ?? 'signal KILL' });
      await clock.sleep(timing.restartMs, signal);
    }
  };
  const begin = (): void => {
    if (supervision !== undefined || closing.signal.aborted) return;
    // What a run before this start said has nothing to do with what it starts with.
    words = '';
    const stop = new AbortController();
    supervision = { stop, ended: supervise(stop.signal) };
  };
  const end = async (): Promise<void> => {
    supervision?.stop.abort();
    await supervision?.ended;
    if (supervision !== undefined) await clock.sleep(timing.stopMs, closing.signal);
    supervision = undefined;
  };
  const stop = async (): Promise<void> => {
    await end();
    become({ state: 'stopped', run: null, automaticRestarts: 0 });
  };
  const order = (carryOut: () => Promise<void>): Promise<void> => (orders = orders.then(carryOut));

  return {
    starts: () => starts,
    lastWords: () => words,
    kill: () => life.abort(),
    start: () => order(async () => begin()),
    stop: () => order(stop),
    close() {
      closing.abort();
      return order(stop);
    },
    service: {
      pollMs,
      status: async () => status,
      async restart() {
        void order(async () => {
          become({ state: 'starting', run: status.run, automaticRestarts: 0 });
          await end();
          begin();
        });
      },
      watch(changed) {
        watchers.add(changed);
        return () => watchers.delete(changed);
      },
    },
  };
}
