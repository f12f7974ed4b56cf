import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InstallPlan } from '#agent/ports/installer.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { createMemoryDisk } from '../../../support/agent/memory-disk.ts';
import { CONFIG, CPU_STATE, MEMORY_STATE, ROOT } from './support/manager-state-writer.ts';
import { installerOn } from '../../../support/agent/installer-on.ts';

type Fields = Readonly<Record<string, unknown>>;

const STATIC: Fields = {
  cpuManagerPolicy: 'static',
  systemReserved: { cpu: '1' },
  memoryManagerPolicy: 'Static',
  reservedMemory: [{ numaNode: 0, limits: { memory: '1000' } }],
};
const PLAIN: Fields = { maxPods: 50 };
const withGate = (config: Fields, isOn = true): Fields => ({
  ...config,
  featureGates: { PodLevelResources: true, PodLevelResourceManagers: isOn },
});

/** States as kubelets write them: which form they have shows in their checksum alone, which nobody but a kubelet computes. */
const statesOf = ({ cpuManagerPolicy, memoryManagerPolicy }: Fields, checksum: number) => ({
  [CPU_STATE]: JSON.stringify({ policyName: cpuManagerPolicy ?? 'none', defaultCpuSet: '0-7', checksum }),
  [MEMORY_STATE]: JSON.stringify({ policyName: memoryManagerPolicy ?? 'None', machineState: {}, checksum }),
});

function prepare(minor: number, local: Fields) {
  const disk = createMemoryDisk();
  for (const directory of ['/var', '/var/lib', ROOT]) disk.plant(directory, { directory: true });
  disk.plant(CONFIG, canonicalize({ maxPods: 42, ...local }));
  const write = (states: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(states)) disk.plant(path, text);
  };
  const installer = installerOn(disk, { kubeletRootDirectory: ROOT, kubeletMinor: async () => `1.${minor}` });
  const plan = (config: Fields | null): Promise<InstallPlan> =>
    installer.plan(config === null ? null : { payload: canonicalize(config), apply: 'replace' });
  const states = () => {
    const tree = disk.tree();
    return { [CPU_STATE]: tree[CPU_STATE], [MEMORY_STATE]: tree[MEMORY_STATE] };
  };
  return { installer, plan, write, states };
}

const NO_STATES = { [CPU_STATE]: undefined, [MEMORY_STATE]: undefined };

describe('the gate that changes the form of the managers’ states in 1.36', () => {
  for (const [what, config] of [
    ['managers that give something out', STATIC],
    ['managers that give nothing out', PLAIN],
  ] as const) {
    it(`has the states of ${what} make way in both directions, and come back`, async () => {
      const { installer, plan, write, states } = prepare(36, config);
      const [before, after] = [statesOf(config, 1), statesOf(config, 2)];
      write(before);
      const on = await plan(withGate(config));
      await installer.install(on);
      assert.deepEqual(states(), NO_STATES, 'no kubelet is to begin with the other form');
      write(after);
      await installer.install(await plan(config));
      assert.deepEqual(states(), before);
      await installer.install(on);
      assert.deepEqual(states(), after);
    });

    it(`gives the guard the states of ${what} to put back`, async () => {
      const { installer, plan, write } = prepare(36, config);
      const before = statesOf(config, 1);
      write(before);
      const back = await installer.fallbackFiles(await plan(withGate(config)), await plan(null));
      const put = new Map(back.map(({ path, bytes }) => [path, bytes?.toString('utf8')]));
      for (const [path, text] of Object.entries(before)) assert.equal(put.get(path), text);
    });
  }

  it('leaves them alone where its word only changes in writing', async () => {
    const { installer, plan, write, states } = prepare(36, STATIC);
    const before = statesOf(STATIC, 1);
    write(before);
    await installer.install(await plan(withGate(STATIC, false)));
    assert.deepEqual(states(), before);
  });

  for (const minor of [35, 37]) {
    it(`is nothing to kubelets 1.${minor}`, async () => {
      const { installer, plan, write, states } = prepare(minor, STATIC);
      const before = statesOf(STATIC, 1);
      write(before);
      await installer.install(await plan(withGate(STATIC)));
      assert.deepEqual(states(), before);
      await installer.install(await plan(STATIC));
      assert.deepEqual(states(), before);
    });
  }
});
