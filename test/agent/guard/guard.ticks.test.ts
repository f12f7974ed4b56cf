import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOOT } from './support/guarded-host.ts';
import {
  alive,
  limits,
  noteOf,
  ORDERED,
  isRestored,
  underEachShell,
  restarts,
  isUntouched,
} from './support/guard-runs.ts';

const K0S_BEGINS = 'time="2026-01-01 00:00:00" level=info msg="Starting to supervise"';

underEachShell((it) => {
  it('lifts what the kubelet limited elsewhere before it restarts the kubelet', async (host) => {
    host.arm({ silence: 10 });
    limits(host, 'system.slice MemoryMax=infinity');
    await host.start();
    await host.tick(1100, 1100);
    const calls = host.calls();
    const lift = calls.indexOf('systemctl set-property --runtime system.slice MemoryMax=infinity');
    assert.ok(lift >= 0 && lift < calls.indexOf('systemctl --no-block restart kubelet.service'), calls.join('\n'));
  });
  it('restores and restarts when the agent was silent for too long in two ticks', async (host) => {
    await host.start();
    alive(host, 1100);
    await host.tick(1699, 1699);
    isUntouched(host);
    await host.tick(1700);
    isUntouched(host);
    await host.tick();
    isRestored(host);
    assert.deepEqual(host.calls().slice(-2), ORDERED);
    const { at: _, ...note } = noteOf(host);
    assert.deepEqual(note, { cause: 'silence', starts: 1, restarted: true });
  });
  it('is reassured by a sign of life between two ticks', async (host) => {
    await host.start();
    await host.tick(5000);
    alive(host, 5005);
    await host.tick(5015);
    await host.tick(9000);
    isUntouched(host);
  });
  it('counts silence after a reboot from the first start of the kubelet in this boot', async (host) => {
    await host.start();
    alive(host, 1000);
    host.setTime(100, 'another-boot');
    await host.start();
    await host.tick(699, 699);
    isUntouched(host);
    await host.tick(700, 700);
    isRestored(host);
  });
  it('believes no sign of life from the future', async (host) => {
    await host.start();
    alive(host, 99_999);
    await host.tick(1600, 1600);
    isRestored(host);
  });
  it('believes a sign of life of this very second', async (host) => {
    await host.start();
    alive(host, 1600);
    await host.tick(1600, 1600);
    isUntouched(host);
  });
  it('counts silence from the boot where the first start is later than now', async (host) => {
    host.write('starts', `${BOOT} 1 99999\n`);
    await host.tick(599, 599);
    isUntouched(host);
    await host.tick(600, 600);
    isRestored(host);
  });
  for (const down of ['failed', 'inactive'] as const)
    it(`restores and starts a unit that is ${down} while the agent is silent for 45 seconds, in two ticks`, async (host) => {
      await host.start();
      host.setUnit(down);
      alive(host, 1000);
      await host.tick(1044, 1044);
      isUntouched(host);
      await host.tick(1045);
      isUntouched(host);
      await host.tick(1060);
      isRestored(host);
      assert.deepEqual(host.calls().slice(-2), ORDERED);
      assert.equal(noteOf(host).cause, 'down');
    });
  it('starts no unit that a person stopped, and puts the files back for when it is started', async (host) => {
    await host.start();
    host.stopUnit();
    alive(host, 1000);
    await host.tick(1300, 1300, 1300);
    isUntouched(host);
    await host.tick(1600, 1600, 1600, 1600);
    isRestored(host);
    assert.equal(noteOf(host).restarted, false);
    assert.equal(restarts(host), 0, 'the unit was started');
    assert.ok(existsSync(join(host.root, 'timer')), 'somebody has to clean up later');
    await host.start();
    host.setUnit('active');
    assert.equal(noteOf(host).restarted, true);
    await host.tick();
    assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note']);
    assert.equal(restarts(host), 0, 'the unit was started once more');
  });
  for (const [program, journal, isWaiting, state = 'start'] of [
    ['/usr/local/bin/k3s agent', 'level=info msg="Starting k3s agent"\n', true],
    ['/opt/rke2/bin/rke2 agent', 'level=error msg="failed to get CA certs"\n', true],
    [
      '/usr/local/bin/k3s agent',
      'msg="Starting k3s agent"\ntime="2026-01-01T00:00:00Z" level=info msg="Running kubelet --config-dir=/etc"\n',
      false,
    ],
    ['/usr/local/bin/k3s agent', '', false],
    ['/usr/bin/kubelet --config=/etc/k3s', 'I1122 server.go:1] starting\n', false],
    ['/usr/local/bin/k0s worker', 'level=info msg="initializing OCIBundleReconciler"\n', true, 'running'],
    ['/usr/local/bin/k0s controller', `${K0S_BEGINS} component=etcd\n`, true, 'running'],
    ['/usr/local/bin/k0s worker', `${K0S_BEGINS} component=kubelet\n`, false, 'running'],
    ['/usr/local/bin/k3s agent', 'msg="Starting k3s agent"\n', false, 'running'],
    ['/opt/k0s-tools/kubelet', 'I1122 server.go:1] starting\n', false, 'running'],
    ['/opt/k0s/kubelet', 'I1122 server.go:1] starting\n', false, 'running'],
  ] as const)
    it(`restores, and restarts ${isWaiting ? 'not' : 'even'} ${program} that is ${state} and says ${JSON.stringify(journal)}`, async (host) => {
      host.arm({ silence: 10 });
      await host.start();
      host.setUnit(state === 'start' ? 'activating' : 'active');
      host.setProgram(program, journal, state);
      await host.tick(1100, 1100);
      isRestored(host);
      assert.equal(noteOf(host).restarted, true);
      assert.equal(restarts(host), isWaiting ? 0 : 1);
    });
  it('restores and restarts a unit that was stopped and is to be started, by a job that does not end', async (host) => {
    await host.start();
    host.stopUnit(815);
    alive(host, 1000);
    await host.tick(1600, 1600);
    isRestored(host);
    assert.deepEqual(host.calls().slice(-2), ORDERED);
  });
  it('leaves a unit alone that came up between two ticks, or is about to', async (host) => {
    await host.start();
    host.setTime(1100);
    host.setUnit('failed');
    await host.tick();
    host.setUnit('activating');
    await host.tick();
    host.setUnit('failed');
    await host.tick();
    isUntouched(host);
  });
  it('restores at the first tick where it cannot note its doubt, and restarts what nobody stopped', async (host) => {
    await host.start();
    mkdirSync(join(host.guard, 'doubt'));
    host.setUnit('failed');
    await host.tick(1599);
    isUntouched(host);
    await host.tick(1600);
    isRestored(host);
    assert.deepEqual(host.calls().slice(-2), ORDERED);
  });
  it('restores at the first tick where it cannot note its doubt, and starts nothing that a person stopped', async (host) => {
    await host.start();
    mkdirSync(join(host.guard, 'doubt'));
    host.stopUnit();
    await host.tick(1600);
    isRestored(host);
    assert.equal(restarts(host), 0, 'the unit was started');
  });
  it('leaves nothing on the host but its note, once it was carried out', async (host) => {
    host.arm({ maxStarts: 0 });
    await host.start();
    assert.ok(existsSync(join(host.root, 'timer')), 'somebody has to clean up');
    await host.tick();
    assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note']);
    assert.deepEqual(readdirSync(join(host.root, 'unit.d')), []);
    assert.deepEqual(readdirSync(join(host.root, 'kubelet')), ['config.yaml']);
    assert.deepEqual(host.calls().slice(-2), [
      'systemctl daemon-reload',
      'systemctl --no-block stop kubelet-gitops-guard.timer',
    ]);
    assert.equal(existsSync(join(host.root, 'timer')), false);
  });
  it('removes no other file than its own drop-in', async (host) => {
    host.arm({ maxStarts: 0 });
    const other = join(host.root, 'unit.d', '10-kubeadm.conf');
    writeFileSync(other, 'precious');
    host.write('plan', (host.read(join(host.guard, 'plan')) ?? '').replace(host.dropIn, other));
    await host.start();
    await host.tick();
    assert.ok(existsSync(other));
  });
  it('tries a restart that systemd refuses again, and says in its note that there was none', async (host) => {
    host.arm({ silence: 10 });
    writeFileSync(join(host.root, 'no-restart'), '');
    await host.start();
    await host.tick(1100, 1100);
    isRestored(host);
    assert.equal(noteOf(host).restarted, false);
    rmSync(join(host.root, 'no-restart'));
    await host.tick();
    assert.equal(noteOf(host).restarted, true);
    assert.equal(existsSync(host.dropIn), false);
  });
});
