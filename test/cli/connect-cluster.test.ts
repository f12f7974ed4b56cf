import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { runIn } from './support/run.ts';
import { kubeconfigOf } from '../support/kubeconfig/one-cluster.ts';

it('a plugin that asks a person has the time that he takes: it runs before the first call, whose time is short', async (t) => {
  const directory = temporaryDirectory(t);
  const kubeconfig = join(directory, 'kubeconfig');
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: '/bin/sh',
    args: ['-c', `echo >> ${directory}/runs; exit 3`],
    interactiveMode: 'Never',
  };
  await writeFile(kubeconfig, kubeconfigOf({ server: 'https://127.0.0.1:1' }, { exec }));
  const { code, err } = await runIn({}, ['status', '--kubeconfig', kubeconfig]);
  assert.deepEqual(
    [code, err],
    [2, 'there is no credential (the credential plugin /bin/sh failed (exit code 3): it says why on standard error)'],
  );
});
