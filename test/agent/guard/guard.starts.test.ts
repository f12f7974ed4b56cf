import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stagedPathOf } from '#agent/guard/guard-paths.ts';
import { BOOT, NEW, OLD } from './support/guarded-host.ts';
import {
  lifted,
  limits,
  noteOf,
  isRestored,
  stateOf,
  underEachShell,
  restarts,
  isUntouched,
} from './support/guard-runs.ts';

underEachShell((it, shell) => {
  it('lets the kubelet start as often as it may, and restores at the next start', async (host) => {
    host.arm({ maxStarts: 3 });
    await host.start(3);
    isUntouched(host);
    await host.start();
    isRestored(host);
    assert.equal(existsSync(host.state), false, 'what has to go is gone');
    assert.equal(existsSync(stagedPathOf(host.config)), false);
    const { at, ...note } = noteOf(host);
    assert.deepEqual(note, { cause: 'starts', starts: 4, restarted: true });
    assert.match(at ?? '', /^20/);
    assert.equal(restarts(host), 0, 'a start needs no restart');
  });
  it('counts again after a reboot', async (host) => {
    host.arm({ maxStarts: 3 });
    await host.start(3);
    host.setTime(20, 'another-boot');
    await host.start(3);
    isUntouched(host);
    await host.start();
    isRestored(host);
  });
  it('makes one timer in each boot, which runs a script only where there is one', async (host) => {
    await host.start(2);
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
    await host.start();
    assert.equal(host.calls().filter((call) => call.startsWith('systemd-run')).length, 2);
  });
  it('makes the timer on a systemd that knows no --no-block', async (host) => {
    writeFileSync(join(host.root, 'old-systemd'), '');
    await host.start();
    assert.ok(existsSync(join(host.root, 'timer')));
  });
  it('restores without systemd’s tools', async (host) => {
    host.arm({ maxStarts: 0 });
    for (const name of ['systemctl', 'systemd-run', 'date']) rmSync(join(host.paths.bin, name));
    await host.start();
    isRestored(host);
    assert.equal(noteOf(host).at !== undefined, shell.hasOwnCommands);
    await host.tick();
  });
  it('lifts what the kubelet limited elsewhere, after everything is restored, and only what it can read', async (host) => {
    host.arm({ maxStarts: 0 });
    limits(
      host,
      'system.slice MemoryMax=infinity',
      'foo-a\\x2db.slice CPUWeight=',
      '-H x=1',
      'a b c=1',
      'a;b c=1',
      '$(id) c=1',
    );
    await host.start();
    isRestored(host);
    assert.deepEqual(lifted(host), [
      'systemctl set-property --runtime system.slice MemoryMax=infinity',
      'systemctl set-property --runtime foo-a\\x2db.slice CPUWeight=',
    ]);
  });
  it('restores although systemd lifts nothing', async (host) => {
    host.arm({ maxStarts: 0 });
    limits(host, 'system.slice MemoryMax=infinity', 'system.slice TasksMax=infinity');
    writeFileSync(join(host.root, 'no-property'), '');
    await host.start();
    isRestored(host);
    assert.equal(lifted(host).length, 2, 'one that is refused says nothing of the next');
  });
  it('lifts nothing while the trial goes on, and nothing by a plan that it does not understand', async (host) => {
    host.arm({ maxStarts: 1 });
    limits(host, 'system.slice MemoryMax=infinity');
    await host.start();
    limits(host, 'system.slice MemoryMax');
    await host.start();
    isUntouched(host);
    assert.deepEqual(lifted(host), []);
  });
  it('restores at a start after the agent was silent for too long', async (host) => {
    await host.start();
    host.setTime(1600);
    await host.start();
    isRestored(host);
    assert.equal(noteOf(host).cause, 'silence');
  });
  it('counts silence from the boot where the first start is later than now', async (host) => {
    host.write('starts', `${BOOT} 1 99999\n`);
    host.setTime(599);
    await host.start();
    isUntouched(host);
    host.setTime(600);
    await host.start();
    isRestored(host);
    assert.equal(noteOf(host).cause, 'silence');
  });
  for (const [count, isOne] of [
    ['999999999', true],
    ['1000000000', false],
    ['08', false],
    ['-8', false],
    ['8x', false],
  ] as const)
    it(`takes ${count} for ${isOne ? 'the starts so far' : 'no number, and counts again'}`, async (host) => {
      host.arm({ maxStarts: 1 });
      host.write('starts', `${BOOT} ${count} 1000\n`);
      await host.start();
      (isOne ? isRestored : isUntouched)(host);
      await host.start();
      isRestored(host);
    });
  it('goes by a plan of 500 lines, and by no longer one', async (host) => {
    host.arm({ maxStarts: 0 });
    const plan = host.read(join(host.guard, 'plan')) ?? '';
    const ofLines = (lines: number): string =>
      plan.replace('to before\n', (line) => line.repeat(lines + 2 - plan.split('\n').length));
    host.write('plan', ofLines(501));
    await host.start();
    isUntouched(host);
    host.write('plan', ofLines(500));
    await host.start();
    isRestored(host);
    assert.equal(existsSync(host.state), false);
  });
  it('counts starts without /proc, and judges no silence', async (host) => {
    host.arm({ maxStarts: 1 });
    rmSync(host.paths.proc, { recursive: true });
    await host.tick();
    await host.tick();
    await host.start();
    isUntouched(host);
    await host.start();
    isRestored(host);
  });
  for (const mode of [0o600, 0o400] as const)
    it(`has a timer clean up after a start with what was put back${mode === 0o400 ? ', unless it cannot note that start' : ''}`, async (host) => {
      host.arm({ silence: 10 });
      host.stopUnit();
      host.write('doubt', `${BOOT}\n`);
      await host.tick();
      isRestored(host);
      assert.equal(noteOf(host).restarted, false);
      rmSync(join(host.root, 'timer'), { force: true });
      chmodSync(join(host.guard, 'note'), mode);
      assert.equal((await host.run('start', { asNobody: true })).status, 0);
      assert.deepEqual([noteOf(host).restarted, existsSync(join(host.root, 'timer'))], Array(2).fill(mode === 0o600));
    });
  it('does nothing before it is armed, nor after', async (host) => {
    host.arm({ maxStarts: 0 });
    renameSync(join(host.guard, 'plan'), join(host.guard, 'elsewhere'));
    await host.start(2);
    await host.tick();
    assert.deepEqual(stateOf(host), { config: 'new', plan: 'none' });
    assert.deepEqual(host.calls(), ['systemctl --no-block stop kubelet-gitops-guard.timer']);
  });
  it('leaves a directory alone that is in the place of a file, and restores the rest', async (host) => {
    host.arm({ maxStarts: 0 });
    rmSync(host.config);
    mkdirSync(join(host.config, 'inside'), { recursive: true });
    await host.start();
    assert.deepEqual(readdirSync(host.config), ['inside']);
    assert.equal(existsSync(host.state), false);
    assert.equal(stateOf(host).plan, 'carried out');
  });
  it('puts no empty file back, unless it is told to', async (host) => {
    host.arm({ maxStarts: 0 });
    writeFileSync(stagedPathOf(host.config), '');
    const plan = host.read(join(host.guard, 'plan')) ?? '';
    await host.start();
    assert.equal(host.read(host.config), NEW);
    host.write('plan', plan.replace('put ', 'put-empty '));
    await host.start();
    assert.equal(host.read(host.config), '');
  });
  it('says in the journal what it does', async (host) => {
    host.arm({ maxStarts: 0 });
    const { stderr } = await host.run('start');
    assert.equal(stderr, 'kubelet-gitops-guard: taking the trial back (starts, counted 1)\n');
  });
  it('restores paths with blanks at their ends, quotes, stars and backslashes', async (host) => {
    host.arm({ maxStarts: 0 });
    const odd = join(host.root, ` it's  *\\n "$HOME" `);
    writeFileSync(odd, NEW);
    writeFileSync(stagedPathOf(odd), OLD);
    host.write('plan', (host.read(join(host.guard, 'plan')) ?? '').replace('put ', `put ${odd}\nput `));
    await host.start();
    assert.equal(host.read(odd), OLD);
    isRestored(host);
  });
});
