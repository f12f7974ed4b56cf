import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, it } from 'node:test';
import { promisify } from 'node:util';
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

/** Stands for the kubelet: runs until it is killed, or dies at its start while there is a reason to. */
const KUBELET = `#!/bin/sh
[ -e /run/poison ] && exit 3
while :; do sleep 1000; done
`;

/** It comes up again by itself, at most five times in an hour, and does not stop while there is a reason not to. */
const unit = (restartSec: string): string => `[Unit]
StartLimitIntervalSec=1h
StartLimitBurst=5
[Service]
ExecStart=/usr/local/bin/kubelet
ExecStop=/bin/sh -c 'while [ -e /run/stays ]; do sleep 0.1; done'
Restart=always
RestartSec=${restartSec}
[Install]
WantedBy=multi-user.target
`;

describeOrSkip('the kubelet as a unit of a real systemd', { skip }, () => {
  let node: BootedNode;
  let kubelet: SystemdService;
  const serviceOf = (name: string): SystemdService =>
    createSystemdService({
      unit: name,
      socketPath: node.busSocket,
      clock: systemClock,
      random: () => 0.5,
      log: silentLog,
      timeoutMs: 60_000,
    });
  const status = (): Promise<ServiceStatus> => kubelet.status(never);
  const kill = async (name = 'kubelet.service'): Promise<void> =>
    void (await node.systemctl('kill', '--signal=KILL', '--kill-who=main', name));
  const reaches = (what: string, holds: (now: ServiceStatus) => boolean, of = kubelet): Promise<ServiceStatus> =>
    until(
      what,
      async () => {
        const now = await of.status(never);
        return holds(now) ? now : undefined;
      },
      { everyMs: 20 },
    );
  const runs = (now: ServiceStatus): boolean => now.state === 'running' && now.run !== null;
  /** Right after an order systemd may still speak of the run before. */
  const runsByOrder = (old: ServiceStatus): Promise<ServiceStatus> =>
    reaches('a run by order', (now) => runs(now) && now.run !== old.run && now.automaticRestarts === 0);

  before(async () => {
    node = await bootNode({
      files: {
        '/usr/local/bin/kubelet': { text: KUBELET, mode: 0o755 },
        '/etc/systemd/system/kubelet.service': unit('500ms'),
        '/etc/systemd/system/patient.service': unit('1h'),
      },
      enable: ['kubelet.service', 'patient.service'],
    });
    kubelet = serviceOf('kubelet.service');
  });
  after(async () => {
    kubelet?.close();
    await node?.stop();
  });

  it('runs, with an identity that stays while its process does', async () => {
    const now = await reaches('the unit to run', runs);
    assert.equal(now.automaticRestarts, 0);
    assert.equal(now.lastExit, undefined);
    assert.equal((await status()).run, now.run);
  });

  it('is restarted: the order returns once queued, the new process has a new identity', async () => {
    const old = await status();
    await node.run('touch', '/run/stays');
    await kubelet.restart('test', never);
    const queued = await status();
    assert.equal(queued.run, old.run, 'the order does not wait for the new process');
    await node.run('rm', '/run/stays');
    const now = await reaches('another run', (seen) => runs(seen) && seen.run !== old.run);
    assert.equal(now.automaticRestarts, 0, 'a restart that somebody ordered is not counted');
  });

  it('that is killed is told of at once, with how it ended', async (t) => {
    const patient = serviceOf('patient.service');
    const old = await reaches('a run', runs, patient);
    let calls = 0;
    let told = false;
    // Nothing but what systemd says calls back.
    patient.watch(() => {
      calls += 1;
      void patient.status(never).then((now) => (told ||= now.run !== old.run));
    });
    await until('the watch', async () => calls > 0, { everyMs: 10 });
    const killed = performance.now();
    await kill('patient.service');
    await until('word of the kill', async () => told, { everyMs: 10 });
    t.diagnostic(`told after ${Math.round(performance.now() - killed)} ms`);
    const dead = await reaches('its end', (now) => now.awaitsRestart === true, patient);
    assert.deepEqual(dead, {
      state: 'starting',
      run: null,
      automaticRestarts: 0,
      lastExit: 'signal KILL',
      awaitsRestart: true,
    });
    await patient.restart('test', never);
    const again = await reaches('a run by order, without the pause', runs, patient);
    assert.equal(again.automaticRestarts, 0);
    patient.close();
  });

  it('is counted when it comes up again by itself, and again after each restart that was ordered', async () => {
    const old = await status();
    await kill();
    const again = await reaches('its automatic restart', (now) => runs(now) && now.run !== old.run);
    assert.equal(again.automaticRestarts, 1);
    await kubelet.restart('test', never);
    await runsByOrder(again);
  });

  it('that dies at each start ends as failed with the reason, and an order starts it in spite of the start limit', async () => {
    await node.run('touch', '/run/poison');
    await kubelet.restart('test', never);
    const failed = await reaches('the start limit', (now) => now.state === 'failed');
    assert.equal(failed.run, null);
    assert.equal(failed.lastExit, 'exit-code 3');
    assert.ok((failed.automaticRestarts ?? 0) >= 4, `counted ${failed.automaticRestarts}`);
    await assert.rejects(node.systemctl('start', 'kubelet.service'), /Start request repeated|start-limit|failed/i);
    await node.run('rm', '/run/poison');
    await kubelet.restart('test', never);
    await runsByOrder(failed);
  });

  it('that somebody stops is stopped, not failed', async () => {
    await node.systemctl('stop', 'kubelet.service');
    assert.deepEqual((await status()).state, 'stopped');
    assert.deepEqual((await status()).run, null);
    await node.systemctl('start', 'kubelet.service');
    await reaches('a run', runs);
  });

  it('is heard of again after the bus or systemd itself was restarted', async () => {
    let calls = 0;
    const unwatch = kubelet.watch(() => (calls += 1));
    /** Neither systemd nor the bus is there for everybody at once. */
    const atLast = (what: string, order: () => Promise<void>): Promise<true> =>
      until(what, () => order().then(() => true as const), { everyMs: 50 });
    const hears = async (): Promise<void> => {
      const old = await reaches('a run', runs);
      const before = calls;
      await atLast('the kill', kill);
      await until('word of the kill', async () => calls > before, { everyMs: 10 });
      // An order that falls together with an automatic restart becomes one with it, and is counted as that.
      const again = await reaches('its automatic restart', (now) => runs(now) && now.run !== old.run);
      await atLast('an order', () => kubelet.restart('test', never));
      await runsByOrder(again);
    };
    await until('the watch', async () => calls > 0, { everyMs: 10 });
    await hears();
    await node.systemctl('daemon-reload');
    await hears();
    await node.systemctl('daemon-reexec');
    await hears();
    const before = calls;
    await node.systemctl('kill', '--signal=KILL', 'dbus.service');
    await until('the watch to be there again', async () => calls >= before + 2, { everyMs: 10 });
    await hears();
    unwatch();
  });

  it('that does not exist is unknown and cannot be restarted', async () => {
    const nothing = serviceOf('k3s.service');
    const { state, reason } = await nothing.status(never);
    assert.deepEqual({ state, reason }, { state: 'unknown', reason: 'systemd knows no unit k3s.service' });
    await assert.rejects(nothing.restart('test', never), (error) => codeOf(error) === 'SERVICE_NOT_FOUND');
    nothing.close();
  });

  it('is restarted for root without a single capability, and for nobody else', async () => {
    const before = await status();
    assert.equal(await restartAs(node.busSocket, '--bounding-set=-all', '--inh-caps=-all'), 'ok');
    await reaches('another run', (now) => runs(now) && now.run !== before.run);
    assert.equal(await restartAs(node.busSocket, '--reuid=65534', '--clear-groups'), 'SERVICE_DENIED');
  });
});

/** Restarts the kubelet from a process that setpriv starts with these options. @returns `ok` or the error's code */
async function restartAs(socketPath: string, ...privileges: readonly string[]): Promise<string> {
  const script = `
    const { createSystemdService } = await import('#agent/kubelet/service-systemd.ts');
    const { systemClock } = await import('#shared/runtime/clock.ts');
    const { silentLog } = await import('#shared/runtime/log.ts');
    const options = { unit: 'kubelet.service', socketPath: ${JSON.stringify(socketPath)} };
    const world = { clock: systemClock, random: () => 0, log: silentLog, timeoutMs: 60_000 };
    const service = createSystemdService({ ...options, ...world });
    const said = await service.restart('test', new AbortController().signal).then(() => 'ok', (error) => error.code);
    service.close();
    console.log(said);`;
  const args = [...privileges, process.execPath, '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)('setpriv', args);
  return stdout.trim();
}
