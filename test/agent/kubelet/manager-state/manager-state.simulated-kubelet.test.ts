import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import type { Installer } from '#agent/ports/installer.ts';
import { createSimulatedKubelet, type SimulatedKubelet } from '#sandbox/kubelet/kubelet.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { until } from '../../../support/until.ts';
import { installerOn } from '../../../support/agent/installer-on.ts';

type Config = Readonly<Record<string, unknown>>;

const TIMING = { stopMs: 0, loadMs: 0, startMs: 0, readyMs: 0, restartMs: 5, heartbeatMs: 1000, lostMs: 1000 };
const STATIC: Config = { cpuManagerPolicy: 'static', kubeReserved: { cpu: '1' } };
const MEMORY: Config = {
  memoryManagerPolicy: 'Static',
  kubeReserved: { memory: '924Mi' },
  reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi' } }],
};
const never = new AbortController().signal;

for (const readsDropIns of [true, false]) {
  describe(`a kubelet ${readsDropIns ? 'with' : 'without'} drop-ins that refuses the state of another policy`, () => {
    let directory: string;
    let kubelet: SimulatedKubelet;
    let installer: Installer;

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-manager-state-'));
      kubelet = await createSimulatedKubelet({
        directory: join(directory, 'kubelet'),
        version: 'v1.34.2',
        timing: TIMING,
        endpoints: 'direct',
        readsDropIns,
      });
      await kubelet.start();
      await until('it runs', () => kubelet.running() !== null);
      installer = installerOn(createNodeDisk(), {
        stateDirectory: join(directory, 'state'),
        configFile: kubelet.configFile,
        dropInDirectory: kubelet.dropInDirectory,
        kubeletRootDirectory: kubelet.rootDirectory,
      });
    });
    afterEach(async () => {
      await kubelet.close();
      await rm(directory, { recursive: true });
    });

    const run = async (fields: Config | null): Promise<void> => {
      const starts = kubelet.starts();
      const config = fields === null ? null : ({ payload: canonicalize(fields), apply: 'overlay' } as const);
      await installer.install(await installer.plan(config));
      await installer.install(await installer.plan(config));
      await kubelet.service.restart('test', never);
      await until('it runs again', () => kubelet.starts() > starts && kubelet.running() !== null);
      assert.deepEqual([kubelet.starts(), kubelet.lastWords()], [starts + 1, ''], 'at its first start');
    };
    const policies = (): Promise<readonly string[]> =>
      Promise.all(
        ['cpu_manager_state', 'memory_manager_state'].map(
          async (file) =>
            (JSON.parse(await readFile(join(kubelet.rootDirectory, file), 'utf8')) as { readonly policyName: string })
              .policyName,
        ),
      );

    it('goes from none to static and back, for CPUs and for memory, with one start each', async () => {
      await run(STATIC);
      assert.deepEqual(await policies(), ['static', 'None']);
      await run(null);
      assert.deepEqual(await policies(), ['none', 'None']);
      await run(MEMORY);
      assert.deepEqual(await policies(), ['none', 'Static']);
      await run(STATIC);
      assert.deepEqual(await policies(), ['static', 'None']);
      await installer.forgetState();
      await run({ maxPods: 50 });
      assert.deepEqual(await policies(), ['none', 'None']);
    });
  });
}
