import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { startApiServer } from '#sandbox/api-server/server.ts';
import { freePorts } from '../cluster/support/free-ports.ts';
import { until } from '../support/until.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { kubeconfigOf } from '../support/kubeconfig/one-cluster.ts';

/** Generous: it ends within a second. */
const PATIENCE_MS = 180_000;

/** An API server, and how to start reconcilers that know it; all of it ends with the test. */
async function begin(t: TestContext) {
  const api = await startApiServer({ tokens: ['t'], anonymous: { user: 'test' } });
  t.after(() => api.stop());
  const directory = temporaryDirectory(t);
  await writeFile(join(directory, 'kubeconfig'), kubeconfigOf({ server: api.url }));
  return (settings: Readonly<Record<string, string>>) => {
    const set = {
      CLUSTER: 'demo',
      GIT_URL: 'http://127.0.0.1:1/none.git',
      NOTES: 'off',
      METRICS_PORT: '0',
      ...settings,
    };
    const env = { ...process.env, KUBECONFIG: join(directory, 'kubeconfig'), ...set };
    const child = spawn(process.execPath, ['reconciler/main.ts'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
}

it('a reconciler that cannot start says why and ends, instead of living on without doing anything', async (t) => {
  const taken = createServer().listen(0, '0.0.0.0');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const start = await begin(t);
  const child = start({ HEALTH_PORT: String(port), STATUS_PAGE: 'off' });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) })) as [number | null];
  assert.equal(code, 2);
  assert.match(said, /kubelet-gitops reconciler: .*EADDRINUSE/);
});

it('the status page of the one that leads shows the cluster, that of another one the same and who leads, and a port that is taken keeps from nothing', async (t) => {
  const start = await begin(t);
  const [health, otherHealth, thirdHealth, page, otherPage] = await freePorts(5);
  const textOf = (port: number | undefined, path = ''): Promise<string> =>
    fetch(`http://127.0.0.1:${port}/${path}`).then(
      (answer) => answer.text(),
      () => '',
    );
  const says = (port: number | undefined, what: RegExp, path = ''): Promise<boolean> =>
    until(`${what.source} on the page`, async () => what.test(await textOf(port, path)), {
      withinMs: PATIENCE_MS,
      everyMs: 50,
    });
  start({ POD_NAME: 'reconciler-a', HEALTH_PORT: String(health), STATUS_PORT: String(page) });
  await says(page, /What needs attention[\s\S]*The repository cannot be read/);
  start({ POD_NAME: 'reconciler-b', HEALTH_PORT: String(otherHealth), STATUS_PORT: String(otherPage) });
  await says(
    otherPage,
    /waits for its turn[\s\S]*reconciler-a<\/code> leads[\s\S]*What needs attention[\s\S]*The repository cannot be read/,
  );
  start({ POD_NAME: 'reconciler-c', HEALTH_PORT: String(thirdHealth), STATUS_PORT: String(page) });
  await says(thirdHealth, /ok/, 'readyz');
});
