import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../test/cluster/support/free-ports.ts';
import { manifestFlags, manifestMalloc } from '../../test/support/manifest-flags.ts';
import { until } from '../../test/support/until.ts';
import { peakRssMiB } from './peak-memory.ts';
import { kubeconfigOf } from '../../test/support/kubeconfig/one-cluster.ts';

/** The shipped bundle with the shipped flags, and what it said. */
export interface WatchedReconciler {
  /** Waits until it has read this commit, and gone on for a while. */
  readonly hasRead: (oid: string, restMs: number) => Promise<void>;
  /** The most memory that it had in RAM since its start. */
  readonly peakMiB: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const PATIENCE = { withinMs: 90_000, everyMs: 50 };

/** @param directory where `reconciler.js` lies */
export async function watchReconciler(directory: string, apiUrl: string, gitUrl: string): Promise<WatchedReconciler> {
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigOf({ server: apiUrl }));
  const [healthPort] = await freePorts(1);
  const env = {
    PATH: process.env['PATH'] ?? '',
    KUBECONFIG: kubeconfig,
    CLUSTER: 'bench',
    GIT_URL: gitUrl,
    POLL_INTERVAL: '1s',
    HEALTH_PORT: String(healthPort),
    METRICS_PORT: '0',
    STATUS_PAGE: 'off',
    NOTES: 'off',
    ...manifestMalloc('reconciler'),
  };
  const argv = [...manifestFlags('reconciler'), join(directory, 'reconciler.js')];
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const hopeless = (): string | undefined => (child.exitCode === null ? undefined : `it ended: ${text.slice(-2_000)}`);
  return {
    async hasRead(oid, restMs) {
      const words = new RegExp(`"commit":"${oid}".*"msg":"commit read"`);
      await until(String(words), () => Promise.resolve(words.test(text)), { ...PATIENCE, hopeless });
      await new Promise((resolve) => setTimeout(resolve, restMs));
    },
    peakMiB: () => peakRssMiB(child.pid ?? 0),
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
