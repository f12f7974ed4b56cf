import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aliveLine } from '#agent/guard/guard-records.ts';
import { isTicking, noteOf, restarts, underEachShell } from './support/guard-runs.ts';
import { BOOT, createGuardedHost, type GuardedHost, NEW, OLD } from './support/guarded-host.ts';
import type { Shell } from './support/shells.ts';

const NEXT = 'another-boot';
const UID = '1a2b3c4d-0000-1111-2222-333344445555';

const mountOf = (volume: string): string =>
  `tmpfs /var/lib/kubelet/pods/${UID}/volumes/${volume} tmpfs rw,relatime 0 0\n`;
const TOKEN = mountOf('kubernetes.io~projected/kube-api-access-x7k2p');

/** As the agent leaves it after a promotion in this boot. */
function createPromotedHost(shell: Shell): GuardedHost {
  const host = createGuardedHost(shell, { maxStarts: 0, silence: 900 });
  const plan = host.read(join(host.guard, 'plan')) ?? '';
  host.write('plan', plan.replace('put /', `watch ${BOOT}\nput /`));
  for (const [name, length] of [
    ['starts', 61],
    ['doubt', 47],
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

async function boot(host: GuardedHost): Promise<void> {
  rmSync(join(host.root, 'timer'), { force: true });
  host.setTime(20, NEXT);
  await host.start();
}

const isKept = (host: GuardedHost): void => {
  assert.equal(host.read(host.config), NEW);
  assert.ok(existsSync(join(host.guard, 'plan')));
  assert.equal(restarts(host), 0);
};
const isTakenBack = (host: GuardedHost): void => {
  assert.equal(host.read(host.config), OLD);
  assert.equal(existsSync(host.state), false);
  const { cause, restarted } = noteOf(host);
  assert.deepEqual([cause, restarted], ['silence', true]);
  assert.equal(host.calls().filter((call) => call.endsWith('--no-block restart kubelet.service')).length, 1);
};

const POD = '0a1b2c3d-0000-1111-2222-333344445555';
const NEXT_POD = '9a1b2c3d-0000-1111-2222-333344445555';
const tokenOf = (uid: string): string => TOKEN.replace(UID, uid);
/** In the boot of the promotion, at the age of 1000 s, with the agent's pod and another one. */
async function startAgain(host: GuardedHost, pod = POD): Promise<void> {
  host.write('alive', aliveLine(BOOT, 900, pod).toString());
  mount(host, tokenOf(POD) + TOKEN);
  host.setTime(1_000);
  await host.start();
}

underEachShell(
  (it) => {
    it('does nothing in the boot of the promotion, however often the kubelet starts and whoever is silent', async (host) => {
      mount(host, TOKEN);
      await host.start(4);
      assert.equal(isTicking(host), false, 'nobody ticks for it');
      host.write('alive', '');
      await host.tick(90_000, 91_000, 92_000);
      isKept(host);
    });

    it('takes back what no agent came up under, from the kubelet’s first pod on, and cleans up', async (host) => {
      await boot(host);
      assert.ok(isTicking(host));
      await host.tick(35, 5_000);
      isKept(host);
      mount(host, TOKEN);
      await host.tick(6_000, 6_890);
      isKept(host);
      await host.tick(6_900);
      isKept(host);
      await host.tick(6_915);
      isTakenBack(host);
      await host.tick(6_930);
      assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note']);
      assert.equal(existsSync(host.dropIn), false);
      assert.equal(isTicking(host), false);
    });

    it('waits for as long as the kubelet has no pod of the API server: of static pods nothing is mounted that it fetched', async (host) => {
      await boot(host);
      mount(host, mountOf('kubernetes.io~empty-dir/cache') + mountOf('kubernetes.io~csi/pvc-1/mount'));
      await host.tick(35, 50_000, 90_000, 90_015);
      isKept(host);
      rmSync(join(host.paths.proc, 'mounts'));
      await host.tick(95_000, 95_015);
      isKept(host);
    });

    it('takes what is mounted of Secrets for a witness, as kubelets before 1.21 mount tokens', async (host) => {
      await boot(host);
      mount(host, mountOf('kubernetes.io~secret/default-token-x7k2p'));
      await host.tick(35, 940, 955);
      isTakenBack(host);
    });

    it('counts again when the kubelet was not up in between: nothing is said of a kubelet that is not healthy', async (host) => {
      await boot(host);
      mount(host, TOKEN);
      await host.tick(35);
      for (const state of ['failed', 'activating', 'inactive'] as const) {
        host.setUnit(state);
        await host.tick(5_000, 5_015, 5_030);
        isKept(host);
      }
      host.setUnit('active');
      await host.tick(6_000, 6_890, 6_899);
      isKept(host);
      await host.tick(6_905, 6_920);
      isTakenBack(host);
    });

    it('has nothing more to do in a boot in which the agent gave a sign of life', async (host) => {
      await boot(host);
      mount(host, TOKEN);
      await host.tick(35);
      host.write('alive', `${NEXT} 40\n`);
      await host.tick(950);
      assert.equal(isTicking(host), false);
      await host.tick(965, 9_000);
      isKept(host);
    });

    it('acts on nothing that it could not write down: a disk that is read-only has no beginning of the wait', async (host) => {
      await boot(host);
      mount(host, TOKEN);
      // A directory in its place cannot be written over.
      rmSync(join(host.guard, 'starts'));
      mkdirSync(join(host.guard, 'starts'));
      await host.tick(5_000, 5_015, 50_000, 50_015);
      isKept(host);
    });

    it('goes the rest of the way at the next start where it was cut off half-way', async (host) => {
      await boot(host);
      mount(host, TOKEN);
      await host.tick(35, 940);
      for (let killAt = 1; existsSync(join(host.guard, 'plan')) && host.read(host.config) === NEW; killAt += 1) {
        host.setTime(955, NEXT);
        await host.run('tick', { killAt });
      }
      host.setTime(10, 'a-third-boot');
      await host.run('start');
      assert.equal(host.read(host.config), OLD);
      assert.ok(existsSync(join(host.guard, 'fired')));
    });
  },
  { about: ', watching over a boot', host: createPromotedHost },
);

underEachShell(
  (it) => {
    it('takes back a config under which the kubelet ended the agent’s pod, from then on, and cleans up', async (host) => {
      await startAgain(host);
      assert.ok(isTicking(host));
      await host.tick(1_015);
      mount(host, TOKEN);
      await host.tick(1_030, 1_929);
      isKept(host);
      await host.tick(1_930);
      isKept(host);
      await host.tick(1_945);
      isTakenBack(host);
      await host.tick(1_960);
      assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note']);
      assert.equal(isTicking(host), false);
    });

    it('has nothing more to do once the agent has lived on for two minutes, and looks after the next start again', async (host) => {
      await startAgain(host);
      host.write('alive', aliveLine(BOOT, 1_119, POD).toString());
      await host.tick(1_125);
      assert.ok(isTicking(host));
      host.write('alive', aliveLine(BOOT, 1_120, POD).toString());
      await host.tick(1_140);
      assert.equal(isTicking(host), false);
      mount(host, TOKEN);
      await host.tick(9_000, 9_015);
      isKept(host);
      await startAgain(host);
      mount(host, TOKEN);
      await host.tick(9_500, 10_400, 10_415);
      isTakenBack(host);
    });

    it('waits for as long as the kubelet keeps the pod: an agent that is hung, or cut off from the API server with its kubelet', async (host) => {
      await startAgain(host);
      await host.tick(1_015, 5_000, 90_000, 90_015);
      isKept(host);
      assert.ok(isTicking(host));
      mount(host, TOKEN);
      await host.tick(90_030, 90_900);
      isKept(host);
      await host.tick(90_930, 90_945);
      isTakenBack(host);
    });

    it('says nothing where no agent was there before: one that somebody deleted or uninstalled', async (host) => {
      await startAgain(host, NEXT_POD);
      assert.equal(isTicking(host), false);
      await host.tick(5_000, 5_015, 9_000, 9_015);
      isKept(host);
    });

    it('takes another pod of the agent for the agent, as after an upgrade, and then looks whether that one lives on', async (host) => {
      await startAgain(host);
      mount(host, TOKEN);
      await host.tick(1_030, 1_600);
      host.write('alive', aliveLine(BOOT, 1_610, NEXT_POD).toString());
      mount(host, TOKEN + tokenOf(NEXT_POD));
      await host.tick(1_615, 2_500, 2_515);
      isKept(host);
      host.write('alive', aliveLine(BOOT, 2_520, NEXT_POD).toString());
      await host.tick(2_530);
      assert.equal(isTicking(host), false);
    });

    it('counts on over a second start that finds the pod ended, and again where the kubelet is not up', async (host) => {
      await startAgain(host);
      mount(host, TOKEN);
      await host.tick(1_030);
      host.setTime(1_040);
      await host.run('start');
      host.setUnit('activating');
      await host.tick(1_900, 1_945);
      isKept(host);
      host.setUnit('active');
      await host.tick(1_960, 2_850);
      isKept(host);
      await host.tick(2_860, 2_875);
      isTakenBack(host);
    });

    it('says nothing of what it cannot see or write down', async (host) => {
      await startAgain(host, '');
      await startAgain(host, '../x');
      await startAgain(host, '*');
      host.write('alive', '');
      await host.run('start');
      assert.equal(isTicking(host), false);
      await startAgain(host);
      host.write('alive', '');
      mount(host, TOKEN);
      await host.tick(1_015, 1_030, 5_000, 5_015);
      isKept(host);
      rmSync(join(host.guard, 'starts'));
      mkdirSync(join(host.guard, 'starts'));
      await startAgain(host);
      mount(host, TOKEN);
      await host.tick(5_000, 5_015, 50_000, 50_015);
      isKept(host);
    });

    it('does not take mounts that it cannot look at for the end of the pod', async (host) => {
      await startAgain(host);
      rmSync(join(host.paths.proc, 'mounts'));
      await host.tick(1_015, 2_000, 2_015, 5_000);
      isKept(host);
      mount(host, TOKEN);
      await host.tick(5_015, 5_915, 5_930);
      isTakenBack(host);
    });

    it('is over with the next boot, in which any pod is a witness again', async (host) => {
      await startAgain(host);
      mount(host, '');
      await host.tick(1_030);
      await boot(host);
      await host.tick(35, 950, 965, 5_000);
      isKept(host);
      mount(host, TOKEN);
      await host.tick(5_015, 5_915, 5_930);
      isTakenBack(host);
    });
  },
  { about: ', watching over a start of the kubelet in the boot of the promotion', host: createPromotedHost },
);
