import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { manifestFlags, manifestMalloc } from '../manifest-flags.ts';

export interface ReconcilerProcessOptions {
  /** Of the bundle. */
  readonly directory: string;
  readonly kubeconfig: string;
  readonly gitUrl: string;
  readonly healthPort: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
}

/** The reconciler's program, as its image has it. */
export interface ReconcilerProcess {
  readonly pid: number;
  /** Milliseconds from its start until it said that it has seen everything. */
  ready(): Promise<number>;
  /** However it ends. */
  readonly ended: Promise<void>;
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

export function startReconcilerProcess(options: ReconcilerProcessOptions): ReconcilerProcess {
  const { directory, kubeconfig, gitUrl, healthPort, env = {} } = options;
  const began = performance.now();
  const child = spawn(process.execPath, [...manifestFlags('reconciler'), join(directory, 'reconciler.js')], {
    env: {
      PATH: process.env['PATH'] ?? '',
      KUBECONFIG: kubeconfig,
      CLUSTER: 'bench',
      GIT_URL: gitUrl,
      HEALTH_PORT: String(healthPort),
      METRICS_PORT: '0',
      POLL_INTERVAL: '1s',
      ...manifestMalloc('reconciler'),
      ...env,
    },
    stdio: ['ignore', options.onLine === undefined ? 'ignore' : 'pipe', 'inherit'],
  });
  child.stdout
    ?.setEncoding('utf8')
    .on('data', (text: string) => text.split('\n').forEach((line) => options.onLine?.(line)));
  const ended = once(child, 'exit').then(() => undefined);
  return {
    pid: child.pid ?? 0,
    ready: () => readyAfter(child, healthPort, began),
    ended,
    async kill(signal) {
      child.kill(signal);
      await ended;
    },
  };
}

async function readyAfter(child: ChildProcess, port: number, began: number): Promise<number> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`the reconciler ended with ${child.exitCode ?? child.signalCode} before it was ready`);
    }
    const status = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return performance.now() - began;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
