import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stagedPathOf } from '#agent/guard/guard-paths.ts';
import { BOOT, NEW, OLD } from './support/guarded-host.ts';
import {
  lifted,
  limits,
  noteOf,
  RESTORED,
  type Row,
  start,
  stateOf,
  tick,
  underEachShell,
  UNTOUCHED,
} from './support/guard-runs.ts';

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
      assert.equal(noteOf(host).at !== undefined, shell.hasOwnCommands);
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
    when: 'counts silence from the boot where the first start is later than now',
    async story(host, shell) {
      host.write('starts', `${BOOT} 1 99999\n`);
      host.setTime(599);
      await start(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      host.setTime(600);
      await start(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.equal(noteOf(host).cause, 'silence');
    },
  },
  ...(
    [
      ['999999999', RESTORED],
      ['1000000000', UNTOUCHED],
      ['08', UNTOUCHED],
      ['-8', UNTOUCHED],
      ['8x', UNTOUCHED],
    ] as const
  ).map(([count, state]): Row => ({
    when: `takes ${count} for ${state === RESTORED ? 'the starts so far' : 'no number, and counts again'}`,
    plan: { maxStarts: 1 },
    async story(host, shell) {
      host.write('starts', `${BOOT} ${count} 1000\n`);
      await start(host, shell);
      assert.deepEqual(stateOf(host), state);
      await start(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
    },
  })),
  {
    when: 'goes by a plan of 500 lines, and by no longer one',
    plan: { maxStarts: 0 },
    async story(host, shell) {
      const plan = host.read(join(host.guard, 'plan')) ?? '';
      const ofLines = (lines: number): string =>
        plan.replace('to before\n', (line) => line.repeat(lines + 2 - plan.split('\n').length));
      host.write('plan', ofLines(501));
      await start(host, shell);
      assert.deepEqual(stateOf(host), UNTOUCHED);
      host.write('plan', ofLines(500));
      await start(host, shell);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.equal(existsSync(host.state), false);
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
  ...([0o600, 0o400] as const).map((mode): Row => ({
    when: `has a timer clean up after a start with what was put back${mode === 0o400 ? ', unless it cannot note that start' : ''}`,
    plan: { silence: 10 },
    async story(host, shell) {
      host.stopUnit();
      host.write('doubt', `${BOOT}\n`);
      await tick(host, shell);
      assert.deepEqual([stateOf(host), noteOf(host).restarted], [RESTORED, false]);
      rmSync(join(host.root, 'timer'), { force: true });
      chmodSync(join(host.guard, 'note'), mode);
      assert.equal((await host.run(shell, 'start', { asNobody: true })).status, 0);
      assert.deepEqual([noteOf(host).restarted, existsSync(join(host.root, 'timer'))], Array(2).fill(mode === 0o600));
    },
  })),
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
      assert.equal(stderr, 'kubelet-gitops-guard: taking the trial back (starts, counted 1)\n');
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

underEachShell(starts);
