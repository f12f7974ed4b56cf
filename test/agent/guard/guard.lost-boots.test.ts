import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aliveLine, NO_BOOTS, NO_NOTE } from '#agent/guard/guard-records.ts';
import { sampleOf } from '../../support/sample.ts';
import { until } from '../../support/until.ts';
import { BOOT, createGuardedHost, type GuardedHost, type PlanOptions } from './support/guarded-host.ts';
import {
  alive,
  isRestored,
  isTicking,
  isUntouched,
  type It,
  noteOf,
  restarts,
  stateOf,
  underEachShell,
} from './support/guard-runs.ts';
import { SHELLS, skipWithoutStandIns } from './support/shells.ts';

const SINCE = 20;
/** As the agent sets up what the guard writes over. */
function counting(host: GuardedHost): GuardedHost {
  host.write('boots', NO_BOOTS.toString());
  host.write('note', NO_NOTE.toString());
  return host;
}
const nameOf = (boot: number): string => `${boot}`.padStart(8, '0').concat('-2222-3333-4444-555555555555');

/** The machine boots, the kubelet starts, and it ends at these of the guard's ticks. */
async function boot(host: GuardedHost, which: number, ...ages: readonly number[]): Promise<void> {
  rmSync(join(host.root, 'timer'), { force: true });
  host.setTime(SINCE, nameOf(which));
  await host.start();
  for (const age of ages) {
    host.setTime(age, nameOf(which));
    if (existsSync(join(host.guard, 'guard.sh'))) await host.tick();
  }
}

/** Nothing is on trial, and this boot is that of the promotion. */
function promote(host: GuardedHost): void {
  host.write('plan', (host.read(join(host.guard, 'plan')) ?? '').replace('put /', `watch ${BOOT}\nput /`));
  host.write('alive', aliveLine(BOOT, 900).toString());
}

/** Tells a story of a trial, and of what was promoted. */
const ofBoth =
  (it: It) =>
  (when: string, story: (host: GuardedHost) => Promise<void>, plan: PlanOptions = { silence: 720 }): void => {
    it(`a trial: ${when}`, async (host) => {
      host.arm(plan);
      await story(counting(host));
    });
    it(`what was promoted: ${when}`, async (host) => {
      host.arm({ maxStarts: 999_999_999, silence: 900 });
      promote(host);
      await story(counting(host));
    });
  };

underEachShell((it) => {
  const both = ofBoth(it);
  both('is taken back where the machine dies 70 seconds after each boot, at the third start', async (host) => {
    for (let which = 1; which <= 2; which += 1) {
      await boot(host, which, 35, 50, 65, 80);
      isUntouched(host);
    }
    await boot(host, 3);
    isRestored(host);
    assert.equal(existsSync(host.state), false);
    const { at: _, ...note } = noteOf(host);
    assert.deepEqual(note, { cause: 'boots', starts: 2, restarted: true });
    assert.equal(restarts(host), 0, 'a start needs no restart');
    assert.ok(isTicking(host), 'somebody has to clean up');
    for (let which = 4; which <= 8; which += 1) await boot(host, which);
    isRestored(host);
    await host.tick();
    assert.equal(existsSync(join(host.guard, 'boots')), false);
  });
});

/** What is the same in every shell, if anything is. */
underEachShell(
  (it) => {
    const both = ofBoth(it);
    both('is kept where an agent was there in one of two boots, whether or not a tick saw it', async (host) => {
      for (const [which, ages] of [
        [1, []],
        [2, []],
        [3, []],
        [4, [35]],
      ] as const) {
        rmSync(join(host.root, 'timer'), { force: true });
        host.setTime(SINCE, nameOf(which));
        await host.start();
        if (which % 2 === 0) alive(host, SINCE + 1, nameOf(which));
        for (const age of ages) {
          host.setTime(age, nameOf(which));
          await host.tick();
        }
      }
      await boot(host, 5);
      isUntouched(host);
      await boot(host, 6);
      isUntouched(host);
      await boot(host, 7);
      isRestored(host);
    });
    both('is kept where a sign of life was not on the disk yet, once a tick has seen it', async (host) => {
      for (let which = 1; which <= 4; which += 1) {
        rmSync(join(host.root, 'timer'), { force: true });
        host.setTime(SINCE, nameOf(which));
        await host.start();
        alive(host, 30, nameOf(which));
        host.setTime(35, nameOf(which));
        await host.tick();
        alive(host, 900);
      }
      isUntouched(host);
    });
    both('is taken back although the agent was there before the kubelet started', async (host) => {
      alive(host, SINCE, nameOf(1));
      for (let which = 1; which <= 3; which += 1) await boot(host, which, 35);
      isRestored(host);
    });
    for (const lasts of [599, 600])
      both(
        `${lasts < 600 ? 'is taken back' : 'is kept'} where boots without an agent last ${lasts} seconds`,
        async (host) => {
          for (let which = 1; which <= 3; which += 1) await boot(host, which, 35, SINCE + lasts);
          (lasts < 600 ? isRestored : isUntouched)(host);
        },
      );
    both('is kept where a boot that lasted comes between two that were lost', async (host) => {
      await boot(host, 1, 35);
      await boot(host, 2, 35, 650);
      await boot(host, 3, 35);
      await boot(host, 4, 35);
      isUntouched(host);
      await boot(host, 5);
      isRestored(host);
    });
    both(
      'counts a boot once, from the kubelet’s first start in it',
      async (host) => {
        await boot(host, 1, 35);
        for (const age of [SINCE, 400, 610]) {
          host.setTime(age, nameOf(2));
          await host.start();
        }
        host.setTime(SINCE + 600, nameOf(2));
        await host.tick();
        await boot(host, 3);
        isUntouched(host);
      },
      { maxStarts: 9, silence: 720 },
    );
    both('counts without the file, which somebody took away', async (host) => {
      rmSync(join(host.guard, 'boots'));
      for (let which = 1; which <= 3; which += 1) await boot(host, which, 35);
      isRestored(host);
    });
    both(
      'is kept where the count cannot be written, or the boot cannot be read',
      async (host) => {
        for (let time = 0; time < 3; time += 1) {
          host.setTime(SINCE, nameOf(1));
          await host.start();
          rmSync(join(host.paths.proc, 'sys/kernel/random/boot_id'));
          await host.start();
        }
        isUntouched(host);
        rmSync(join(host.guard, 'boots'));
        mkdirSync(join(host.guard, 'boots'));
        for (let which = 1; which <= 4; which += 1) await boot(host, which, 35);
        isUntouched(host);
      },
      { maxStarts: 9 },
    );
    both('leaves out boots whose age cannot be read', async (host) => {
      const unread = async (which: number): Promise<void> => {
        host.setTime(SINCE, nameOf(which));
        rmSync(join(host.paths.proc, 'uptime'));
        await host.start();
        await host.tick();
      };
      await unread(1);
      await unread(2);
      await unread(3);
      isUntouched(host);
      await boot(host, 4);
      await unread(5);
      await boot(host, 6);
      isUntouched(host);
      await boot(host, 7);
      isRestored(host);
    });
    it('counts nothing in the boot of a promotion', async (host) => {
      promote(host);
      counting(host);
      for (let time = 0; time < 4; time += 1) await host.start();
      assert.deepEqual(host.read(join(host.guard, 'boots')), NO_BOOTS.toString());
      await boot(host, 1);
      await boot(host, 2);
      isUntouched(host);
    });
    it('counts nothing by a line of which only a part was written', async (host) => {
      host.arm({ maxStarts: 999, silence: 720 });
      const lineOf = (which: number, lost: number): string =>
        Array(2)
          .fill(`${nameOf(which)} ${String(lost).padStart(10)} ${String(SINCE).padStart(12)}`)
          .join(' ');
      const [before, after] = [lineOf(1, 0), lineOf(2, 1)];
      assert.equal(after.length, NO_BOOTS.length - 1, 'every line takes the place of the whole');
      const lastChange = after.lastIndexOf('1 ', after.length - 1);
      const arrive = async (length: number): Promise<void> => {
        host.write('boots', `${after.slice(0, length)}${before.slice(length)}\n`);
        await boot(host, 3);
      };
      for (const length of sampleOf(Array.from(Array(lastChange + 1).keys()), 15)) {
        await arrive(length);
        isUntouched(host, `after ${length} of ${after.length} bytes`);
      }
      await arrive(lastChange + 1);
      isRestored(host);
    });
  },
  { shells: sampleOf(SHELLS, SHELLS.length) },
);

/** What is on the disk for good: everything as it was armed, but what was synced since. */
function onADiskThatSyncs(host: GuardedHost): { readonly cutPower: () => void } {
  const [real, durable] = [join(host.guard, 'boots'), join(host.root, 'durable')];
  const stub = join(host.paths.bin, 'dd');
  writeFileSync(stub, `${host.read(stub)?.replace('exec dd', 'dd')}cp '${real}' '${durable}.boots'\n`, { mode: 0o755 });
  const kept = ['guard', 'kubelet', 'unit.d'];
  for (const name of kept) cpSync(join(host.root, name), join(durable, name), { recursive: true });
  return {
    cutPower() {
      for (const name of kept) {
        rmSync(join(host.root, name), { recursive: true });
        cpSync(join(durable, name), join(host.root, name), { recursive: true });
      }
      if (existsSync(`${durable}.boots`)) cpSync(`${durable}.boots`, real);
    },
  };
}

underEachShell(
  (it) => {
    it('has its count on the disk before the kubelet starts: the power may go ten seconds later, each time', async (host) => {
      const { cutPower } = onADiskThatSyncs(host);
      for (let which = 1; which <= 6; which += 1) {
        await boot(host, which);
        (which < 3 ? isUntouched : isRestored)(host, `start ${which}`);
        cutPower();
      }
    });

    it('has on the disk that a boot is not lost', async (host) => {
      const { cutPower } = onADiskThatSyncs(host);
      for (let which = 1; which <= 4; which += 1) {
        await boot(host, which, 35, 650);
        cutPower();
        isUntouched(host, `start ${which}`);
      }
    });

    it('syncs once in a boot, and nothing else than its count', async (host) => {
      for (let time = 0; time < 3; time += 1) await boot(host, 1, 35, 50);
      const syncs = (host.read(join(host.root, 'log')) ?? '').split('\n').filter((call) => call.startsWith('dd '));
      assert.deepEqual(syncs, [`dd if=/dev/null of=${join(host.guard, 'boots')} conv=notrunc,fsync`]);
    });

    it('goes without dd', async (host) => {
      rmSync(join(host.paths.bin, 'dd'));
      writeFileSync(join(host.paths.bin, 'sync'), `#!/bin/sh\necho "$*" >'${host.root}/synced'\n`, { mode: 0o755 });
      await boot(host, 1);
      assert.equal(host.read(join(host.root, 'synced')), `${join(host.guard, 'boots')}\n`);
    });

    it('waits for a disk that does not answer after all the rest only, and counts what did not arrive there', async (host) => {
      writeFileSync(join(host.root, 'hang'), 'dd');
      for (let which = 1; which <= 3; which += 1) {
        rmSync(join(host.root, 'timer'), { force: true });
        host.setTime(SINCE, nameOf(which));
        let hasEnded = false;
        const run = host.run('start').finally(() => {
          hasEnded = true;
        });
        const isHung = (): string | false => {
          const written = host.read(join(host.root, 'hung'));
          return written?.endsWith('\n') === true && written;
        };
        const hung = await until('the disk to be waited for', isHung, {
          hopeless: () => (hasEnded ? 'the guard has ended' : undefined),
        });
        const ticks = isTicking(host);
        const { config } = stateOf(host);
        process.kill(Number(hung));
        assert.ok(ticks);
        assert.equal(config, which < 3 ? 'new' : 'old');
        rmSync(join(host.root, 'hung'));
        assert.equal((await run).status, 0);
      }
    });

    it('lets the kubelet start in time where the disk never answers', async (host) => {
      writeFileSync(join(host.root, 'hang'), 'dd');
      const { status, ms } = await host.run('start', { patience: 0.5 });
      assert.equal(status, 0);
      assert.ok(ms < 100_000, `took ${Math.round(ms)} ms`);
      if (existsSync(join(host.root, 'hung'))) process.kill(Number(host.read(join(host.root, 'hung'))));
    });
  },
  { about: ', counting boots', skip: skipWithoutStandIns, host: (shell) => counting(createGuardedHost(shell)) },
);
