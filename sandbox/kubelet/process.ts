import type { Clock } from '#shared/runtime/clock.ts';
import { hostProblem, type SimulatedHost } from './host.ts';
import { loadConfig } from './load-config.ts';
import { checkManagerState } from './manager-state.ts';
import type { Fault, Timing } from './kubelet-options.ts';

type Config = Readonly<Record<string, unknown>>;

/** One life of the kubelet's process, as others see it. */
export type ProcessState =
  | { readonly stage: 'loading' }
  | { readonly stage: 'starting' | 'healthy' | 'ready'; readonly config: Config; readonly fault: Fault | null };

export interface ProcessOptions {
  readonly configFile: string;
  readonly dropInDirectory: string | undefined;
  readonly rootDirectory: string;
  readonly minor: number;
  readonly host: SimulatedHost;
  readonly timing: Timing;
  readonly clock: Clock;
  readonly fault: (config: Config) => Fault | null;
  /** Resolves when the outside world has followed. */
  readonly enter: (life: ProcessState) => Promise<void>;
}

/** What the process said last, and how it ended. */
export interface ProcessExit {
  readonly exit: string;
  readonly said: string;
}

/**
 * Lives until the signal aborts, or until the config or the host ends it.
 *
 * @returns null after the signal
 */
export async function runProcess(options: ProcessOptions, signal: AbortSignal): Promise<ProcessExit | null> {
  const { timing, clock, enter } = options;
  await enter({ stage: 'loading' });
  await clock.sleep(timing.loadMs, signal);
  if (signal.aborted) return null;
  const loaded = await loadConfig(options.configFile, options.dropInDirectory, options.minor);
  if ('fatal' in loaded) return { exit: 'exit-code 1', said: loaded.fatal };
  const { config } = loaded;
  const obstacle = hostProblem(config, options.host) ?? (await checkManagerState(config, options.rootDirectory));
  if (obstacle !== null) return { exit: 'exit-code 1', said: obstacle };

  const fault = options.fault(config);
  await enter({ stage: 'starting', config, fault });
  if (fault?.fault === 'hang') return untilAborted(signal);
  await clock.sleep(timing.startMs, signal);
  if (signal.aborted) return null;
  await enter({ stage: 'healthy', config, fault });
  const crashMs = fault?.fault === 'crash' ? fault.afterMs : Infinity;
  await clock.sleep(Math.min(timing.readyMs, crashMs), signal);
  if (!signal.aborted && crashMs > timing.readyMs) {
    await enter({ stage: 'ready', config, fault });
    if (crashMs === Infinity) return untilAborted(signal);
    await clock.sleep(crashMs - timing.readyMs, signal);
  }
  return signal.aborted || fault?.fault !== 'crash' ? null : { exit: 'exit-code 2', said: fault.reason };
}

function untilAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
