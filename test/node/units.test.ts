import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { createBusLink } from '#agent/host/dbus/link.ts';
import { createHostFiles } from '#agent/host/host-files.ts';
import { findKubeletUnit } from '#agent/kubelet/find-unit.ts';
import { createGuardSystemd } from '#agent/guard/guard-systemd.ts';
import type { ServiceStatus } from '#agent/ports/kubelet-service.ts';
import { createSystemdService, type SystemdService } from '#agent/kubelet/service-systemd.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { until } from '../support/until.ts';
import { type BootedNode, bootNode } from './support/booted-node.ts';
import { nodeSkipReason } from './support/tree.ts';

const skip = await nodeSkipReason();
const never = new AbortController().signal;

/** Stands for the kubelet: runs until it is killed, or dies while there is a reason to; tells systemd when it is asked to. */
const KUBELET = `#!/bin/sh
[ -e /run/poison ] && exit 3
[ -z "$NOTIFY_SOCKET" ] || [ -e /run/never-ready ] || systemd-notify --ready
while :; do sleep 1000; done
`;

const RUN = 'ExecStart=/usr/local/bin/kubelet';
const unit = (service: string, sections = ''): string => `${sections}\n[Service]\n${service}\n${RUN}\n`;

/** As the installers of k3s and RKE2 write theirs, but for the pause before a restart. */
const SUPERVISOR = unit(
  'Type=notify\nNotifyAccess=all\nKillMode=process\nDelegate=yes\nRestart=always\nRestartSec=200ms',
);
// The last as INSTALL_K3S_NAME=edge has it.
const SUPERVISORS = [
  'k3s.service',
  'k3s-agent.service',
  'rke2-server.service',
  'rke2-agent.service',
  'k3s-edge.service',
];

const UNITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SUPERVISORS.map((name) => [name, SUPERVISOR])),
  'kubelet-gitops-guard.service': unit('Restart=no'),
  'once.service': unit('Restart=no'),
  'limited.service': unit('Restart=always\nRestartSec=0', '[Unit]\nStartLimitIntervalSec=1000\nStartLimitBurst=2'),
  'snap.kubelet-eks.daemon.service': unit('Restart=always\nRestartSec=200ms'),
  'kubelet@.service': unit('Environment=INSTANCE=%i\nRestart=always'),
  'forks.service': '[Service]\nType=forking\nGuessMainPID=no\nExecStart=/bin/sh -c "/usr/local/bin/kubelet & exit 0"\n',
  'oneshot.service': '[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n',
  'wrapper.service': '[Service]\nRemainAfterExit=yes\nExecStart=/bin/true\n',
  'refuses.service': unit('', '[Unit]\nRefuseManualStart=yes'),
  'reboots.service': unit('', '[Unit]\nFailureAction=reboot'),
  'hurries.service': unit('TimeoutStartSec=14'),
  'nonsense.service': '[Service]\nRestart=always\n',
};

describeOrSkip('units of a real systemd that a kubelet may run in', { skip }, () => {
  let node: BootedNode;
  const services = new Map<string, SystemdService>();
  const of = (name: string): SystemdService => {
    const { busSocket: socketPath } = node;
    const made =
      services.get(name) ??
      createSystemdService({
        unit: name,
        socketPath,
        clock: systemClock,
        random: () => 0.5,
        log: silentLog,
        timeoutMs: 60_000,
      });
    services.set(name, made);
    return made;
  };
  const status = (name: string): Promise<ServiceStatus> => of(name).status(never);
  const reaches = (name: string, what: string, holds: (now: ServiceStatus) => boolean): Promise<ServiceStatus> =>
    until(
      `${what} of ${name}`,
      async () => {
        const now = await status(name);
        return holds(now) ? now : undefined;
      },
      { everyMs: 20 },
    );
  const runs = (now: ServiceStatus): boolean => now.state === 'running' && now.run !== null;
  /** Right after an order systemd may still speak of the run before. */
  const restarts = async (name: string): Promise<ServiceStatus> => {
    const old = await status(name);
    await of(name).restart('test', never);
    return reaches(name, 'a run by order', (now) => runs(now) && now.run !== old.run && now.automaticRestarts === 0);
  };
  const killMain = (name: string) => node.systemctl('kill', '--signal=KILL', '--kill-who=main', name);

  before(async () => {
    node = await bootNode({
      files: {
        '/usr/local/bin/kubelet': { text: KUBELET, mode: 0o755 },
        ...Object.fromEntries(Object.entries(UNITS).map(([name, text]) => [`/etc/systemd/system/${name}`, text])),
      },
    });
    const at = (name: string): string => join(node.root, 'etc/systemd/system', name);
    await symlink('snap.kubelet-eks.daemon.service', at('kubelet.service'));
    await symlink('/dev/null', at('masked.service'));
    await node.systemctl('daemon-reload');
  });
  after(async () => {
    for (const service of services.values()) service.close();
    await node?.stop();
  });

  const FIT = ['once.service', 'limited.service', ...SUPERVISORS, 'kubelet.service', 'kubelet@main.service'];
  for (const name of FIT) {
    it(`${name} is fit, is restarted, and is told of when it dies`, async () => {
      assert.equal(await of(name).unfitness(never), undefined);
      const first = await restarts(name);
      assert.equal(await of(name).unfitness(never), undefined);
      let calls = 0;
      const unwatch = of(name).watch(() => (calls += 1));
      await until('the watch', async () => calls > 0, { everyMs: 10 });
      const before = calls;
      await killMain(name);
      await until('word of its end', async () => calls > before, { everyMs: 10 });
      unwatch();
      // An order that falls together with an automatic restart becomes one with it, and is counted as that.
      await reaches(name, 'what follows', (now) => now.state === 'failed' || (runs(now) && now.run !== first.run));
      const second = await restarts(name);
      assert.notEqual(second.run, first.run);
    });
  }

  it('Restart=no: an end is a failure that stays, and an order starts it again', async () => {
    await restarts('once.service');
    await killMain('once.service');
    const dead = await reaches('once.service', 'its end', (now) => now.state === 'failed');
    assert.equal(dead.lastExit, 'signal KILL');
    assert.equal(dead.run, null);
    await restarts('once.service');
  });

  it('a start limit that was hit is in the way of people, and not of an order', async () => {
    await node.run('touch', '/run/poison');
    await of('limited.service').restart('test', never);
    await reaches('limited.service', 'the limit', (now) => now.state === 'failed');
    await assert.rejects(node.systemctl('start', 'limited.service'));
    await node.run('rm', '/run/poison');
    for (let again = 0; again < 3; again += 1) await of('limited.service').restart('test', never);
    await restarts('limited.service');
  });

  it('Type=notify: it is starting until it says that it is ready', async () => {
    const { run } = await status('k3s-agent.service');
    await node.run('touch', '/run/never-ready');
    await of('k3s-agent.service').restart('test', never);
    const waiting = await reaches(
      'k3s-agent.service',
      'a process',
      (now) => now.run !== null && now.run !== run && now.state === 'starting',
    );
    assert.equal((await status('k3s-agent.service')).run, waiting.run);
    await node.run('rm', '/run/never-ready');
    await restarts('k3s-agent.service');
  });

  it('an alias is the unit itself: one run under both names, and drop-ins of both directories', async () => {
    const { run } = await restarts('kubelet.service');
    assert.equal((await status('snap.kubelet-eks.daemon.service')).run, run);
    const dropIn = '/etc/systemd/system/kubelet.service.d/90-test.conf';
    await node.run('mkdir', '-p', '/etc/systemd/system/kubelet.service.d');
    await node.run('cp', '/dev/null', dropIn);
    const systemd = createGuardSystemd({ socketPath: node.busSocket, clock: systemClock });
    await systemd.daemonReload();
    assert.deepEqual(await systemd.dropInsOf('kubelet.service'), [dropIn]);
  });

  it('an instance of a template has drop-ins of its own', async () => {
    const dropIn = '/etc/systemd/system/kubelet@main.service.d/90-test.conf';
    await node.run('mkdir', '-p', '/etc/systemd/system/kubelet@main.service.d');
    await node.run('cp', '/dev/null', dropIn);
    const systemd = createGuardSystemd({ socketPath: node.busSocket, clock: systemClock });
    await systemd.daemonReload();
    assert.deepEqual(await systemd.dropInsOf('kubelet@main.service'), [dropIn]);
    assert.equal(await systemd.startTimeoutOf('kubelet@main.service'), 90);
  });

  it('the one that runs a kubelet is found without a setting, whatever its name', async () => {
    const link = createBusLink({ socketPath: node.busSocket, clock: systemClock, timeoutMs: 60_000 });
    const files = createHostFiles(`/proc/${node.leader()}/root`);
    const find = () => findKubeletUnit(link, files, never);
    try {
      await node.systemctl('stop', ...SUPERVISORS, 'kubelet@main.service', 'snap.kubelet-eks.daemon.service');
      await node.systemctl('start', 'kubelet-gitops-guard.service');
      const found = await find();
      assert.ok(found?.isRunning !== true && found?.unit !== 'kubelet-gitops-guard.service', JSON.stringify(found));
      await node.systemctl('stop', 'kubelet-gitops-guard.service');
      for (const name of ['rke2-server.service', 'k3s-edge.service']) {
        await node.systemctl('start', name);
        assert.deepEqual(await find(), { unit: name, isRunning: true });
        await node.systemctl('stop', name);
      }
    } finally {
      link.close();
    }
  });

  const UNFIT: readonly (readonly [string, RegExp])[] = [
    ['masked.service', /^masked\.service is masked.*unmask it, or name the kubelet's unit in KUBELET_SERVICE$/],
    ['missing.service', /^systemd knows no unit missing\.service: name .* KUBELET_SERVICE$/],
    ['nonsense.service', /^systemd cannot use nonsense\.service \(LoadState=bad-setting\)/],
    ['oneshot.service', /^oneshot\.service has Type=oneshot/],
    ['wrapper.service', /^wrapper\.service is active without a main process/],
    ['forks.service', /^forks\.service is active without a main process/],
    ['refuses.service', /^systemd lets nobody restart refuses\.service: take RefuseManualStart=/],
    ['reboots.service', /^reboots\.service has FailureAction=reboot/],
    ['hurries.service', /^hurries\.service has TimeoutStartSec=14, /],
  ];
  for (const [name, reason] of UNFIT) {
    it(`${name} is refused, with what to do about it`, async () => {
      if (/wrapper|forks|oneshot/.test(name)) await node.systemctl('start', name);
      // A program that ends takes a moment to do so.
      const found = await until('what is against it', () => of(name).unfitness(never), { everyMs: 50 });
      assert.match(found, reason);
    });
  }

  it('what is masked or refuses orders cannot be restarted either, and says so', async () => {
    for (const name of ['masked.service', 'refuses.service']) {
      await assert.rejects(
        of(name).restart('test', never),
        (error) => codeOf(error) === 'SERVICE_RESTART_FAILED',
        name,
      );
    }
  });
});
