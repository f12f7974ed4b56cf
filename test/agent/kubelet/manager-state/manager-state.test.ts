import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createInstaller } from '#agent/kubelet/install.ts';
import type { Installer, InstallPlan } from '#agent/kubelet/installer.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { createMemoryDisk, type MemoryDisk } from '../../../support/agent/memory-disk.ts';
import { CONFIG, CPU_STATE, createStateWriter, MEMORY_STATE, ROOT, type StateWriter } from './state-writer.ts';

type Config = Readonly<Record<string, unknown>>;

const STATE = '/var/lib/kubelet-gitops';
const ASIDE = `${STATE}/manager-state`;
const LOCAL = canonicalize({ maxPods: 42 });

/** Each pair of them is a change that something may not survive. */
const CONFIGS = {
  none: { maxPods: 50 },
  otherwise: { maxPods: 51 },
  static: { cpuManagerPolicy: 'static', systemReserved: { cpu: '1' } },
  'static, more reserved': { cpuManagerPolicy: 'static', systemReserved: { cpu: '3' } },
  'static, the last CPUs': {
    cpuManagerPolicy: 'static',
    systemReserved: { cpu: '3' },
    cpuManagerPolicyOptions: { 'distribute-cpus-across-numa': 'true' },
  },
  'static, named': { cpuManagerPolicy: 'static', reservedSystemCPUs: '0,7' },
  memory: { memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 0, limits: { memory: '1000' } }] },
  'more memory': { memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 0, limits: { memory: '2000' } }] },
} as const satisfies Readonly<Record<string, Config>>;
type Name = keyof typeof CONFIGS;
const NAMES = Object.keys(CONFIGS) as readonly Name[];

interface Bench {
  readonly disk: MemoryDisk;
  readonly kubelet: StateWriter;
  readonly installer: Installer;
  plan(name: Name | null): Promise<InstallPlan>;
  /** Installs, lets something happen while the old kubelet still runs, installs again, and restarts the kubelet. */
  change(name: Name | null, meanwhile?: () => void): Promise<void>;
  text(path: string): string | undefined;
}

function prepare(): Bench {
  const disk = createMemoryDisk();
  for (const directory of ['/var', '/var/lib', ROOT]) disk.plant(directory, { directory: true });
  disk.plant(CONFIG, LOCAL);
  const kubelet = createStateWriter(disk);
  kubelet.start();
  const installer = createInstaller({
    disk,
    stateDirectory: STATE,
    configFile: CONFIG,
    dropInDirectory: undefined,
    kubeletRootDirectory: ROOT,
    kubeletMinor: async () => '1.34',
  });
  const plan = (name: Name | null): Promise<InstallPlan> =>
    installer.plan(name === null ? null : { payload: canonicalize(CONFIGS[name]), apply: 'replace' });
  return {
    disk,
    kubelet,
    installer,
    plan,
    async change(name, meanwhile = () => undefined) {
      await installer.install(await plan(name));
      meanwhile();
      await installer.install(await plan(name));
      kubelet.start();
    },
    text: (path) => disk.tree()[path],
  };
}

describe('a state file that fits the config', () => {
  for (const [from, to] of [
    ['none', 'otherwise'],
    ['static', 'static'],
    ['memory', 'memory'],
  ] as const) {
    it(`is not touched from ${from} to ${to}, and nothing is written for it`, async () => {
      const { disk, kubelet, installer, plan, change, text } = prepare();
      await change(from);
      kubelet.givePod();
      await installer.forgetState();
      const before = [text(CPU_STATE), text(MEMORY_STATE)];
      await change(to);
      assert.deepEqual([text(CPU_STATE), text(MEMORY_STATE)], before);
      assert.equal(text(`${ASIDE}/cpu_manager_state`), undefined);
      const changes = disk.changes();
      await installer.install(await plan(to));
      assert.equal(disk.changes(), changes);
    });
  }

  it('is not made where the kubelet has none', async () => {
    const { disk, installer, plan, text } = prepare();
    for (const path of [CPU_STATE, MEMORY_STATE]) disk.plant(path, null);
    await installer.install(await plan('static'));
    await installer.install(await plan(null));
    assert.deepEqual([text(CPU_STATE), text(MEMORY_STATE)], [undefined, undefined]);
  });

  it('stays what it is where it is no file: a kubelet cannot read it, and it is not ours to move', async () => {
    const { disk, installer, plan } = prepare();
    disk.plant(CPU_STATE, { directory: true });
    await installer.install(await plan('static'));
    assert.equal((await disk.stat(CPU_STATE))?.kind, 'directory');
  });
});

describe('a state file that does not fit the config', () => {
  it('is put aside, and is back byte by byte, with its owner and mode, after the fallback', async () => {
    const { disk, kubelet, change, text } = prepare();
    await change('static');
    kubelet.givePod();
    const before = text(CPU_STATE) ?? '';
    await disk.replace(CPU_STATE, Buffer.from(before), { mode: 0o640, uid: 7, gid: 8 });
    await change('none');
    assert.match(text(CPU_STATE) ?? '', /"none"/);
    await change('static');
    assert.equal(text(CPU_STATE), before);
    const { mode, uid, gid } = (await disk.stat(CPU_STATE)) ?? {};
    assert.deepEqual([mode, uid, gid], [0o640, 7, 8]);
  });

  it('is put aside also when the way back leads over a config that took the place of the one on trial', async () => {
    const { kubelet, change, text } = prepare();
    await change('static');
    kubelet.givePod();
    const before = text(CPU_STATE);
    await change('none');
    await change('static, more reserved');
    kubelet.givePod();
    await change('memory');
    await change('static');
    assert.equal(text(CPU_STATE), before);
  });

  it('is forgotten when nothing is on trial any more: it would be of pods that are gone', async () => {
    const { kubelet, installer, change, text, disk } = prepare();
    await change('static');
    kubelet.givePod();
    const before = text(CPU_STATE);
    await change('none');
    await installer.forgetState();
    assert.equal(await disk.stat(ASIDE), null);
    await change('static');
    assert.notEqual(text(CPU_STATE), before);
    await installer.forgetState();
    await installer.forgetState();
  });

  it('makes way again where the old kubelet wrote it once more before it was stopped', async () => {
    for (const from of ['static', 'static, more reserved', 'static, the last CPUs'] as const) {
      for (const to of NAMES) {
        const { kubelet, change } = prepare();
        await change(from);
        kubelet.givePod();
        kubelet.givePod();
        await change(to, kubelet.givePod);
        await change(from, kubelet.takePod);
        await change(to, kubelet.takePod);
      }
    }
  });

  it('is not asked for twice: what the new kubelet wrote stays when the installation is repeated', async () => {
    const { kubelet, installer, plan, change, text } = prepare();
    await change('static');
    kubelet.givePod();
    const before = text(CPU_STATE);
    await installer.install(await plan('static'));
    assert.equal(text(CPU_STATE), before);
  });

  it('that no kubelet can read goes in any case, and is kept for people; nothing puts it back', async () => {
    for (const damaged of ['', '{"policyName":"no', '\0\0\0']) {
      const { disk, change, text } = prepare();
      disk.plant(CPU_STATE, damaged);
      await change('otherwise');
      assert.equal(text(`${ASIDE}/cpu_manager_state.damaged`), damaged);
      await change(null);
      assert.match(text(CPU_STATE) ?? '', /"none"/);
    }
  });

  it('is lost where what was put aside is damaged; the kubelet starts all the same', async () => {
    for (const damage of ['', '{"version":1}', '{"version":2}', { directory: true }] as const) {
      const { disk, kubelet, change } = prepare();
      await change('static');
      kubelet.givePod();
      await change('none');
      disk.plant(`${ASIDE}/cpu_manager_state`, damage);
      await change('static');
      disk.plant(ASIDE, null);
      disk.plant(ASIDE, 'a file');
      await change('none');
    }
  });
});

describe('a change that is cut short at any point', () => {
  for (const from of ['none', 'static', 'memory'] as const) {
    for (const to of NAMES) {
      it(`from ${from} to ${to} never meets a kubelet with a state that it refuses, and leads there or back`, async () => {
        for (let changes = 0; changes < 12; changes += 1) {
          for (const then of [to, from]) {
            const { disk, kubelet, installer, plan, change } = prepare();
            await change(from);
            kubelet.givePod();
            kubelet.givePod();
            await installer.forgetState();
            disk.failAfter(changes);
            await installer.install(await plan(to)).catch(() => undefined);
            disk.failAfter(null);
            // The machine goes down, or not.
            if (changes % 2 === 0) kubelet.start();
            await change(then);
          }
        }
      });
    }
  }
});

describe('the way back', () => {
  const names = fc.constantFrom(...NAMES);

  it('from any trial to any config, in plain writes, is what was there before', async () => {
    await fc.assert(
      fc.asyncProperty(names, names, fc.nat(3), fc.boolean(), async (good, trial, pods, runs) => {
        const { disk, kubelet, installer, plan, change, text } = prepare();
        await change(good);
        for (let pod = 0; pod < pods; pod += 1) kubelet.givePod();
        await installer.forgetState();
        const before = [text(CPU_STATE), text(MEMORY_STATE), text(CONFIG)];
        const to = await plan(good);
        const back = await installer.wayBack(await plan(trial), to);
        await installer.install(await plan(trial));
        if (runs) {
          kubelet.start();
          kubelet.givePod();
          kubelet.takePod();
        }
        for (const { path, bytes } of back) disk.plant(path, bytes === null ? null : bytes.toString('utf8'));
        assert.deepEqual([text(CPU_STATE), text(MEMORY_STATE), text(CONFIG)], before);
        assert.ok(await installer.isInstalled(to));
        assert.ok(await installer.isInstalled(await plan(good)));
        kubelet.start();
        // The agent comes back, and does what it did before.
        await change(good);
        assert.deepEqual([text(CPU_STATE), text(MEMORY_STATE)], before.slice(0, 2));
      }),
      { numRuns: 150 },
    );
  });

  it('from a trial that took the place of another leads to the state of what it goes back to', async () => {
    await fc.assert(
      fc.asyncProperty(names, names, names, async (good, first, second) => {
        const { disk, kubelet, installer, plan, change, text } = prepare();
        await change(good);
        kubelet.givePod();
        await installer.forgetState();
        const before = text(CPU_STATE);
        await change(first);
        const changed = text(CPU_STATE) !== before;
        const back = await installer.wayBack(await plan(second), await plan(good));
        await installer.install(await plan(second));
        for (const { path, bytes } of back) disk.plant(path, bytes === null ? null : bytes.toString('utf8'));
        kubelet.start();
        if (changed) assert.equal(text(CPU_STATE), before);
      }),
      { numRuns: 150 },
    );
  });

  it('names no state file where the trial changes none, and writes nothing to find that out', async () => {
    const { disk, installer, plan, change } = prepare();
    await change('none');
    const changes = disk.changes();
    const back = await installer.wayBack(await plan('otherwise'), await plan('none'));
    assert.deepEqual(
      back.map(({ path }) => path),
      [CONFIG],
    );
    assert.equal(disk.changes(), changes, 'what it names is known to be ours');
  });

  it('has the state removed that a kubelet on trial would make', async () => {
    const { disk, installer, plan } = prepare();
    disk.plant(CPU_STATE, null);
    const back = await installer.wayBack(await plan('static'), await plan(null));
    assert.deepEqual(
      back.filter(({ path }) => path === CPU_STATE),
      [{ path: CPU_STATE, bytes: null }],
    );
  });
});
