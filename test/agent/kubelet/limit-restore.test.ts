import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { guardOrderFor } from '#agent/execute/guard-order.ts';
import { encodePlan } from '#agent/guard/guard-plan.ts';
import { createHostFiles, type HostFiles } from '#agent/host/host-files.ts';
import { createLimitRestorer } from '#agent/kubelet/limit-restore.ts';
import { setUnitProperty } from '#agent/kubelet/systemd-unit.ts';
import type { BusConnection, MethodCall } from '#agent/host/dbus/connection.ts';
import { marshal } from '#agent/host/dbus/marshal.ts';
import { limitsSetBy, busValueOf, parseLimitName } from '#agent/decide/cgroup-limits.ts';
import type { InstallPlan } from '#agent/ports/installer.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { createMemoryDisk } from '../../support/agent/memory-disk.ts';
import { B, INSTALLING, onTrial } from '../../support/agent/states.ts';
import { installerOn } from '../../support/agent/installer-on.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

type Fields = Readonly<Record<string, unknown>>;

const STATE = '/var/lib/kubelet-gitops';
const CONFIG = '/var/lib/kubelet/config.yaml';
const NONE = 2n ** 64n - 1n;

const slice = (reserved: Fields): Fields => ({
  enforceNodeAllocatable: ['pods', 'system-reserved'],
  systemReservedCgroup: '/system.slice',
  systemReserved: reserved,
});
const PLAIN: Fields = { maxPods: 50 };
const SMALL = slice({ memory: '40Mi' });
const LARGE = slice({ memory: '4Gi' });
const BOTH = slice({ memory: '2Gi', cpu: '500m' });

/** A machine whose kubelet limits what its config says, and whose systemd does what it is told unless it is out of order. */
function prepare(local: Fields = { maxPods: 42 }) {
  const disk = createMemoryDisk();
  for (const directory of ['/var', '/var/lib', STATE, '/var/lib/kubelet']) disk.plant(directory, { directory: true });
  disk.plant(CONFIG, canonicalize(local));
  const limits = new Map<string, bigint>([
    ['system.slice MemoryMax', NONE],
    ['system.slice CPUWeight', 100n],
  ]);
  const host = { isInOrder: true, faults: [] as string[] };
  const files = {
    kind: async (path: string) =>
      path.endsWith('.slice') && !path.endsWith('/system.slice')
        ? 'missing'
        : path.endsWith('controllers')
          ? 'file'
          : 'directory',
    text: async (path: string) => {
      const value = limits.get(
        path.endsWith('system.slice/memory.max')
          ? 'system.slice MemoryMax'
          : path.endsWith('system.slice/cpu.weight')
            ? 'system.slice CPUWeight'
            : '',
      );
      return value === NONE ? 'max\n' : `${value}\n`;
    },
  } as unknown as HostFiles;
  const installer = installerOn(disk, {
    limits: createLimitRestorer({
      nodeName: 'node-a',
      disk,
      stateDirectory: STATE,
      files,
      setProperty: async (unit, property, value) => {
        if (!host.isInOrder) throw new Error('no');
        limits.set(`${unit} ${property}`, value);
      },
      onFault: (what) => host.faults.push(what),
    }),
  });
  const plan = (config: Fields | null): Promise<InstallPlan> =>
    installer.plan(config === null ? null : { payload: canonicalize(config), apply: 'replace' });
  /** As a kubelet does it at its start. */
  const start = ({ effective }: InstallPlan): void => {
    const view = viewOf(effective, 34, 'replace');
    const amounts = new Map(view.entries('systemReserved'));
    for (const name of limitsSetBy(view, 2)) {
      limits.set(name, name.endsWith('MemoryMax') ? BigInt((amounts.get('memory') ?? '').length) : 7n);
    }
  };
  const run = async (config: Fields | null): Promise<void> => {
    const wanted = await plan(config);
    await installer.install(wanted);
    start(wanted);
  };
  const memory = () => limits.get('system.slice MemoryMax');
  const weight = () => limits.get('system.slice CPUWeight');
  return { disk, installer, plan, run, start, limits, memory, weight, host };
}

describe('what a config had the kubelet limit', () => {
  it('is as before when the node is back', async () => {
    const { run, memory, disk, host } = prepare();
    await run(PLAIN);
    await run(SMALL);
    assert.equal(memory(), 4n);
    await run(PLAIN);
    assert.equal(memory(), NONE);
    assert.equal(await disk.read(`${STATE}/limits`), null);
    assert.deepEqual(host.faults, []);
  });

  it('is as before when the node is back at its own config', async () => {
    const { run, memory } = prepare();
    await run(SMALL);
    await run(null);
    assert.equal(memory(), NONE);
  });

  it('is as before it, however many configs that limit the same came after it', async () => {
    const { run, memory, weight } = prepare();
    await run(SMALL);
    await run(LARGE);
    await run(BOTH);
    assert.deepEqual([memory(), weight()], [3n, 7n]);
    await run(LARGE);
    assert.deepEqual([memory(), weight()], [3n, 100n], 'only what is not limited any more');
    await run(PLAIN);
    assert.deepEqual([memory(), weight()], [NONE, 100n]);
  });

  it('is as before it after a trial in between that did not limit it', async () => {
    const { run, memory } = prepare();
    await run(SMALL);
    await run(PLAIN);
    await run(SMALL);
    assert.equal(memory(), 4n);
    await run(PLAIN);
    assert.equal(memory(), NONE);
  });

  it('is what somebody else had set', async () => {
    const { run, memory, limits } = prepare();
    limits.set('system.slice MemoryMax', 1_000n);
    await run(SMALL);
    await run(PLAIN);
    assert.equal(memory(), 1_000n);
  });

  it('stays where the node’s own config limits it: nobody knows what was before', async () => {
    const { run, memory, disk } = prepare(LARGE);
    await run(SMALL);
    assert.equal(await disk.read(`${STATE}/limits`), null);
    await run(PLAIN);
    assert.equal(memory(), 4n);
  });

  it('is noted before the kubelet can read the config', async () => {
    const { installer, plan, disk, memory, start, run } = prepare();
    const wanted = await plan(SMALL);
    await installer.fallbackLimits(wanted, await plan(null));
    assert.match(String(await disk.read(`${STATE}/limits`)), /"system\.slice MemoryMax":"infinity"/);
    // The agent dies here; the kubelet starts with the files, and the next agent installs them again.
    await installer.install(wanted);
    start(wanted);
    await installer.install(wanted);
    await run(PLAIN);
    assert.equal(memory(), NONE);
  });

  it('keeps no node from its way back where systemd is out of order, is told, and is lifted later', async () => {
    const { run, memory, host, disk } = prepare();
    await run(SMALL);
    host.isInOrder = false;
    await run(PLAIN);
    assert.match(String(await disk.read(CONFIG)), /50/);
    assert.equal(memory(), 4n);
    assert.deepEqual(host.faults, ['a limit that an earlier config set stays on system.slice MemoryMax']);
    host.isInOrder = true;
    await run({ maxPods: 51 });
    assert.equal(memory(), NONE);
  });

  it('is believed of no note that came with the disk of another node', async () => {
    for (const [node, expected] of [
      ['node-a', NONE],
      ['node-b', 4n],
    ] as const) {
      const { run, disk, memory } = prepare();
      await run(SMALL);
      const note = disk.tree()[`${STATE}/limits`] ?? '';
      disk.plant(`${STATE}/limits`, note.replace('node-a', node));
      await run(PLAIN);
      assert.equal(memory(), expected, node);
    }
  });

  it('is believed of no damaged note', async () => {
    for (const note of ['', '{', '{"version":2,"limits":{"ssh.service ExecStart":"1"}}', '{"version":3,"limits":{}}']) {
      const { run, disk, limits } = prepare();
      disk.plant(`${STATE}/limits`, note);
      await run(PLAIN);
      assert.deepEqual([...limits.keys()], ['system.slice MemoryMax', 'system.slice CPUWeight'], note);
    }
  });
});

describe('the guard', () => {
  it('is told what to lift, and only what the config that it goes back to does not limit', async () => {
    const { installer, plan, run } = prepare();
    await run(LARGE);
    assert.deepEqual(await installer.fallbackLimits(await plan(BOTH), await plan(LARGE)), {
      'system.slice CPUWeight': '100',
    });
    assert.deepEqual(await installer.fallbackLimits(await plan(BOTH), await plan(null)), {
      'system.slice MemoryMax': 'infinity',
      'system.slice CPUWeight': '100',
    });
  });

  it('has it in its plan', async () => {
    const { installer } = prepare();
    const { doing } = onTrial(INSTALLING, { config: { ...B, apply: 'replace' } });
    assert.ok(doing.phase === 'trial');
    const payloads = { read: async () => ({ payload: canonicalize(SMALL) }) };
    const order = await guardOrderFor({ do: 'arm-guard', trial: doing, to: null }, payloads, installer);
    const text = encodePlan(order, { unit: 'kubelet.service', dropIn: '/d' });
    assert.match(text, /^limit system\.slice MemoryMax=infinity\nend\n$/m);
  });
});

describe('what a unit is limited to now', () => {
  const GROUPS = [
    ['/system.slice', 'system.slice', 'system.slice'],
    ['/a-b.slice', 'a-b.slice', 'a.slice/a-b.slice'],
    ['/runtime.slice/containerd.service', 'containerd.service', 'system.slice/containerd.service'],
    ['/containerd.service', 'containerd.service', 'containerd.service'],
  ] as const;
  for (const [cgroup, unit, directory] of GROUPS) {
    it(`is read where systemd has its cgroup: ${directory}`, async (t) => {
      const root = temporaryDirectory(t);
      const at = join(root, 'sys/fs/cgroup');
      await mkdir(join(at, directory), { recursive: true });
      await writeFile(join(at, 'cgroup.controllers'), 'memory\n');
      await writeFile(join(at, directory, 'memory.max'), '4096\n');
      const disk = createMemoryDisk();
      disk.plant('/state', { directory: true });
      const limits = createLimitRestorer({
        nodeName: 'node-a',
        disk,
        stateDirectory: '/state',
        files: createHostFiles(root),
        setProperty: () => Promise.resolve(),
        onFault: (what, error) => assert.fail(`${what}: ${String(error)}`),
      });
      const wanted = { ...SMALL, systemReservedCgroup: cgroup };
      await limits.record({ present: PLAIN, wanted, minor: 34 });
      const back = { present: wanted, wanted: PLAIN, minor: 34 };
      assert.deepEqual(await limits.fallbackLimits(back), { [`${unit} MemoryMax`]: '4096' });
    });
  }
});

describe('a property of a unit', () => {
  it('is set until the next boot', async () => {
    const calls: MethodCall[] = [];
    const call: BusConnection['call'] = async (each) => {
      calls.push(each);
      return [];
    };
    const connection = { call } as unknown as BusConnection;
    const [unit, property] = parseLimitName('system.slice MemoryMax');
    await setUnitProperty(connection, unit, [property, busValueOf('infinity')], new AbortController().signal);
    const [{ member, signature = '', body = [] } = { member: '' }] = calls;
    assert.equal(member, 'SetUnitProperties');
    assert.deepEqual(body, ['system.slice', true, [['MemoryMax', { signature: 't', value: NONE }]]]);
    assert.ok(marshal(signature, body).includes('MemoryMax'));
  });
});
