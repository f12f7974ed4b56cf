import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { startHttpProxy } from '../support/http-proxy.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { kubeconfigOf } from '../support/kubeconfig/one-cluster.ts';

/** An API server whose name only a proxy knows. */
const SERVER = 'https://kube.test:6443';

/** Starts a program with a proxy in its environment. @returns what the proxy was asked for */
async function startBehindProxy(t: TestContext, program: string, env: Readonly<Record<string, string>>) {
  const proxy = await startHttpProxy(t, { to: 1 });
  const around = { PATH: process.env['PATH'], HTTPS_PROXY: proxy.host, LOG_LEVEL: 'error' };
  const child = spawn(process.execPath, [program], { env: { ...around, ...env }, stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  return proxy.asked;
}

describe('behind a proxy, the API server is asked through it', () => {
  it('by the agent', async (t) => {
    const directory = temporaryDirectory(t);
    const asked = await startBehindProxy(t, 'agent/main.ts', {
      NODE_NAME: 'node-1',
      KUBE_SERVER: SERVER,
      STATE_DIR: directory,
      HOST_ROOT: directory,
    });
    await until('the proxy to be asked', () => asked.length > 0);
    assert.equal(asked[0], 'CONNECT kube.test:6443');
  });

  it('by the reconciler', async (t) => {
    const directory = temporaryDirectory(t);
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigOf({ server: SERVER }, { token: 'one' }));
    const env = { KUBECONFIG: kubeconfig, CLUSTER: 'demo', GIT_URL: 'http://127.0.0.1:1/none.git', NOTES: 'off' };
    const ports = { HEALTH_PORT: '0', METRICS_PORT: '0', STATUS_PAGE: 'off' };
    const asked = await startBehindProxy(t, 'reconciler/main.ts', { ...env, ...ports });
    await until('the proxy to be asked', () => asked.length > 0);
    assert.equal(asked[0], 'CONNECT kube.test:6443');
  });
});
