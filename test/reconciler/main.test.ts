import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { startApiServer } from '#sandbox/api-server/server.ts';

/** Generous: it ends within a second. */
const PATIENCE_MS = 30_000;

it('a reconciler that cannot start says why and ends, instead of living on without doing anything', async (t) => {
  const api = await startApiServer({ tokens: ['t'], anonymous: { user: 'test' } });
  const taken = createServer().listen(0, '0.0.0.0');
  await once(taken, 'listening');
  t.after(async () => {
    taken.close();
    await api.stop();
  });
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: api.url } }],
    users: [{ name: 'c', user: {} }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  };
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-main-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  await writeFile(join(directory, 'kubeconfig'), JSON.stringify(kubeconfig));

  const env = {
    ...process.env,
    KUBECONFIG: join(directory, 'kubeconfig'),
    CLUSTER: 'demo',
    GIT_URL: 'http://127.0.0.1:1/none.git',
    HEALTH_PORT: String(port),
  };
  const child = spawn(process.execPath, ['reconciler/main.ts'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) })) as [number | null];
  assert.equal(code, 2);
  assert.match(said, /kubelet-gitops reconciler: .*EADDRINUSE/);
});
