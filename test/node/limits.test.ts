import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, it } from 'node:test';
import { guardOrderFor } from '#agent/execute/guard-order.ts';
import type { Config, Target } from '#agent/decide/state.ts';
import { createHostGuard, readGuardScript } from '#agent/guard/host-guard.ts';
import { createGuardSystemd, type HostSystemd } from '#agent/guard/guard-systemd.ts';
import { readUptimeSeconds } from '#agent/host/boot.ts';
import { createHostFiles, type HostFiles } from '#agent/host/host-files.ts';
import { createLimitRestorer } from '#agent/kubelet/limit-restore.ts';
import type { Guard } from '#agent/ports/guard.ts';
import type { Installer, InstallPlan } from '#agent/ports/installer.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { until } from '../support/until.ts';
import { B } from '../support/agent/states.ts';
import { type BootedNode, bootNode } from './support/booted-node.ts';
import { diskWithin } from './support/disk-within.ts';
import { nodeSkipReason } from './support/tree.ts';
import { installerOn } from '../support/agent/installer-on.ts';

const skip = await nodeSkipReason();

const CONFIG = '/var/lib/kubelet/config.yaml';
const STARTS = '/var/lib/kubelet/starts';
const STATE = '/var/lib/kubelet-gitops';
const UNIT = 'kubelet.service';
const PROPERTIES = ['MemoryMax', 'CPUWeight', 'TasksMax'] as const;

type Fields = Readonly<Record<string, unknown>>;

const LOCAL: Fields = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods: 42 };
const LIMITING: Fields = {
  ...LOCAL,
  cgroupDriver: 'systemd',
  enforceNodeAllocatable: ['pods', 'system-reserved'],
  systemReservedCgroup: '/services.slice',
  systemReserved: { memory: '40Mi', cpu: '100m', pid: '100' },
};
const DEADLY: Fields = { ...LIMITING, maxPods: 666 };

/** Sets limits as the kubelet has systemd set them (`SetUnitProperties`, for one boot), and dies of one config. */
const KUBELET = `#!/bin/sh
if grep -q system-reserved ${CONFIG}; then
  systemctl set-property --runtime services.slice MemoryMax=41943040 CPUWeight=4 TasksMax=100
fi
echo started >>${STARTS}
grep -q 666 ${CONFIG} && exit 1
exec sleep 100000
`;
const LIMITED = { MemoryMax: '41943040', CPUWeight: '4', TasksMax: '100' };
/** Of the slice's own unit, but for what the kernel gives to whoever asks for nothing. */
const BEFORE = { MemoryMax: '1073741824', CPUWeight: '100', TasksMax: 'infinity' };

const FILES = {
  '/usr/local/bin/kubelet': { text: KUBELET, mode: 0o755 },
  [CONFIG]: canonicalize(LOCAL),
  [`${STATE}/.keep`]: '',
  '/etc/systemd/system/services.slice': '[Slice]\nMemoryMax=1G\n',
  '/etc/systemd/system/work.service':
    '[Service]\nSlice=services.slice\nExecStart=/bin/sleep 100000\n[Install]\nWantedBy=multi-user.target\n',
  [`/etc/systemd/system/${UNIT}`]:
    '[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestart=always\nRestartSec=100ms\nExecStart=/usr/local/bin/kubelet\n[Install]\nWantedBy=multi-user.target\n',
};

const config = (fields: Fields): Config => ({
  ...B,
  apply: 'replace',
  source: { ...B.source, name: `maxpods-${String(fields['maxPods'])}` },
});

describeOrSkip('limits that a config has had the kubelet set, under a real systemd', { skip }, () => {
  let node: BootedNode;
  let systemd: HostSystemd;
  let installer: Installer;
  let guard: Guard;

  const limits = async (): Promise<Readonly<Record<string, string>>> => {
    const shown = await node.systemctl('show', ...PROPERTIES.map((name) => `--property=${name}`), 'services.slice');
    return Object.fromEntries(
      shown
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    );
  };
  const starts = (): number =>
    existsSync(join(node.root, STARTS)) ? readFileSync(join(node.root, STARTS), 'utf8').trim().split('\n').length : 0;
  const become = async (wanted: Readonly<Record<string, string>>): Promise<void> => {
    let last = {};
    await until(
      'these limits',
      async () => JSON.stringify((last = await limits())) === JSON.stringify({ ...last, ...wanted }),
      {
        everyMs: 100,
        evidence: () => `${JSON.stringify(last)}\n${node.logTail(20)}`,
      },
    );
  };
  const plan = (fields: Fields): Promise<InstallPlan> =>
    installer.plan({ payload: canonicalize(fields), apply: 'replace' });
  /** What the kernel would say, where this machine lends its nodes no such controller: what systemd was told. */
  const files = (): HostFiles => {
    const host = createHostFiles(`/proc/${node.leader()}/root`);
    const told: Readonly<Record<string, (typeof PROPERTIES)[number]>> = {
      'memory.max': 'MemoryMax',
      'cpu.weight': 'CPUWeight',
      'pids.max': 'TasksMax',
    };
    return {
      ...host,
      kind: async (path) =>
        path === '/sys/fs/cgroup/cgroup.controllers'
          ? 'file'
          : host.kind(path.replace('/sys/fs/cgroup', '/sys/fs/cgroup/systemd')),
      text: async (path) => {
        const property = told[path.split('/').at(-1) ?? ''];
        if (property === undefined) return host.text(path);
        const value = (await limits())[property] ?? '';
        return /^\d+$/.test(value) ? value : property === 'CPUWeight' ? '100' : 'max';
      },
    };
  };

  before(async () => {
    node = await bootNode({ files: FILES, enable: [UNIT, 'work.service'] });
    rmSync(join(node.root, STATE, '.keep'));
    const disk = diskWithin(node.root);
    systemd = createGuardSystemd({ socketPath: node.busSocket, clock: systemClock });
    installer = installerOn(disk, {
      limits: createLimitRestorer({
        nodeName: 'node-a',
        disk,
        stateDirectory: STATE,
        files: files(),
        setProperty: systemd.setProperty,
        onFault: (what, error) => assert.fail(`${what}: ${String(error)}`),
      }),
    });
    guard = createHostGuard({
      disk,
      stateDirectory: STATE,
      unit: UNIT,
      unitDirectory: `/etc/systemd/system/${UNIT}.d`,
      systemd,
      script: readGuardScript,
      bootId: async () => (await node.run('cat', '/proc/sys/kernel/random/boot_id')).trim(),
      uptimeSeconds: readUptimeSeconds,
    });
  });
  beforeEach(async () => {
    await until('the kubelet to run', async () => starts() > 0, { everyMs: 50 });
    assert.equal((await limits())['MemoryMax'], BEFORE.MemoryMax);
  });
  after(() => node?.stop());

  it('go with that config when the agent installs another', async () => {
    await installer.install(await plan(LIMITING));
    await node.systemctl('restart', UNIT);
    await become(LIMITED);
    await installer.install(await plan(LOCAL));
    assert.deepEqual(await limits(), BEFORE);
    await node.systemctl('restart', UNIT);
    await node.systemctl('daemon-reload');
    assert.deepEqual(await limits(), BEFORE, 'systemd does not come back to what it was told before');
    assert.equal(existsSync(join(node.root, STATE, 'limits')), false, 'nothing is left to be done');
  });

  it('go with that config when the guard takes it back, and nobody else is there', async () => {
    const payloads = {
      read: async (target: Exclude<Target, null>) => ({
        payload: canonicalize(target.source.name === 'maxpods-666' ? DEADLY : LOCAL),
      }),
    };
    const trial = { config: config(DEADLY), since: '2026-01-01T00:00:00Z' };
    const order = await guardOrderFor({ do: 'arm-guard', trial, to: config(LOCAL) }, payloads, installer);
    assert.deepEqual(Object.keys(order.limits ?? {}).sort(), PROPERTIES.map((name) => `services.slice ${name}`).sort());
    await guard.arm({ ...order, maxStarts: 3 });
    await installer.install(await plan(DEADLY));
    const startsBefore = starts();
    await node.run('sh', '-c', `systemctl --no-block restart ${UNIT}`);
    await become(LIMITED);
    await until('the guard to take it back', async () => (await guard.look()).guard === 'fired', { everyMs: 100 });
    await become(BEFORE);
    await until(
      'the kubelet to run',
      async () => (await node.run('sh', '-c', `systemctl is-active ${UNIT}; :`)).trim() === 'active',
      {
        everyMs: 50,
      },
    );
    await node.systemctl('daemon-reload');
    assert.deepEqual(await limits(), BEFORE);
    assert.equal(starts() - startsBefore, 4, 'three with it, and one after it');
    await guard.disarm();
    await node.reboot();
    assert.equal((await limits())['MemoryMax'], BEFORE.MemoryMax, 'and nothing of it is left after a boot');
  });
});
