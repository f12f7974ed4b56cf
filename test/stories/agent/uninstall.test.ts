import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createAgent } from '#agent/agent.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { noGuard } from '#agent/ports/guard.ts';
import { createSealableDisk, createUninstall, LOCK_NAME } from '#agent/execute/uninstall.ts';
import { waitForLock } from '#agent/lock.ts';
import { startApiServer } from '#sandbox/api-server/server.ts';
import { createSimulatedKubelet } from '#sandbox/kubelet/kubelet.ts';
import { DEFAULT_NAMESPACE, PAYLOAD_KEY } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { CONFIG_MAPS, KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../../support/until.ts';
import { installerOn } from '../../support/agent/installer-on.ts';

const NODE = 'worker-1';
const SOON = { withinMs: 180_000, everyMs: 20 };
const PACE = { idleMs: 200, changingMs: 50, steadyMs: 200, contradictedMs: 1000, restartRetryMs: 500 };

/** A node of the sandbox that runs a config of ours, and an agent that is started in either mode. */
async function startNode() {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-uninstall-'));
  const stateDirectory = join(directory, 'state');
  const api = await startApiServer({ tokens: ['agent'] });
  const version = 'v1.34.2';
  api.store.seed(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: NODE },
    status: { nodeInfo: { kubeletVersion: version }, conditions: [] },
  });
  api.store.seed(KUBELET_NODES, {
    apiVersion: 'kubelet-gitops.dev/v1alpha1',
    kind: 'KubeletNode',
    metadata: { name: NODE },
    spec: {},
  });
  const kubelet = await createSimulatedKubelet({ directory: join(directory, 'kubelet'), version, readsDropIns: false });
  await kubelet.start();
  const local = await readFile(kubelet.configFile, 'utf8');

  const run = async (mode: 'run' | 'uninstall') => {
    const stop = new AbortController();
    const nodeDisk = createNodeDisk();
    const { disk, seal } = createSealableDisk(nodeDisk);
    const kubeOptions = { clock: systemClock, log: silentLog, userAgent: 'test' };
    const kube = createKube({ ...kubeOptions, server: api.url, credentials: staticCredentials({ token: 'agent' }) });
    await disk.makeDirectory(stateDirectory, 0o700);
    const lock = await waitForLock(join(stateDirectory, LOCK_NAME), systemClock, silentLog, stop.signal);
    const installer = installerOn(disk, { stateDirectory, configFile: kubelet.configFile });
    const guard = noGuard('there is none in this test');
    const uninstall = createUninstall({
      disk: nodeDisk,
      seal,
      stateDirectory,
      configFile: kubelet.configFile,
      dropInDirectory: undefined,
      installer,
      guard,
      releaseLock: async () => lock?.release(),
    });
    const agent = createAgent({
      nodeName: NODE,
      stateDirectory,
      kube,
      disk,
      service: kubelet.service,
      probe: kubelet.probe,
      installer,
      guard,
      bootId: () => Promise.resolve(kubelet.bootId()),
      clock: systemClock,
      random: Math.random,
      log: silentLog,
      timing: PACE,
      ...(mode === 'uninstall' ? { uninstall } : {}),
    });
    const running = agent.run(stop.signal);
    return async (): Promise<void> => {
      stop.abort();
      await running;
      await lock?.release();
    };
  };
  const status = () => (api.store.get(KUBELET_NODES, NODE) as unknown as KubeletNode).status ?? {};
  return {
    api,
    kubelet,
    local,
    run,
    status,
    assign(maxPods: number): string {
      const payload = canonicalize({
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        maxPods,
      });
      const name = configMapName('pool', payload);
      const metadata = { name, namespace: DEFAULT_NAMESPACE };
      const made = api.store.seed(CONFIG_MAPS, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata,
        immutable: true,
        data: { [PAYLOAD_KEY]: payload },
      });
      const { uid, resourceVersion } = made.metadata;
      const sha256 = payloadSha256(payload);
      const configSource = { namespace: DEFAULT_NAMESPACE, name, uid, resourceVersion, key: PAYLOAD_KEY, sha256 };
      const trial = { duration: '300ms', startTimeout: '60s', maxRestarts: 0 };
      api.store.patch(KUBELET_NODES, NODE, { spec: { configSource, apply: 'overlay', trial } });
      return name;
    },
    left: () => readdir(stateDirectory),
    async runs(name: string): Promise<void> {
      await until(
        `rest on ${name}`,
        async () => status().phase === 'Idle' && status().lastKnownGood?.name === name,
        SOON,
      );
    },
    async stop() {
      await kubelet.close();
      await api.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

describe('an agent that is told to give its node up', () => {
  it('brings it back to local with one restart, although a config is assigned, and leaves nothing behind', async () => {
    const node = await startNode();
    try {
      const stopAgent = await node.run('run');
      await node.runs('local');
      const name = node.assign(77);
      await node.runs(name);
      await stopAgent();
      const before = node.kubelet.starts();

      const stopUninstaller = await node.run('uninstall');
      await until('nothing to be left', async () => (await node.left()).length === 0, SOON);
      assert.equal(await readFile(node.kubelet.configFile, 'utf8'), node.local);
      assert.equal(node.kubelet.starts(), before + 1);
      await until('word of it', async () => node.status().active?.name === 'local', SOON);

      // It stays, and does nothing: neither by itself nor because something is assigned.
      node.assign(78);
      await systemClock.sleep(1000);
      assert.deepEqual(await node.left(), []);
      assert.equal(node.kubelet.starts(), before + 1);
      await stopUninstaller();
      assert.deepEqual(await node.left(), []);
    } finally {
      await node.stop();
    }
  });

  it('does so without an API server, and restarts nothing where local runs already', async () => {
    const node = await startNode();
    try {
      const stopAgent = await node.run('run');
      await node.runs('local');
      await stopAgent();
      await node.api.stop();
      const before = node.kubelet.starts();
      const stopUninstaller = await node.run('uninstall');
      await until('nothing to be left', async () => (await node.left()).length === 0, SOON);
      assert.equal(node.kubelet.starts(), before);
      await stopUninstaller();
    } finally {
      await node.stop();
    }
  });
});
