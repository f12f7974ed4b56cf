import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { stagedPathOf } from '#agent/guard/layout.ts';
import { readGuardNote } from '#agent/guard/records.ts';
import { without } from '../../support/needs.ts';
import {
  BOOT,
  createGuardedHost,
  type GuardedHost,
  NEW,
  OLD,
  type PlanOptions,
  SCRIPT,
} from './support/guarded-host.ts';
import { type Shell, SHELLS } from './support/shells.ts';

/** Where the host has come to. */
const stateOf = (host: GuardedHost) => ({
  config: host.read(host.config) === OLD ? 'old' : host.read(host.config) === NEW ? 'new' : 'broken',
  plan: existsSync(join(host.guard, 'plan'))
    ? 'waiting'
    : existsSync(join(host.guard, 'fired'))
      ? 'carried out'
      : 'none',
});

const UNTOUCHED = { config: 'new', plan: 'waiting' };
const RESTORED = { config: 'old', plan: 'carried out' };

const noteOf = (host: GuardedHost) => readGuardNote(readFileSync(join(host.guard, 'note')));

const ORDERED = ['systemctl reset-failed kubelet.service', 'systemctl --no-block restart kubelet.service'];

interface Row {
  readonly when: string;
  readonly plan?: PlanOptions;
  readonly story: (host: GuardedHost, shell: Shell) => Promise<void>;
}

const start = async (host: GuardedHost, shell: Shell, times = 1): Promise<void> => {
  for (let time = 0; time < times; time += 1) assert.equal((await host.run(shell, 'start')).status, 0);
};
const tick = async (host: GuardedHost, shell: Shell): Promise<void> =>
  assert.equal((await host.run(shell, 'tick')).status, 0);
const alive = (host: GuardedHost, uptime: number, boot = BOOT): void => host.write('alive', `${boot} ${uptime}\n`);

/** As the agent ends a plan. */
const limits = (host: GuardedHost, ...lines: readonly string[]): void => {
  const plan = (host.read(join(host.guard, 'plan')) ?? '').replace(/(?:limit .*\n)*end\n$/, '');
  host.write('plan', `${plan}${lines.map((line) => `limit ${line}\n`).join('')}end\n`);
};
const lifted = (host: GuardedHost): readonly string[] => host.calls().filter((call) => call.includes('set-property'));

const starts: readonly Row[] = [
  {
    when: 'lets the kubelet start as often as it may, and restores at the next start',
    plan: { maxStarts: 3 },
    async story(host, shell) {
      await start(host, shell, 3);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      await start(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.equal(existsSync(host.state), false, 'what has to go is gone');
      assert.equal(existsSync(stagedPathOf(host.config)), false);
      const { at, ...note } = noteOf(host);
      assert.deepEqual(note, { cause: 'starts', starts: 4, restarted: true });
      assert.match(at ?? '', /^20/);
      assert.deepEqual(
        host.calls().filter((call) => call.includes('restart')),
        [],
        'a start needs no restart',
      );
    },
  },
  {
    when: 'counts again after a reboot',
    plan: { maxStarts: 3 },
    async story(host, shell) {
      await start(host, shell, 3);
      host.setTime(20, 'another-boot');
      await start(host, shell, 3);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      await start(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
    },
  },
  {
    when: 'makes one timer in each boot, which runs a script only where there is one',
    async story(host, shell) {
      await start(host, shell, 2);
      const runs = host.calls().filter((call) => call.startsWith('systemd-run'));
      assert.equal(runs.length, 1);
      const script = join(host.guard, 'guard.sh');
      assert.ok(
        runs[0]?.endsWith(
          `/bin/sh -c test -f '${script}' && exec /bin/sh '${script}' tick || exec systemctl --no-block stop kubelet-gitops-guard.timer`,
        ),
        runs[0],
      );
      rmSync(join(host.root, 'timer'));
      await start(host, shell);
      assert.equal(host.calls().filter((call) => call.startsWith('systemd-run')).length, 2);
    },
  },
  {
    when: 'makes the timer on a systemd that knows no --no-block',
    async story(host, shell) {
      writeFileSync(join(host.root, 'old-systemd'), '');
      await start(host, shell);
      assert.ok(existsSync(join(host.root, 'timer')));
    },
  },
  {
    when: 'restores without systemd’s tools',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      for (const name of ['systemctl', 'systemd-run', 'date']) rmSync(join(host.paths.bin, name));
      await start(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.equal(noteOf(host).at, undefined);
      await tick(host, shell);
    },
  },
  {
    when: 'lifts what the kubelet limited elsewhere, after everything is restored, and only what it can read',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      limits(
        host,
        'system.slice MemoryMax=infinity',
        'foo-a\\x2db.slice CPUWeight=',
        '-H x=1',
        'a b c=1',
        'a;b c=1',
        '$(id) c=1',
      );
      await start(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.deepEqual(lifted(host), [
        'systemctl set-property --runtime system.slice MemoryMax=infinity',
        'systemctl set-property --runtime foo-a\\x2db.slice CPUWeight=',
      ]);
    },
  },
  {
    when: 'restores although systemd lifts nothing',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      limits(host, 'system.slice MemoryMax=infinity', 'system.slice TasksMax=infinity');
      writeFileSync(join(host.root, 'no-property'), '');
      await start(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.equal(lifted(host).length, 2, 'one that is refused says nothing of the next');
    },
  },
  {
    when: 'lifts nothing while the trial goes on, and nothing by a plan that it does not understand',
    plan: { maxStarts: 1 },
    async story(host, shell) {
      limits(host, 'system.slice MemoryMax=infinity');
      await start(host, shell);
      limits(host, 'system.slice MemoryMax');
      await start(host, shell);
      assert.deepEqual([stateOf(host), lifted(host)], [UNTOUCHED, []]);
    },
  },
  {
    when: 'restores at a start after the agent was silent for too long',
    async story(host, shell) {
      await start(host, shell);
      host.setTime(1600);
      await start(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.equal(noteOf(host).cause, 'silence');
    },
  },
  {
    when: 'counts starts without /proc, and judges no silence',
    plan: { maxStarts: 1 },
    async story(host, shell) {
      rmSync(host.paths.proc, { recursive: true });
      await tick(host, shell);
      await tick(host, shell);
      await start(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      await start(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
    },
  },
  {
    when: 'does nothing before it is armed, nor after',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      renameSync(join(host.guard, 'plan'), join(host.guard, 'elsewhere'));
      await start(host, shell, 2);
      await tick(host, shell);
      assert.deepEqual(stateOf(host), { config: 'new', plan: 'none' });
      assert.deepEqual(host.calls(), ['systemctl --no-block stop kubelet-gitops-guard.timer']);
    },
  },
  {
    when: 'leaves a directory alone that is in the place of a file, and restores the rest',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      rmSync(host.config);
      mkdirSync(join(host.config, 'inside'), { recursive: true });
      await start(host, shell);
      assert.deepEqual(readdirSync(host.config), ['inside']);
      assert.equal(existsSync(host.state), false);
      assert.equal(stateOf(host).plan, 'carried out');
    },
  },
  {
    when: 'puts no empty file back, unless it is told to',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      writeFileSync(stagedPathOf(host.config), '');
      const plan = host.read(join(host.guard, 'plan')) ?? '';
      await start(host, shell);
      assert.equal(host.read(host.config), NEW);
      host.write('plan', plan.replace('put ', 'put-empty '));
      await start(host, shell);
      assert.equal(host.read(host.config), '');
    },
  },
  {
    when: 'says in the journal what it does',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      const { stderr } = await host.run(shell, 'start');
      assert.equal(stderr, 'kubelet-gitops-guard: taking the trial back (starts, 1 starts)\n');
    },
  },
  {
    when: 'restores paths with blanks at their ends, quotes, stars and backslashes',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      const odd = join(host.root, ` it's  *\\n "$HOME" `);
      writeFileSync(odd, NEW);
      writeFileSync(stagedPathOf(odd), OLD);
      host.write('plan', (host.read(join(host.guard, 'plan')) ?? '').replace('put ', `put ${odd}\nput `));
      await start(host, shell);
      assert.equal(host.read(odd), OLD);
      assert.deepEqual(stateOf(host), RESTORED);
    },
  },
];

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

for (const shell of SHELLS) {
  describe(`the guard under ${shell.name}`, { skip: shell.skip }, () => {
    for (const { when, plan, story } of [...starts, ...ticks]) {
      it(when, async () => {
        const host = createGuardedHost(plan);
        try {
          await story(host, shell);
        } finally {
          host.remove();
        }
      });
    }
  });
}

const NO_SHELLCHECK = without('shellcheck', ['--version'], 'nothing checks the guard’s script');

it('the guard’s script gives shellcheck no reason to complain', { skip: NO_SHELLCHECK }, () => {
  const { stdout, status } = spawnSync('shellcheck', ['--shell=sh', SCRIPT], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});
