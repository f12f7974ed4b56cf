import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { after, before, test, type TestContext } from 'node:test';
import { nodeSkipReason } from './support/binaries.ts';
import { type ContainerRuntime, startContainerd } from './support/container-runtime.ts';
import { type ControlPlane, startControlPlane } from './support/control-plane.ts';
import { callHttps } from './support/https-json.ts';
import { type Kubelet, startKubelet } from './support/kubelet.ts';
import { until } from '../support/until.ts';

// What the other cluster tests stand on: one real control plane with one real node, end to end.
const skip = await nodeSkipReason();
const run = promisify(execFile);
let cluster: ControlPlane;
let runtime: ContainerRuntime;
let kubelet: Kubelet;

if (skip === false) {
  before(async () => {
    cluster = await startControlPlane();
    runtime = await startContainerd();
    kubelet = await startKubelet({ controlPlane: cluster, runtime, nodeName: 'node-a', config: { maxPods: 42 } });
  });
}

after(async () => {
  await kubelet?.stop();
  await runtime?.stop();
  await cluster?.stop();
});

test('the node is Ready and runs the version of the kubelet it claims', { skip }, async () => {
  const { stdout } = await cluster.kubectl(['get', 'node', 'node-a', '-o', 'json']);
  const node = JSON.parse(stdout) as { status: { nodeInfo: { kubeletVersion: string } } };
  assert.equal(await kubelet.ready(), true);
  assert.equal(node.status.nodeInfo.kubeletVersion, 'v1.20.2');
});

test('the API server says which version it is', { skip }, async () => {
  const version = (await cluster.request('GET', '/version')).json() as { gitVersion: string };
  assert.match(version.gitVersion, /^v1\.\d+\.\d+$/);
});

test('configz tells the config that was given', { skip }, async () => {
  assert.equal((await kubelet.configz())['maxPods'], 42);
});

test('a service account reads configz when it may get nodes/proxy, and otherwise not', { skip }, async () => {
  const ca = await readFile(kubelet.servingCertFile, 'utf8');
  const statusFor = async (account: string): Promise<number> => {
    const token = await cluster.serviceAccountToken('default', account);
    const url = `https://127.0.0.1:${kubelet.port}/configz`;
    return (await callHttps({ url, ca, serverName: 'node-a', as: { token } })).status;
  };
  for (const command of [
    'create serviceaccount stranger',
    'create serviceaccount reader',
    'create clusterrole reader --verb=get --resource=nodes/proxy',
    'create clusterrolebinding reader --clusterrole=reader --serviceaccount=default:reader',
  ]) {
    const { code, stderr } = await cluster.kubectl(command.split(' '));
    assert.equal(code, 0, stderr);
  }
  // The authoriser hears of a binding a moment later, and a kubelet keeps a refusal for a while.
  const can = ['auth', 'can-i', 'get', 'nodes', '--subresource=proxy', '--as=system:serviceaccount:default:reader'];
  await until('the right of the reader', async () => (await cluster.kubectl(can)).code === 0);
  assert.equal(await statusFor('reader'), 200);
  assert.equal(await statusFor('stranger'), 403);
});

test('the restart command brings the kubelet back, healthy and with what its file says now', { skip }, async (t) => {
  const changed = { ...kubelet.config, maxPods: 43 };
  await writeFile(kubelet.configFile, JSON.stringify(changed));
  const restarts = await kubelet.restarts();
  const started = performance.now();
  await run('sh', ['-c', kubelet.restartCommand]);
  await until('a new process', async () => (await kubelet.restarts()) > restarts, { everyMs: 10 });
  await until('a healthy kubelet', kubelet.healthy, { everyMs: 20, evidence: kubelet.logTail });
  say(t, 'kubelet restart, from the signal to healthy', started);
  assert.equal(await kubelet.restarts(), restarts + 1);
  assert.equal((await kubelet.configz())['maxPods'], 43);
});

test('the API server comes back on the same address with all its objects', { skip }, async (t) => {
  await cluster.kubectl(['create', 'configmap', 'kept', '--from-literal=a=b']);
  const started = performance.now();
  await cluster.restart();
  say(t, 'API server restart', started);
  const { stdout } = await cluster.kubectl(['get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}']);
  assert.equal(stdout, 'b');
});

test('stopping leaves no process and no file', { skip }, async (t) => {
  const started = performance.now();
  const supervised = Number(await readFile(kubelet.pidFile, 'utf8'));
  await kubelet.stop();
  await runtime.stop();
  await cluster.stop();
  say(t, 'stopping everything', started);
  assert.equal(existsSync(`/proc/${supervised}`), false);
  for (const path of [kubelet.configFile, runtime.socket, cluster.adminKubeconfig]) {
    assert.equal(existsSync(path), false, path);
    assert.deepEqual(await processesNaming(path), []);
  }
});

async function processesNaming(path: string): Promise<readonly string[]> {
  const processes = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const lines = await Promise.all(processes.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(path));
}

/** Figures are for information: they depend on the machine. */
function say(t: TestContext, what: string, started: number): void {
  t.diagnostic(`${what}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
