import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeletService, ServiceStatus } from '#agent/kubelet/service.ts';
import type { KubeletProbe } from '#agent/kubelet/probe.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { PLAIN_HOST, type SimulatedHost, whyItDies } from './host.ts';

type Config = Readonly<Record<string, unknown>>;

export interface SimulatedKubeletOptions {
  /** Read at every start, as `--config` is. */
  readonly configFile: string;
  /** Read at every start, as `--config-dir` is. */
  readonly dropInDirectory?: string;
  readonly host?: SimulatedHost;
  /** From the start of the process to healthy. */
  readonly startMs: Millis;
  /** Between the end of a process and the next start by the service manager (systemd's RestartSec). */
  readonly restartMs: Millis;
  readonly clock: Clock;
  /** Hears when the Node becomes Ready or stops being it. */
  readonly onReady: (ready: boolean) => void;
}

/**
 * A kubelet together with its service manager: it reads real files at each start, dies of configs that the host cannot bear,
 * and is started again and again like a unit with Restart=always. What it runs is what it read.
 */
export interface SimulatedKubelet {
  readonly service: KubeletService;
  readonly probe: KubeletProbe;
  start(): void;
  /** Ends it for good. */
  stop(): void;
  /** How often the process was started. */
  starts(): number;
  /** What it runs; null while it is not healthy. */
  running(): Config | null;
}

type Process = { readonly is: 'down' } | { readonly is: 'starting' | 'healthy'; readonly config: Config };

export function createSimulatedKubelet(options: SimulatedKubeletOptions): SimulatedKubelet {
  const { clock, host = PLAIN_HOST, startMs, restartMs, onReady } = options;
  const listeners = new Set<() => void>();
  let process: Process = { is: 'down' };
  let lastExit: string | null = null;
  let starts = 0;
  let automaticRestarts = 0;
  let life = new AbortController();

  function become(next: Process): void {
    const wasReady = process.is === 'healthy';
    process = next;
    if (wasReady !== (next.is === 'healthy')) onReady(!wasReady);
    for (const listener of listeners) listener();
  }

  /** One start after the other, until somebody ends this life. */
  async function live(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      starts += 1;
      const died = await runOnce(signal);
      if (signal.aborted) return;
      lastExit = died;
      become({ is: 'down' });
      await clock.sleep(restartMs, signal);
      if (!signal.aborted) automaticRestarts += 1;
    }
  }

  /** @returns why the process ended; waits for ever while it is healthy */
  async function runOnce(signal: AbortSignal): Promise<string> {
    const loaded = await loadConfig(options);
    if ('refused' in loaded) return `exit-code 1: ${loaded.refused}`;
    become({ is: 'starting', config: loaded.config });
    const deadly = whyItDies(loaded.config, host);
    await clock.sleep(deadly === null ? startMs : startMs / 2, signal);
    if (deadly !== null) return `exit-code 1: ${deadly}`;
    if (signal.aborted) return 'signal TERM';
    become({ is: 'healthy', config: loaded.config });
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return 'signal TERM';
  }

  function end(): void {
    life.abort();
    lastExit = 'signal TERM';
    become({ is: 'down' });
  }

  function start(): void {
    life = new AbortController();
    automaticRestarts = 0;
    void live(life.signal);
  }

  const status = (): ServiceStatus => {
    const down = process.is === 'down';
    return {
      state: down ? 'starting' : 'running',
      run: down ? null : String(starts),
      automaticRestarts,
      ...(lastExit === null ? {} : { lastExit }),
    };
  };

  return {
    service: {
      pollMs: 100,
      status: () => Promise.resolve(status()),
      restart() {
        end();
        start();
        return Promise.resolve();
      },
      watch(changed) {
        listeners.add(changed);
        return () => listeners.delete(changed);
      },
    },
    probe: {
      health: () =>
        Promise.resolve(process.is === 'healthy' ? { health: 'ok' } : { health: 'down', reason: 'connection refused' }),
      runningConfig: () =>
        Promise.resolve(
          process.is === 'healthy'
            ? { seen: true, config: process.config }
            : { seen: false, why: 'down', reason: 'connection refused' },
        ),
    },
    start,
    stop: end,
    starts: () => starts,
    running: () => (process.is === 'healthy' ? process.config : null),
  };
}

/** The config file, and over it the drop-ins in the order of their names, as kubelets from 1.28 on load them. */
async function loadConfig({
  configFile,
  dropInDirectory,
}: SimulatedKubeletOptions): Promise<{ readonly config: Config } | { readonly refused: string }> {
  try {
    const names = dropInDirectory === undefined ? [] : await readdir(dropInDirectory).catch(() => []);
    const dropIns = names.filter((name) => name.endsWith('.conf')).sort();
    const files = [configFile, ...dropIns.map((name) => join(dropInDirectory ?? '', name))];
    let config: Config = {};
    for (const file of files) {
      const { value, findings } = decodeKubeletConfig(await readFile(file), file);
      if (value === undefined) return { refused: findings.map(formatFinding).join('; ') };
      config = mergePatch(config, value) as Config;
    }
    return { config };
  } catch (error) {
    return { refused: reasonOf(error) };
  }
}
