import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { NO_BOOTS, NO_DOUBT, NO_NOTE, NO_STARTS, readGuardNote } from '#agent/guard/guard-records.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { inCi } from '../../support/recipe.ts';
import { sampleOf } from '../../support/sample.ts';
import { createGuardedHost, type GuardedHost, NEW, OLD } from './support/guarded-host.ts';
import { SHELLS } from './support/shells.ts';

const mount = (...args: readonly string[]): Buffer => execFileSync('mount', args, { stdio: 'pipe' });

/** Puts the guard's directory, and the kubelet's, on a disk of their own. @returns takes it away */
function onADiskOfItsOwn(host: GuardedHost): () => void {
  const disk = join(host.root, 'disk');
  mkdirSync(disk);
  mount('-t', 'tmpfs', '-o', 'size=256k', 'guarded', disk);
  const mounted = [disk];
  for (const name of ['guard', 'kubelet']) {
    cpSync(join(host.root, name), join(disk, name), { recursive: true });
    mount('--bind', join(disk, name), join(host.root, name));
    mounted.push(join(host.root, name));
  }
  return () => {
    for (const place of mounted.toReversed()) execFileSync('umount', [place]);
  };
}

function fill(host: GuardedHost): void {
  const full = (): boolean => {
    try {
      writeFileSync(join(host.root, 'disk', 'filler'), 'x'.repeat(4096), { flag: 'a' });
      return false;
    } catch (error) {
      return codeOf(error) === 'ENOSPC';
    }
  };
  while (!full());
}

const skip = ((): string | false => {
  const host = createGuardedHost();
  try {
    onADiskOfItsOwn(host)();
    return false;
  } catch (error) {
    // On a hosted runner CI is an ordinary user, and only root may mount.
    if (inCi() && process.getuid?.() === 0) throw error;
    return 'SKIPPED: nobody may mount a disk here, so nothing proves that the guard works on one that is full';
  } finally {
    host.remove();
  }
})();

for (const shell of sampleOf(SHELLS, SHELLS.length)) {
  describeOrSkip(`the guard under ${shell.name}, on a disk`, { skip: shell.skip === false ? skip : shell.skip }, () => {
    const on = async (story: (host: GuardedHost) => Promise<void>): Promise<void> => {
      const host = createGuardedHost({ maxStarts: 2, silence: 600 });
      // As they are after arming.
      writeFileSync(join(host.guard, 'starts'), NO_STARTS);
      writeFileSync(join(host.guard, 'boots'), NO_BOOTS);
      writeFileSync(join(host.guard, 'doubt'), NO_DOUBT);
      writeFileSync(join(host.guard, 'note'), NO_NOTE);
      const takeAway = onADiskOfItsOwn(host);
      try {
        await story(host);
      } finally {
        takeAway();
        host.remove();
      }
    };

    it('that is full: counts, restores, and writes its note', () =>
      on(async (host) => {
        fill(host);
        for (let time = 0; time < 2; time += 1) await host.run(shell, 'start');
        assert.equal(host.read(host.config), NEW);
        await host.run(shell, 'start');
        assert.equal(host.read(host.config), OLD);
        const { cause, starts } = readGuardNote(Buffer.from(host.read(join(host.guard, 'note')) ?? ''));
        assert.deepEqual({ cause, starts }, { cause: 'starts', starts: 3 });
      }));

    it('that is full: counts boots', () =>
      on(async (host) => {
        fill(host);
        for (const boot of ['boot-1', 'boot-2', 'boot-3']) {
          assert.equal(host.read(host.config), NEW);
          host.setTime(20, boot);
          await host.run(shell, 'start');
        }
        assert.equal(host.read(host.config), OLD);
        const { cause, starts } = readGuardNote(Buffer.from(host.read(join(host.guard, 'note')) ?? ''));
        assert.deepEqual({ cause, starts }, { cause: 'boots', starts: 2 });
      }));

    it('that is full: sees that the agent is silent', () =>
      on(async (host) => {
        await host.run(shell, 'start');
        fill(host);
        host.setTime(2000);
        for (let time = 0; time < 2; time += 1) await host.run(shell, 'tick');
        assert.equal(host.read(host.config), OLD);
      }));

    it('that is full, without files to write over: sees that the agent is silent', () =>
      on(async (host) => {
        for (const name of ['starts', 'doubt', 'note']) rmSync(join(host.guard, name));
        fill(host);
        for (let time = 0; time < 4; time += 1) assert.equal((await host.run(shell, 'start')).status, 0);
        host.setTime(2000);
        await host.run(shell, 'tick');
        assert.equal(host.read(host.config), OLD);
      }));

    it('that is read-only: does nothing, orders nothing, and goes on when that is over', () =>
      on(async (host) => {
        host.write('starts', '11111111-2222-3333-4444-555555555555 9 100\n');
        host.write('doubt', '11111111-2222-3333-4444-555555555555\n');
        for (const name of ['guard', 'kubelet']) mount('-o', 'remount,bind,ro', join(host.root, name));
        for (const mode of ['start', 'tick', 'tick'] as const) assert.equal((await host.run(shell, mode)).status, 0);
        assert.equal(host.read(host.config), NEW);
        assert.deepEqual(
          host.calls().filter((call) => call.includes('restart')),
          [],
        );
        for (const name of ['guard', 'kubelet']) mount('-o', 'remount,bind,rw', join(host.root, name));
        await host.run(shell, 'tick');
        assert.equal(host.read(host.config), OLD);
        assert.ok(existsSync(join(host.guard, 'fired')));
      }));
  });
}
