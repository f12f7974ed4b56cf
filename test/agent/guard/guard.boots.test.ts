import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { aliveLine, readGuardNote } from '#agent/guard/guard-records.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { BOOT, createGuardedHost, type GuardedHost, NEW, OLD } from './support/guarded-host.ts';
import { type Shell, SHELLS } from './support/shells.ts';

const NEXT = 'another-boot';
const UID = '1a2b3c4d-0000-1111-2222-333344445555';

const mountOf = (volume: string): string =>
  `tmpfs /var/lib/kubelet/pods/${UID}/volumes/${volume} tmpfs rw,relatime 0 0\n`;
const TOKEN = mountOf('kubernetes.io~projected/kube-api-access-x7k2p');

/** As the agent leaves it after a promotion in this boot. */
function createPromotedHost(): GuardedHost {
  const host = createGuardedHost({ maxStarts: 0, silence: 900 });
  const plan = host.read(join(host.guard, 'plan')) ?? '';
  host.write('plan', plan.replace('put /', `watch ${BOOT}\nput /`));
  for (const [name, length] of [
    ['starts', 61],
    ['doubt', 36],
    ['note', 45],
  ] as const) {
    host.write(name, `${'-'.padEnd(length)}\n`);
  }
  host.write('alive', aliveLine(BOOT, 900).toString());
  host.setUnit('active');
  mount(host, '');
  return host;
}

const mount = (host: GuardedHost, more: string): void =>
  writeFileSync(join(host.paths.proc, 'mounts'), `/dev/sda1 / ext4 rw 0 0\n${more}tmpfs /run tmpfs rw 0 0\n`);

/** Ticks at these ages of the machine, in the boot after. */
async function ticks(host: GuardedHost, shell: Shell, ...ages: readonly number[]): Promise<void> {
  for (const age of ages) {
    host.setTime(age, NEXT);
    assert.equal((await host.run(shell, 'tick')).status, 0);
  }
}
async function boot(host: GuardedHost, shell: Shell): Promise<void> {
  rmSync(join(host.root, 'timer'), { force: true });
  host.setTime(20, NEXT);
  assert.equal((await host.run(shell, 'start')).status, 0);
}

const isKept = (host: GuardedHost): void => {
  assert.equal(host.read(host.config), NEW);
  assert.ok(existsSync(join(host.guard, 'plan')));
  assert.deepEqual(
    host.calls().filter((call) => call.includes('restart')),
    [],
  );
};
const isTakenBack = (host: GuardedHost): void => {
  assert.equal(host.read(host.config), OLD);
  assert.equal(existsSync(host.state), false);
  const { cause, restarted } = readGuardNote(Buffer.from(host.read(join(host.guard, 'note')) ?? ''));
  assert.deepEqual([cause, restarted], ['silence', true]);
  assert.equal(host.calls().filter((call) => call.endsWith('--no-block restart kubelet.service')).length, 1);
};

const rows: readonly (readonly [when: string, story: (host: GuardedHost, shell: Shell) => Promise<void>])[] = [
  [
    'does nothing in the boot of the promotion, however often the kubelet starts and whoever is silent',
    async (host, shell) => {
      mount(host, TOKEN);
      for (let times = 0; times < 4; times += 1) await host.run(shell, 'start');
      assert.equal(existsSync(join(host.root, 'timer')), false, 'nobody ticks for it');
      host.write('alive', '');
      for (const age of [90_000, 91_000, 92_000]) {
        host.setTime(age);
        await host.run(shell, 'tick');
      }
      isKept(host);
    },
  ],
  [
    'takes back what no agent came up under, from the kubelet’s first pod on, and cleans up',
    async (host, shell) => {
      await boot(host, shell);
      assert.ok(existsSync(join(host.root, 'timer')));
      await ticks(host, shell, 35, 5_000);
      isKept(host);
      mount(host, TOKEN);
      await ticks(host, shell, 6_000, 6_890);
      isKept(host);
      await ticks(host, shell, 6_900);
      isKept(host);
      await ticks(host, shell, 6_915);
      isTakenBack(host);
      await ticks(host, shell, 6_930);
      assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note']);
      assert.equal(existsSync(host.dropIn), false);
      assert.equal(existsSync(join(host.root, 'timer')), false);
    },
  ],
  [
    'waits for as long as the kubelet has no pod of the API server: of static pods nothing is mounted that it fetched',
    async (host, shell) => {
      await boot(host, shell);
      mount(host, mountOf('kubernetes.io~empty-dir/cache') + mountOf('kubernetes.io~csi/pvc-1/mount'));
      await ticks(host, shell, 35, 50_000, 90_000, 90_015);
      isKept(host);
      rmSync(join(host.paths.proc, 'mounts'));
      await ticks(host, shell, 95_000, 95_015);
      isKept(host);
    },
  ],
  [
    'takes what is mounted of Secrets for a witness, as kubelets before 1.21 mount tokens',
    async (host, shell) => {
      await boot(host, shell);
      mount(host, mountOf('kubernetes.io~secret/default-token-x7k2p'));
      await ticks(host, shell, 35, 940, 955);
      isTakenBack(host);
    },
  ],
  [
    'counts again when the kubelet was not up in between: nothing is said of a kubelet that is not healthy',
    async (host, shell) => {
      await boot(host, shell);
      mount(host, TOKEN);
      await ticks(host, shell, 35);
      for (const state of ['failed', 'activating', 'inactive'] as const) {
        host.setUnit(state);
        await ticks(host, shell, 5_000, 5_015, 5_030);
        isKept(host);
      }
      host.setUnit('active');
      await ticks(host, shell, 6_000, 6_890, 6_899);
      isKept(host);
      await ticks(host, shell, 6_905, 6_920);
      isTakenBack(host);
    },
  ],
  [
    'has nothing more to do in a boot in which the agent gave a sign of life',
    async (host, shell) => {
      await boot(host, shell);
      mount(host, TOKEN);
      await ticks(host, shell, 35);
      host.write('alive', `${NEXT} 40\n`);
      await ticks(host, shell, 950);
      assert.equal(existsSync(join(host.root, 'timer')), false);
      await ticks(host, shell, 965, 9_000);
      isKept(host);
    },
  ],
  [
    'acts on nothing that it could not write down: a disk that is read-only has no beginning of the wait',
    async (host, shell) => {
      await boot(host, shell);
      mount(host, TOKEN);
      // A directory in its place cannot be written over.
      rmSync(join(host.guard, 'starts'));
      mkdirSync(join(host.guard, 'starts'));
      await ticks(host, shell, 5_000, 5_015, 50_000, 50_015);
      isKept(host);
    },
  ],
  [
    'goes the rest of the way at the next start where it was cut off half-way',
    async (host, shell) => {
      await boot(host, shell);
      mount(host, TOKEN);
      await ticks(host, shell, 35, 940);
      for (let killAt = 1; existsSync(join(host.guard, 'plan')) && host.read(host.config) === NEW; killAt += 1) {
        host.setTime(955, NEXT);
        await host.run(shell, 'tick', { killAt });
      }
      host.setTime(10, 'a-third-boot');
      await host.run(shell, 'start');
      assert.equal(host.read(host.config), OLD);
      assert.ok(existsSync(join(host.guard, 'fired')));
    },
  ],
];

const POD = '0a1b2c3d-0000-1111-2222-333344445555';
const NEXT_POD = '9a1b2c3d-0000-1111-2222-333344445555';
const tokenOf = (uid: string): string => TOKEN.replace(UID, uid);
/** In the boot of the promotion, at the age of 1000 s, with the agent's pod and another one. */
async function startAgain(host: GuardedHost, shell: Shell, pod = POD): Promise<void> {
  host.write('alive', aliveLine(BOOT, 900, pod).toString());
  mount(host, tokenOf(POD) + TOKEN);
  host.setTime(1_000);
  assert.equal((await host.run(shell, 'start')).status, 0);
}
async function ticksNow(host: GuardedHost, shell: Shell, ...ages: readonly number[]): Promise<void> {
  for (const age of ages) {
    host.setTime(age);
    assert.equal((await host.run(shell, 'tick')).status, 0);
  }
}
const isTicking = (host: GuardedHost): boolean => existsSync(join(host.root, 'timer'));

/** Starts of the kubelet in the boot of the promotion. */
const startRows: typeof rows = [
  [
    'takes back a config under which the kubelet ended the agent’s pod, from then on, and cleans up',
    async (host, shell) => {
      await startAgain(host, shell);
      assert.ok(isTicking(host));
      await ticksNow(host, shell, 1_015);
      mount(host, TOKEN);
      await ticksNow(host, shell, 1_030, 1_929);
      isKept(host);
      await ticksNow(host, shell, 1_930);
      isKept(host);
      await ticksNow(host, shell, 1_945);
      isTakenBack(host);
      await ticksNow(host, shell, 1_960);
      assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note']);
      assert.equal(isTicking(host), false);
    },
  ],
  [
    'has nothing more to do once the agent has lived on for two minutes, and looks after the next start again',
    async (host, shell) => {
      await startAgain(host, shell);
      host.write('alive', aliveLine(BOOT, 1_119, POD).toString());
      await ticksNow(host, shell, 1_125);
      assert.ok(isTicking(host));
      host.write('alive', aliveLine(BOOT, 1_120, POD).toString());
      await ticksNow(host, shell, 1_140);
      assert.equal(isTicking(host), false);
      mount(host, TOKEN);
      await ticksNow(host, shell, 9_000, 9_015);
      isKept(host);
      await startAgain(host, shell);
      mount(host, TOKEN);
      await ticksNow(host, shell, 9_500, 10_400, 10_415);
      isTakenBack(host);
    },
  ],
  [
    'waits for as long as the kubelet keeps the pod: an agent that is hung, or cut off from the API server with its kubelet',
    async (host, shell) => {
      await startAgain(host, shell);
      await ticksNow(host, shell, 1_015, 5_000, 90_000, 90_015);
      isKept(host);
      assert.ok(isTicking(host));
      mount(host, TOKEN);
      await ticksNow(host, shell, 90_030, 90_900);
      isKept(host);
      await ticksNow(host, shell, 90_930, 90_945);
      isTakenBack(host);
    },
  ],
  [
    'says nothing where no agent was there before: one that somebody deleted or uninstalled',
    async (host, shell) => {
      await startAgain(host, shell, NEXT_POD);
      assert.equal(isTicking(host), false);
      await ticksNow(host, shell, 5_000, 5_015, 9_000, 9_015);
      isKept(host);
    },
  ],
  [
    'takes another pod of the agent for the agent, as after an upgrade, and then looks whether that one lives on',
    async (host, shell) => {
      await startAgain(host, shell);
      mount(host, TOKEN);
      await ticksNow(host, shell, 1_030, 1_600);
      host.write('alive', aliveLine(BOOT, 1_610, NEXT_POD).toString());
      mount(host, TOKEN + tokenOf(NEXT_POD));
      await ticksNow(host, shell, 1_615, 2_500, 2_515);
      isKept(host);
      host.write('alive', aliveLine(BOOT, 2_520, NEXT_POD).toString());
      await ticksNow(host, shell, 2_530);
      assert.equal(isTicking(host), false);
    },
  ],
  [
    'counts on over a second start that finds the pod ended, and again where the kubelet is not up',
    async (host, shell) => {
      await startAgain(host, shell);
      mount(host, TOKEN);
      await ticksNow(host, shell, 1_030);
      host.setTime(1_040);
      await host.run(shell, 'start');
      host.setUnit('activating');
      await ticksNow(host, shell, 1_900, 1_945);
      isKept(host);
      host.setUnit('active');
      await ticksNow(host, shell, 1_960, 2_850);
      isKept(host);
      await ticksNow(host, shell, 2_860, 2_875);
      isTakenBack(host);
    },
  ],
  [
    'says nothing of what it cannot see or write down',
    async (host, shell) => {
      await startAgain(host, shell, '');
      await startAgain(host, shell, '../x');
      await startAgain(host, shell, '*');
      host.write('alive', '');
      await host.run(shell, 'start');
      assert.equal(isTicking(host), false);
      await startAgain(host, shell);
      host.write('alive', '');
      mount(host, TOKEN);
      await ticksNow(host, shell, 1_015, 1_030, 5_000, 5_015);
      isKept(host);
      rmSync(join(host.guard, 'starts'));
      mkdirSync(join(host.guard, 'starts'));
      await startAgain(host, shell);
      mount(host, TOKEN);
      await ticksNow(host, shell, 5_000, 5_015, 50_000, 50_015);
      isKept(host);
    },
  ],
  [
    'does not take mounts that it cannot look at for the end of the pod',
    async (host, shell) => {
      await startAgain(host, shell);
      rmSync(join(host.paths.proc, 'mounts'));
      await ticksNow(host, shell, 1_015, 2_000, 2_015, 5_000);
      isKept(host);
      mount(host, TOKEN);
      await ticksNow(host, shell, 5_015, 5_915, 5_930);
      isTakenBack(host);
    },
  ],
  [
    'is over with the next boot, in which any pod is a witness again',
    async (host, shell) => {
      await startAgain(host, shell);
      mount(host, '');
      await ticksNow(host, shell, 1_030);
      await boot(host, shell);
      await ticks(host, shell, 35, 950, 965, 5_000);
      isKept(host);
      mount(host, TOKEN);
      await ticks(host, shell, 5_015, 5_915, 5_930);
      isTakenBack(host);
    },
  ],
];

for (const shell of SHELLS) {
  describeOrSkip(`the guard's watch over a start of the kubelet under ${shell.name}`, { skip: shell.skip }, () => {
    for (const [when, story] of startRows) {
      it(when, async () => {
        const host = createPromotedHost();
        try {
          await story(host, shell);
        } finally {
          host.remove();
        }
      });
    }
  });
  describeOrSkip(`the guard's watch over a boot under ${shell.name}`, { skip: shell.skip }, () => {
    for (const [when, story] of rows) {
      it(when, async () => {
        const host = createPromotedHost();
        try {
          await story(host, shell);
        } finally {
          host.remove();
        }
      });
    }
  });
}
