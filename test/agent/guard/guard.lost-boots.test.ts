import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { aliveLine, NO_BOOTS, NO_NOTE } from '#agent/guard/guard-records.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { sampleOf } from '../../support/sample.ts';
import { until } from '../../support/until.ts';
import { BOOT, createGuardedHost, type GuardedHost } from './support/guarded-host.ts';
import {
  alive,
  noteOf,
  RESTORED,
  type Row,
  start,
  stateOf,
  tick,
  underEachShell,
  UNTOUCHED,
} from './support/guard-runs.ts';
import { type Shell, SHELLS, skipWithoutStandIns } from './support/shells.ts';

const SINCE = 20;
/** As the agent sets up what the guard writes over. */
function counting(host: GuardedHost): GuardedHost {
  host.write('boots', NO_BOOTS.toString());
  host.write('note', NO_NOTE.toString());
  return host;
}
const nameOf = (boot: number): string => `${boot}`.padStart(8, '0').concat('-2222-3333-4444-555555555555');

/** The machine boots, the kubelet starts, and it ends at these of the guard's ticks. */
async function boot(host: GuardedHost, shell: Shell, which: number, ...ages: readonly number[]): Promise<void> {
  rmSync(join(host.root, 'timer'), { force: true });
  host.setTime(SINCE, nameOf(which));
  await start(host, shell);
  for (const age of ages) {
    host.setTime(age, nameOf(which));
    if (existsSync(join(host.guard, 'guard.sh'))) await tick(host, shell);
  }
}

/** Nothing is on trial, and this boot is that of the promotion. */
function promote(host: GuardedHost): void {
  host.write('plan', (host.read(join(host.guard, 'plan')) ?? '').replace('put /', `watch ${BOOT}\nput /`));
  host.write('alive', aliveLine(BOOT, 900).toString());
}

/** Of a trial, and of what was promoted. */
const both = (when: string, story: Row['story'], plan: Row['plan'] = { silence: 720 }): readonly Row[] => [
  { when: `a trial: ${when}`, plan, story: (host, shell) => story(counting(host), shell) },
  {
    when: `what was promoted: ${when}`,
    plan: { maxStarts: 999_999_999, silence: 900 },
    async story(host, shell) {
      promote(host);
      await story(counting(host), shell);
    },
  },
];

const rows: readonly Row[] = [
  ...both(
    'is taken back where the machine dies 70 seconds after each boot, at the third start',
    async (host, shell) => {
      for (let which = 1; which <= 2; which += 1) {
        await boot(host, shell, which, 35, 50, 65, 80);
        assert.deepEqual(stateOf(host), UNTOUCHED);
      }
      await boot(host, shell, 3);
      assert.deepEqual(stateOf(host), RESTORED);
      assert.equal(existsSync(host.state), false);
      const { at: _, ...note } = noteOf(host);
      assert.deepEqual(note, { cause: 'boots', starts: 2, restarted: true });
      assert.deepEqual(
        host.calls().filter((call) => call.includes('restart')),
        [],
        'a start needs no restart',
      );
      assert.ok(existsSync(join(host.root, 'timer')), 'somebody has to clean up');
      for (let which = 4; which <= 8; which += 1) await boot(host, shell, which);
      assert.deepEqual(stateOf(host), RESTORED);
      await tick(host, shell);
      assert.equal(existsSync(join(host.guard, 'boots')), false);
    },
  ),
];

/** What is the same in every shell, if anything is. */
const more: readonly Row[] = [
  ...both('is kept where an agent was there in one of two boots, whether or not a tick saw it', async (host, shell) => {
    for (const [which, ages] of [
      [1, []],
      [2, []],
      [3, []],
      [4, [35]],
    ] as const) {
      rmSync(join(host.root, 'timer'), { force: true });
      host.setTime(SINCE, nameOf(which));
      await start(host, shell);
      if (which % 2 === 0) alive(host, SINCE + 1, nameOf(which));
      for (const age of ages) {
        host.setTime(age, nameOf(which));
        await tick(host, shell);
      }
    }
    await boot(host, shell, 5);
    assert.deepEqual(stateOf(host), UNTOUCHED);
    await boot(host, shell, 6);
    assert.deepEqual(stateOf(host), UNTOUCHED);
    await boot(host, shell, 7);
    assert.deepEqual(stateOf(host), RESTORED);
  }),
  ...both('is kept where a sign of life was not on the disk yet, once a tick has seen it', async (host, shell) => {
    for (let which = 1; which <= 4; which += 1) {
      rmSync(join(host.root, 'timer'), { force: true });
      host.setTime(SINCE, nameOf(which));
      await start(host, shell);
      alive(host, 30, nameOf(which));
      host.setTime(35, nameOf(which));
      await tick(host, shell);
      alive(host, 900);
    }
    assert.deepEqual(stateOf(host), UNTOUCHED);
  }),
  ...both('is taken back although the agent was there before the kubelet started', async (host, shell) => {
    alive(host, SINCE, nameOf(1));
    for (let which = 1; which <= 3; which += 1) await boot(host, shell, which, 35);
    assert.deepEqual(stateOf(host), RESTORED);
  }),
  ...[
    { lasts: 599, state: RESTORED },
    { lasts: 600, state: UNTOUCHED },
  ].flatMap(({ lasts, state }) =>
    both(
      `${state === UNTOUCHED ? 'is kept' : 'is taken back'} where boots without an agent last ${lasts} seconds`,
      async (host, shell) => {
        for (let which = 1; which <= 3; which += 1) await boot(host, shell, which, 35, SINCE + lasts);
        assert.deepEqual(stateOf(host), state);
      },
    ),
  ),
  ...both('is kept where a boot that lasted comes between two that were lost', async (host, shell) => {
    await boot(host, shell, 1, 35);
    await boot(host, shell, 2, 35, 650);
    await boot(host, shell, 3, 35);
    await boot(host, shell, 4, 35);
    assert.deepEqual(stateOf(host), UNTOUCHED);
    await boot(host, shell, 5);
    assert.deepEqual(stateOf(host), RESTORED);
  }),
  ...both(
    'counts a boot once, from the kubelet’s first start in it',
    async (host, shell) => {
      await boot(host, shell, 1, 35);
      for (const age of [SINCE, 400, 610]) {
        host.setTime(age, nameOf(2));
        await start(host, shell);
      }
      host.setTime(SINCE + 600, nameOf(2));
      await tick(host, shell);
      await boot(host, shell, 3);
      assert.deepEqual(stateOf(host), UNTOUCHED);
    },
    { maxStarts: 9, silence: 720 },
  ),
  ...both('counts without the file, which somebody took away', async (host, shell) => {
    rmSync(join(host.guard, 'boots'));
    for (let which = 1; which <= 3; which += 1) await boot(host, shell, which, 35);
    assert.deepEqual(stateOf(host), RESTORED);
  }),
  ...both(
    'is kept where the count cannot be written, or the boot cannot be read',
    async (host, shell) => {
      for (let time = 0; time < 3; time += 1) {
        host.setTime(SINCE, nameOf(1));
        await start(host, shell);
        rmSync(join(host.paths.proc, 'sys/kernel/random/boot_id'));
        await start(host, shell);
      }
      assert.deepEqual(stateOf(host), UNTOUCHED);
      rmSync(join(host.guard, 'boots'));
      mkdirSync(join(host.guard, 'boots'));
      for (let which = 1; which <= 4; which += 1) await boot(host, shell, which, 35);
      assert.deepEqual(stateOf(host), UNTOUCHED);
    },
    { maxStarts: 9 },
  ),
  ...both('leaves out boots whose age cannot be read', async (host, shell) => {
    const unread = async (which: number): Promise<void> => {
      host.setTime(SINCE, nameOf(which));
      rmSync(join(host.paths.proc, 'uptime'));
      await start(host, shell);
      await tick(host, shell);
    };
    await unread(1);
    await unread(2);
    await unread(3);
    assert.deepEqual(stateOf(host), UNTOUCHED);
    await boot(host, shell, 4);
    await unread(5);
    await boot(host, shell, 6);
    assert.deepEqual(stateOf(host), UNTOUCHED);
    await boot(host, shell, 7);
    assert.deepEqual(stateOf(host), RESTORED);
  }),
  {
    when: 'counts nothing in the boot of a promotion',
    async story(host, shell) {
      promote(host);
      counting(host);
      for (let time = 0; time < 4; time += 1) await start(host, shell);
      assert.deepEqual(host.read(join(host.guard, 'boots')), NO_BOOTS.toString());
      await boot(host, shell, 1);
      await boot(host, shell, 2);
      assert.deepEqual(stateOf(host), UNTOUCHED);
    },
  },
  {
    when: 'counts nothing by a line of which only a part was written',
    plan: { maxStarts: 999, silence: 720 },
    async story(host, shell) {
      const lineOf = (which: number, lost: number): string =>
        Array(2)
          .fill(`${nameOf(which)} ${String(lost).padStart(10)} ${String(SINCE).padStart(12)}`)
          .join(' ');
      const [before, after] = [lineOf(1, 0), lineOf(2, 1)];
      assert.equal(after.length, NO_BOOTS.length - 1, 'every line takes the place of the whole');
      const lastChange = after.lastIndexOf('1 ', after.length - 1);
      const arrive = async (length: number): Promise<void> => {
        host.write('boots', `${after.slice(0, length)}${before.slice(length)}\n`);
        await boot(host, shell, 3);
      };
      for (const length of sampleOf(Array.from(Array(lastChange + 1).keys()), 15)) {
        await arrive(length);
        assert.deepEqual(stateOf(host), UNTOUCHED, `after ${length} of ${after.length} bytes`);
      }
      await arrive(lastChange + 1);
      assert.deepEqual(stateOf(host), RESTORED);
    },
  },
];

underEachShell(rows);
underEachShell(more, sampleOf(SHELLS, SHELLS.length));

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

for (const shell of SHELLS) {
  describeOrSkip(`the guard under ${shell.name}, counting boots`, { skip: skipWithoutStandIns(shell) }, () => {
    const on = async (story: (host: GuardedHost) => Promise<void>): Promise<void> => {
      const host = counting(createGuardedHost());
      try {
        await story(host);
      } finally {
        host.remove();
      }
    };

    it('has its count on the disk before the kubelet starts: the power may go ten seconds later, each time', () =>
      on(async (host) => {
        const { cutPower } = onADiskThatSyncs(host);
        for (let which = 1; which <= 6; which += 1) {
          await boot(host, shell, which);
          assert.deepEqual(stateOf(host), which < 3 ? UNTOUCHED : RESTORED, `start ${which}`);
          cutPower();
        }
      }));

    it('has on the disk that a boot is not lost', () =>
      on(async (host) => {
        const { cutPower } = onADiskThatSyncs(host);
        for (let which = 1; which <= 4; which += 1) {
          await boot(host, shell, which, 35, 650);
          cutPower();
          assert.deepEqual(stateOf(host), UNTOUCHED, `start ${which}`);
        }
      }));

    it('syncs once in a boot, and nothing else than its count', () =>
      on(async (host) => {
        for (let time = 0; time < 3; time += 1) await boot(host, shell, 1, 35, 50);
        const syncs = (host.read(join(host.root, 'log')) ?? '').split('\n').filter((call) => call.startsWith('dd '));
        assert.deepEqual(syncs, [`dd if=/dev/null of=${join(host.guard, 'boots')} conv=notrunc,fsync`]);
      }));

    it('goes without dd', () =>
      on(async (host) => {
        rmSync(join(host.paths.bin, 'dd'));
        writeFileSync(join(host.paths.bin, 'sync'), `#!/bin/sh\necho "$*" >'${host.root}/synced'\n`, { mode: 0o755 });
        await boot(host, shell, 1);
        assert.equal(host.read(join(host.root, 'synced')), `${join(host.guard, 'boots')}\n`);
      }));

    it('waits for a disk that does not answer after all the rest only, and counts what did not arrive there', () =>
      on(async (host) => {
        writeFileSync(join(host.root, 'hang'), 'dd');
        for (let which = 1; which <= 3; which += 1) {
          rmSync(join(host.root, 'timer'), { force: true });
          host.setTime(SINCE, nameOf(which));
          let hasEnded = false;
          const run = host.run(shell, 'start').finally(() => {
            hasEnded = true;
          });
          const isHung = (): string | false => {
            const written = host.read(join(host.root, 'hung'));
            return written?.endsWith('\n') === true && written;
          };
          const hung = await until('the disk to be waited for', isHung, {
            hopeless: () => (hasEnded ? 'the guard has ended' : undefined),
          });
          const isTicking = existsSync(join(host.root, 'timer'));
          const now = stateOf(host);
          process.kill(Number(hung));
          assert.ok(isTicking);
          assert.deepEqual(now, which < 3 ? UNTOUCHED : RESTORED);
          rmSync(join(host.root, 'hung'));
          assert.equal((await run).status, 0);
        }
      }));

    it('lets the kubelet start in time where the disk never answers', () =>
      on(async (host) => {
        writeFileSync(join(host.root, 'hang'), 'dd');
        const { status, ms } = await host.run(shell, 'start', { patience: 0.5 });
        assert.equal(status, 0);
        assert.ok(ms < 100_000, `took ${Math.round(ms)} ms`);
        if (existsSync(join(host.root, 'hung'))) process.kill(Number(host.read(join(host.root, 'hung'))));
      }));
  });
}
