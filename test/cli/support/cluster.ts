import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiServerOptions } from '#sandbox/api-server/server.ts';
import { aSandbox, type ApiServerSandbox } from '../../sandbox/api-server/support/sandbox.ts';
import { type Ran, run } from './run.ts';
import { kubeconfigOf } from '../../support/kubeconfig/one-cluster.ts';

/** A sandbox API server, and the command line as somebody has it whose kubeconfig leads there. */
export interface TestCluster extends AsyncDisposable {
  readonly sandbox: ApiServerSandbox;
  readonly kubeconfig: string;
  cli(...argv: readonly string[]): Promise<Ran>;
}

/** @param options whoever shows no token may do everything, unless they say otherwise */
export async function aCluster(options: Partial<ApiServerOptions> = {}): Promise<TestCluster> {
  const sandbox = await aSandbox({ anonymous: { user: 'operator' }, ...options });
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-cli-'));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigOf({ server: sandbox.server.url }));
  return {
    sandbox,
    kubeconfig,
    cli: (...argv) => run(...argv, '--kubeconfig', kubeconfig),
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
