import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOOT } from './support/guarded-host.ts';
import {
  alive,
  limits,
  noteOf,
  ORDERED,
  RESTORED,
  type Row,
  start,
  stateOf,
  tick,
  underEachShell,
  UNTOUCHED,
} from './support/guard-runs.ts';

const ticks: readonly Row[] = [
  {
    when: 'lifts what the kubelet limited elsewhere before it restarts the kubelet',
    plan: { silence: 10 },
    async story(host, shell) {
      limits(host, 'system.slice MemoryMax=infinity');
      await start(host, shell);
      host.setTime(1100);
      await tick(host, shell);
      await tick(host, shell);
      const calls = host.calls();
      const lift = calls.indexOf('systemctl set-property --runtime system.slice MemoryMax=infinity');
      assert.ok(lift >= 0 && lift < calls.indexOf('systemctl --no-block restart kubelet.service'), calls.join('\n'));
    },
  },
  {
    when: 'restores and restarts when the agent was silent for too long in two ticks',
    async story(host, shell) {
      await start(host, shell);
      alive(host, 1100);
      host.setTime(1699);
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      host.setTime(1700);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.deepEqual(host.calls().slice(-2), ORDERED);
      const { at: _, ...note } = noteOf(host);
      assert.deepEqual(note, { cause: 'silence', starts: 1, restarted: true });
    },
  },
  {
    when: 'is reassured by a sign of life between two ticks',
    async story(host, shell) {
      await start(host, shell);
      host.setTime(5000);
      await tick(host, shell);
      alive(host, 5005);
      host.setTime(5015);
      await tick(host, shell);
      host.setTime(9000);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
    },
  },
  {
    when: 'counts silence after a reboot from the first start of the kubelet in this boot',
    async story(host, shell) {
      await start(host, shell);
      alive(host, 1000);
      host.setTime(100, 'another-boot');
      await start(host, shell);
      host.setTime(699, 'another-boot');
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      host.setTime(700, 'another-boot');
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
    },
  },
  {
    when: 'believes no sign of life from the future',
    async story(host, shell) {
      await start(host, shell);
      alive(host, 99_999);
      host.setTime(1600);
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
    },
  },
  {
    when: 'believes a sign of life of this very second',
    async story(host, shell) {
      await start(host, shell);
      alive(host, 1600);
      host.setTime(1600);
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
    },
  },
  {
    when: 'counts silence from the boot where the first start is later than now',
    async story(host, shell) {
      host.write('starts', `${BOOT} 1 99999\n`);
      host.setTime(599);
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      host.setTime(600);
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
    },
  },
  ...(['failed', 'inactive'] as const).map((down): Row => ({
    when: `restores and starts a unit that is ${down} while the agent is silent for a minute, in two ticks`,
    async story(host, shell) {
      await start(host, shell);
      host.setUnit(down);
      alive(host, 1000);
      host.setTime(1059);
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      host.setTime(1060);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      host.setTime(1075);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.deepEqual(host.calls().slice(-2), ORDERED);
      assert.equal(noteOf(host).cause, 'down');
    },
  })),
  {
    when: 'starts no unit that a person stopped, and puts the files back for when it is started',
    async story(host, shell) {
      await start(host, shell);
      host.stopUnit();
      alive(host, 1000);
      host.setTime(1300);
      for (let times = 0; times < 3; times += 1) await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      host.setTime(1600);
      for (let times = 0; times < 4; times += 1) await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.equal(noteOf(host).restarted, false);
      assert.ok(!host.calls().some((call) => call.includes('restart')), 'the unit was started');
      assert.ok(existsSync(join(host.root, 'timer')), 'somebody has to clean up later');
      await start(host, shell);
      host.setUnit('active');
      assert.equal(noteOf(host).restarted, true);
      await tick(host, shell);
      assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note']);
      assert.ok(!host.calls().some((call) => call.includes('restart')), 'the unit was started once more');
    },
  },
  ...(
    [
      ['/usr/local/bin/k3s agent', 'level=info msg="Starting k3s agent"\n', true],
      ['/opt/rke2/bin/rke2 agent', 'level=error msg="failed to get CA certs"\n', true],
      ['/usr/local/bin/k3s agent', 'msg="Starting k3s agent"\nmsg="Running kubelet --config-dir=/etc"\n', false],
      ['/usr/local/bin/k3s agent', '', false],
      ['/usr/bin/kubelet --config=/etc/k3s', 'I1122 server.go:1] starting\n', false],
    ] as const
  ).map(([program, journal, isWaiting]): Row => ({
    when: `restores, and restarts ${isWaiting ? 'not' : 'even'} ${program} that is yet to start and says ${JSON.stringify(journal)}`,
    plan: { silence: 10 },
    async story(host, shell) {
      await start(host, shell);
      host.setUnit('activating');
      host.setProgram(program, journal);
      host.setTime(1100);
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.equal(noteOf(host).restarted, true);
      assert.equal(
        host.calls().some((call) => call.includes('restart')),
        !isWaiting,
      );
    },
  })),
  {
    when: 'restores and restarts a unit that was stopped and is to be started, by a job that does not end',
    async story(host, shell) {
      await start(host, shell);
      host.stopUnit(815);
      alive(host, 1000);
      host.setTime(1600);
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.deepEqual(host.calls().slice(-2), ORDERED);
    },
  },
  {
    when: 'leaves a unit alone that came up between two ticks, or is about to',
    async story(host, shell) {
      await start(host, shell);
      host.setTime(1100);
      host.setUnit('failed');
      await tick(host, shell);
      host.setUnit('activating');
      await tick(host, shell);
      host.setUnit('failed');
      await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
    },
  },
  {
    when: 'restores at the first tick where it cannot note its doubt, and restarts what nobody stopped',
    async story(host, shell) {
      await start(host, shell);
      mkdirSync(join(host.guard, 'doubt'));
      host.setUnit('failed');
      host.setTime(1599);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      host.setTime(1600);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.deepEqual(host.calls().slice(-2), ORDERED);
    },
  },
  {
    when: 'restores at the first tick where it cannot note its doubt, and starts nothing that a person stopped',
    async story(host, shell) {
      await start(host, shell);
      mkdirSync(join(host.guard, 'doubt'));
      host.stopUnit();
      host.setTime(1600);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.ok(!host.calls().some((call) => call.includes('restart')), 'the unit was started');
    },
  },
  {
    when: 'leaves nothing on the host but its note, once it was carried out',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      await start(host, shell);
      assert.ok(existsSync(join(host.root, 'timer')), 'somebody has to clean up');
      await tick(host, shell);
      assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note']);
      assert.deepEqual(readdirSync(join(host.root, 'unit.d')), []);
      assert.deepEqual(readdirSync(join(host.root, 'kubelet')), ['config.yaml']);
      assert.deepEqual(host.calls().slice(-2), [
        'systemctl daemon-reload',
        'systemctl --no-block stop kubelet-gitops-guard.timer',
      ]);
      assert.equal(existsSync(join(host.root, 'timer')), false);
    },
  },
  {
    when: 'removes no other file than its own drop-in',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      const other = join(host.root, 'unit.d', '10-kubeadm.conf');
      writeFileSync(other, 'precious');
      host.write('plan', (host.read(join(host.guard, 'plan')) ?? '').replace(host.dropIn, other));
      await start(host, shell);
      await tick(host, shell);
      assert.ok(existsSync(other));
    },
  },
  {
    when: 'tries a restart that systemd refuses again, and says in its note that there was none',
    plan: { silence: 10 },
    async story(host, shell) {
      writeFileSync(join(host.root, 'no-restart'), '');
      await start(host, shell);
      host.setTime(1100);
      await tick(host, shell);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.equal(noteOf(host).restarted, false);
      rmSync(join(host.root, 'no-restart'));
      await tick(host, shell);
      assert.equal(noteOf(host).restarted, true);
      assert.equal(existsSync(host.dropIn), false);
    },
  },
];

underEachShell(ticks);
