import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_BOOTS, NO_DOUBT, NO_NOTE, NO_STARTS } from '#agent/guard/guard-records.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { noteOf, restarts, underEachShell } from './support/guard-runs.ts';
import { inCi } from '../../support/recipe.ts';
import { sampleOf } from '../../support/sample.ts';
import { createGuardedHost, type GuardedHost, NEW, OLD } from './support/guarded-host.ts';
import { type Shell, SHELLS } from './support/shells.ts';

const mount = (...args: readonly string[]): Buffer => execFileSync('mount', args, { stdio: 'pipe' });

/** The guard's directory, and the kubelet's, are on a disk of their own, with all that arming makes. */
function createHostWithDisk(shell: Shell): GuardedHost {
  const host = createGuardedHost(shell, { maxStarts: 2 });
  for (const [name, text] of Object.entries({ starts: NO_STARTS, boots: NO_BOOTS, doubt: NO_DOUBT, note: NO_NOTE }))
    writeFileSync(join(host.guard, name), text);
  const disk = join(host.root, 'disk');
  mkdirSync(disk);
  mount('-t', 'tmpfs', '-o', 'size=256k', 'guarded', disk);
  const mounted = [disk];
  for (const name of ['guard', 'kubelet']) {
    cpSync(join(host.root, name), join(disk, name), { recursive: true });
    mount('--bind', join(disk, name), join(host.root, name));
    mounted.push(join(host.root, name));
  }
  return {
    ...host,
    remove() {
      for (const place of mounted.toReversed()) execFileSync('umount', [place]);
      host.remove();
    },
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
  const [shell = assert.fail('there is no shell')] = SHELLS;
  try {
    createHostWithDisk(shell).remove();
    return false;
  } catch (error) {
    // On a hosted runner CI is an ordinary user, and only root may mount.
    if (inCi() && process.getuid?.() === 0) throw error;
    return 'SKIPPED: nobody may mount a disk here, so nothing proves that the guard works on one that is full';
  }
})();

underEachShell(
  (it) => {
    it('that is full: counts, restores, and writes its note', async (host) => {
      fill(host);
      await host.start(2);
      assert.equal(host.read(host.config), NEW);
      await host.start();
      assert.equal(host.read(host.config), OLD);
      const { cause, starts } = noteOf(host);
      assert.deepEqual({ cause, starts }, { cause: 'starts', starts: 3 });
    });

    it('that is full: counts boots', async (host) => {
      fill(host);
      for (const boot of ['boot-1', 'boot-2', 'boot-3']) {
        assert.equal(host.read(host.config), NEW);
        host.setTime(20, boot);
        await host.start();
      }
      assert.equal(host.read(host.config), OLD);
      const { cause, starts } = noteOf(host);
      assert.deepEqual({ cause, starts }, { cause: 'boots', starts: 2 });
    });

    it('that is full: sees that the agent is silent', async (host) => {
      await host.start();
      fill(host);
      await host.tick(2000, 2000);
      assert.equal(host.read(host.config), OLD);
    });

    it('that is full, without files to write over: sees that the agent is silent', async (host) => {
      for (const name of ['starts', 'doubt', 'note']) rmSync(join(host.guard, name));
      fill(host);
      await host.start(4);
      await host.tick(2000);
      assert.equal(host.read(host.config), OLD);
    });

    it('that is read-only: does nothing, orders nothing, and goes on when that is over', async (host) => {
      host.write('starts', '11111111-2222-3333-4444-555555555555 9 100\n');
      host.write('doubt', '11111111-2222-3333-4444-555555555555\n');
      for (const name of ['guard', 'kubelet']) mount('-o', 'remount,bind,ro', join(host.root, name));
      await host.start();
      await host.tick();
      await host.tick();
      assert.equal(host.read(host.config), NEW);
      assert.equal(restarts(host), 0);
      for (const name of ['guard', 'kubelet']) mount('-o', 'remount,bind,rw', join(host.root, name));
      await host.tick();
      assert.equal(host.read(host.config), OLD);
      assert.ok(existsSync(join(host.guard, 'fired')));
    });
  },
  {
    about: ', on a disk',
    shells: sampleOf(SHELLS, SHELLS.length),
    skip: (shell) => (shell.skip === false ? skip : shell.skip),
    host: createHostWithDisk,
  },
);
