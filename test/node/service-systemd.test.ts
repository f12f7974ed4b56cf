import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { ServiceStatus } from '#agent/kubelet/service.ts';
import { createSystemdService, type SystemdService } from '#agent/kubelet/service-systemd.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../cluster/support/until.ts';
import { type BootedNode, bootNode } from './support/booted-node.ts';
import { whyNoNode } from './support/tree.ts';

const skip = await whyNoNode();
const never = new AbortController().signal;

/** Stands for the kubelet: runs until it is killed, or dies at its start while there is a reason to. */
const KUBELET = `#!/bin/sh
[ -e /run/poison ] && exit 3
while :; do sleep 1000; done
`;

/** It comes up again by itself after half a second, at most five times in a minute, and takes its time to stop. */
const UNIT = `[Unit]
StartLimitIntervalSec=60
StartLimitBurst=5
[Service]
ExecStart=/usr/local/bin/kubelet
ExecStop=/bin/sleep 0.5
Restart=always
RestartSec=500ms
[Install]
WantedBy=multi-user.target
`;

describe('the kubelet as a unit of a real systemd', { skip }, () => {
  let node: BootedNode;
  let kubelet: SystemdService;
  const serviceOf = (unit: string): SystemdService =>
    createSystemdService({
      unit,
      socketPath: node.busSocket,
      clock: systemClock,
      random: () => 0.5,
      log: silentLog,
      timeoutMs: 5000,
    });
  const status = (): Promise<ServiceStatus> => kubelet.status(never);
  const kill = async (): Promise<void> =>
    void (await node.systemctl('kill', '--signal=KILL', '--kill-who=main', 'kubelet.service'));
  const reaches = (what: string, holds: (now: ServiceStatus) => boolean): Promise<ServiceStatus> =>
    until(
      what,
      async () => {
        const now = await status();
        return holds(now) ? now : undefined;
      },
      { withinMs: 10_000, everyMs: 20 },
    );
  const runs = (now: ServiceStatus): boolean => now.state === 'running' && now.run !== null;

  before(async () => {
    node = await bootNode({
      files: { '/usr/local/bin/kubelet': { text: KUBELET, mode: 0o755 }, '/etc/systemd/system/kubelet.service': UNIT },
      enable: ['kubelet.service'],
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
    await kubelet.restart('test', never);
    // ExecStop keeps the old one half a second longer.
    const queued = await status();
    assert.ok(queued.run === null || queued.run === old.run, 'the order does not wait for the new process');
    const now = await reaches('another run', (seen) => runs(seen) && seen.run !== old.run);
    assert.equal(now.automaticRestarts, 0, 'a restart that somebody ordered is not counted');
  });

  it('that is killed is told of within two seconds, with how it ended, and counted when it comes up again', async () => {
    const old = await status();
    let calls = 0;
    let told = false;
    const unwatch = kubelet.watch(() => {
      calls += 1;
      void status().then((now) => (told ||= now.run !== old.run));
    });
    await until('the watch', async () => calls > 0, { withinMs: 5000, everyMs: 10 });
    await kill();
    await until('word of the kill', async () => told, { withinMs: 2000, everyMs: 10 });
    const dead = await reaches('its end', (now) => now.lastExit !== undefined);
    assert.deepEqual(dead, {
      state: 'starting',
      run: null,
      automaticRestarts: 0,
      lastExit: 'signal KILL',
      awaitsRestart: true,
    });
    const again = await reaches('its automatic restart', runs);
    assert.notEqual(again.run, old.run);
    assert.equal(again.automaticRestarts, 1);
    unwatch();
  });

  it('counts automatic restarts anew after each restart that was ordered', async () => {
    assert.equal((await status()).automaticRestarts, 1);
    await kubelet.restart('test', never);
    await reaches('the count to begin anew', (now) => runs(now) && now.automaticRestarts === 0);
    await kill();
    await reaches('the pause before an automatic restart', (now) => now.run === null && now.lastExit !== undefined);
    await kubelet.restart('test', never);
    // On a busy machine the automatic restart may come before the order, which then begins the count anew after it.
    await reaches('a run that nobody counts', (now) => runs(now) && now.automaticRestarts === 0);
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
    assert.equal((await reaches('a run after the limit', runs)).automaticRestarts, 0);
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
    const hears = async (): Promise<void> => {
      const before = calls;
      await kill();
      await until('word of the kill', async () => calls > before, { withinMs: 2000, everyMs: 10 });
      await kubelet.restart('test', never);
      await reaches('a run', runs);
    };
    await until('the watch', async () => calls > 0, { withinMs: 5000, everyMs: 10 });
    await hears();
    await node.systemctl('daemon-reload');
    await hears();
    await node.systemctl('daemon-reexec');
    await hears();
    const before = calls;
    await node.systemctl('kill', '--signal=KILL', 'dbus.service');
    await until('the watch to be there again', async () => calls >= before + 2, { withinMs: 10_000, everyMs: 10 });
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
    const service = createSystemdService({ ...options, clock: systemClock, random: () => 0, log: silentLog });
    const said = await service.restart('test', new AbortController().signal).then(() => 'ok', (error) => error.code);
    service.close();
    console.log(said);`;
  const args = [...privileges, process.execPath, '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)('setpriv', args);
  return stdout.trim();
}
