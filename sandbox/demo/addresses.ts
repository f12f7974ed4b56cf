import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox } from '../sandbox.ts';

const FILES = ['kubeconfig', 'git-url'] as const;

/** Writes what a second terminal needs to reach the sandbox: a `kubeconfig`, and the repository's address in `git-url`. */
export async function writeAddresses(world: Sandbox, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  // JSON is YAML. The sandbox's tokens open nothing but the sandbox, so that this file is no secret.
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'sandbox', cluster: { server: world.api.url } }],
    users: [{ name: 'sandbox', user: {} }],
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: 'sandbox' } }],
    'current-context': 'sandbox',
  };
  await writeFile(join(directory, 'kubeconfig'), `${JSON.stringify(kubeconfig, null, 2)}\n`);
  await writeFile(join(directory, 'git-url'), `${world.git.url}\n`);
}

/** Takes them away with the sandbox: a kubeconfig that leads nowhere would be asked by whatever is run next. */
export async function removeAddresses(directory: string): Promise<void> {
  for (const file of FILES) await rm(join(directory, file), { force: true });
}
