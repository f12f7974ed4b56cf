import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import type { Disk } from '#agent/ports/disk.ts';
import { createSealableDisk, createUninstall } from '#agent/execute/uninstall.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { createJournaledFiles, type FrozenFiles } from '../../support/agent/journaled-files.ts';
import { createMemoryDisk, type MemoryDisk } from '../../support/agent/memory-disk.ts';
import { createCrashInjector } from '../../support/agent/crash-injection.ts';
import { afterPowerLoss, describeFiles } from '../../support/agent/power-loss.ts';
import { installerOn } from '../../support/agent/installer-on.ts';

const STATE = '/var/lib/kubelet-gitops';
const CONFIG = '/var/lib/kubelet/config.yaml';
const DROP_INS = '/etc/kubernetes/kubelet.conf.d';
const DROP_IN = `${DROP_INS}/99-kubelet-gitops.conf`;
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const LOCAL = `# as provisioned\n${HEAD}maxPods: 42\n`;
const payload = (maxPods: number): string =>
  `${JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods }, null, 2)}\n`;

/** A node that ran configs of ours, with everything that this leaves behind; back on its local config unless told otherwise. */
async function usedNode({ dropInDirectory, back = true }: { dropInDirectory?: string; back?: boolean } = {}) {
  const disk = createMemoryDisk();
  await disk.makeDirectory('/var/lib/kubelet', 0o755);
  disk.plant(CONFIG, LOCAL);
  if (dropInDirectory !== undefined) {
    await disk.makeDirectory(dropInDirectory, 0o755);
    disk.plant(`${dropInDirectory}/10-own.conf`, `${HEAD}maxPods: 50\n`);
  }
  disk.files.sync();
  const installer = installerOn(disk, { dropInDirectory });
  for (const maxPods of [77, 78]) {
    await installer.install(await installer.plan({ payload: payload(maxPods), apply: 'overlay' }));
  }
  if (back) await installer.install(await installer.plan(null));
  for (const [path, text] of Object.entries(LEFTOVERS)) {
    await disk.makeDirectory(dirname(path), 0o700);
    disk.plant(path, text);
  }
  disk.files.sync();
  return disk;
}

const LEFTOVERS: Readonly<Record<string, string>> = {
  [`${STATE}/meta/assigned`]: '{}',
  [`${STATE}/meta/rejected`]: '{}',
  [`${STATE}/meta/kubelet-version`]: 'v1.34.2\n',
  [`${STATE}/checkpoints/uid/7/kubelet`]: payload(77),
  [`${STATE}/guard/alive`]: '',
  [`${STATE}/something-of-a-later-release`]: '',
  [`${STATE}/agent.sock/0123`]: '',
  [`${CONFIG}.kubelet-gitops-tmp-01234567`]: 'half',
  [`${CONFIG}.kubelet-gitops-restore`]: LOCAL,
};

interface Calls {
  readonly disarmed: () => number;
  readonly released: () => number;
}

function uninstallOn(
  disk: Disk,
  dropInDirectory?: string,
): Calls & { readonly run: () => Promise<void>; readonly sealed: Disk } {
  const { disk: sealed, seal } = createSealableDisk(disk);
  let disarmed = 0;
  let released = 0;
  const run = createUninstall({
    disk,
    seal,
    stateDirectory: STATE,
    configFile: CONFIG,
    dropInDirectory,
    installer: installerOn(disk, { dropInDirectory }),
    guard: { disarm: async () => void (disarmed += 1) },
    releaseLock: async () => {
      released += 1;
      await disk.remove(`${STATE}/agent.sock`);
    },
  });
  return { run, sealed, disarmed: () => disarmed, released: () => released };
}

const filesOn = (disk: MemoryDisk): Readonly<Record<string, string>> => disk.tree();
const oursOn = (disk: MemoryDisk): readonly string[] =>
  Object.keys(filesOn(disk)).filter(
    (path) => path.startsWith(`${STATE}/`) || path.includes('kubelet-gitops-') || path === DROP_IN,
  );
const textOf = async (disk: Disk, path: string): Promise<string | undefined> =>
  (await disk.read(path))?.toString('utf8');
const refused = (error: unknown): boolean => codeOf(error) === 'UNINSTALL_NOT_LOCAL';

describe('giving a node up', () => {
  it('asks the bytes themselves where the installer finds nothing amiss', async () => {
    for (const [present, isRefused] of [
      [undefined, true],
      ['{', true],
      [`${HEAD}maxPods: 43\n`, false],
      [LOCAL, false],
    ] as const) {
      // Without another one, the last of ours is still there.
      const disk = await usedNode({ back: present !== undefined });
      if (present !== undefined) disk.plant(CONFIG, present);
      const before = await textOf(disk, CONFIG);
      const plan = { files: [] } as unknown as Awaited<ReturnType<ReturnType<typeof installerOn>['plan']>>;
      const none = (): Promise<void> => Promise.resolve();
      const run = createUninstall({
        disk,
        seal: () => undefined,
        stateDirectory: STATE,
        configFile: CONFIG,
        dropInDirectory: undefined,
        installer: {
          plan: () => Promise.resolve(plan),
          isInstalled: () => Promise.resolve(true),
          forgetState: none,
          settle: none,
        },
        guard: { disarm: none },
        releaseLock: none,
      });
      if (isRefused) await assert.rejects(run(), refused, present);
      else await run();
      assert.equal(await textOf(disk, CONFIG), before);
      assert.equal((await disk.list(STATE)).includes('local'), isRefused, present);
    }
  });

  it('leaves the waiting room of another agent alone, which goes with that agent', async () => {
    const disk = await usedNode();
    const room = `${STATE}/agent.sock.1a2b3c4d`;
    await disk.makeDirectory(room, 0o700);
    disk.plant(`${room}/1a2b3c4d`, '');
    await uninstallOn(disk).run();
    assert.deepEqual(oursOn(disk), [room, `${room}/1a2b3c4d`]);
  });

  it('leaves the node’s own config and nothing of ours', async () => {
    const disk = await usedNode();
    const { run, disarmed, released } = uninstallOn(disk);
    await run();
    assert.deepEqual(oursOn(disk), []);
    assert.equal(await textOf(disk, CONFIG), LOCAL);
    assert.deepEqual([disarmed(), released()], [1, 1]);
  });

  it('leaves what the node’s owner wrote last, though our config was never tried over it', async () => {
    const disk = await usedNode({ back: false });
    const newer = LOCAL.replace('42', '43');
    disk.plant(CONFIG, newer);
    const installer = installerOn(disk);
    await installer.install(await installer.plan({ payload: payload(78), apply: 'overlay' }));
    await installer.install(await installer.plan(null));
    assert.equal(await textOf(disk, CONFIG), LOCAL);
    await uninstallOn(disk).run();
    assert.equal(await textOf(disk, CONFIG), newer);
    assert.deepEqual(oursOn(disk), []);
  });

  it('leaves the node’s own drop-ins, too', async () => {
    const disk = await usedNode({ dropInDirectory: DROP_INS });
    await uninstallOn(disk, DROP_INS).run();
    assert.deepEqual(oursOn(disk), []);
    assert.match((await textOf(disk, `${DROP_INS}/10-own.conf`)) ?? '', /maxPods: 50/);
  });

  it('is fine on a node that never had anything, and twice', async () => {
    const disk = createMemoryDisk();
    await disk.makeDirectory(dirname(CONFIG), 0o755);
    disk.plant(CONFIG, LOCAL);
    const { run } = uninstallOn(disk);
    await run();
    await run();
    assert.equal(await textOf(disk, CONFIG), LOCAL);
  });

  it('is fine on a node without a config file, where drop-ins are all there is', async () => {
    const disk = createMemoryDisk();
    await disk.makeDirectory(DROP_INS, 0o755);
    disk.plant(`${DROP_INS}/00-k3s-defaults.conf`, `${HEAD}maxPods: 50\n`);
    const installer = installerOn(disk, { dropInDirectory: DROP_INS });
    await installer.install(await installer.plan({ payload: payload(77), apply: 'overlay' }));
    await installer.install(await installer.plan(null));
    await uninstallOn(disk, DROP_INS).run();
    assert.deepEqual(oursOn(disk), []);
  });

  it('is fine where the node was provisioned again since: that is its own config now', async () => {
    const disk = await usedNode();
    disk.plant(CONFIG, `${HEAD}maxPods: 99\n`);
    await uninstallOn(disk).run();
    assert.deepEqual(oursOn(disk), []);
    assert.match((await textOf(disk, CONFIG)) ?? '', /maxPods: 99/);
  });

  const NOT_LOCAL: readonly (readonly [string, (disk: MemoryDisk) => void])[] = [
    ['our own config is still installed', (disk) => disk.plant(CONFIG, payload(78))],
    ['the config file is missing', (disk) => disk.plant(CONFIG, null)],
    ['the config file is no config', (disk) => disk.plant(CONFIG, 'half a')],
    ['the config file is empty', (disk) => disk.plant(CONFIG, '')],
  ];
  for (const [what, damage] of NOT_LOCAL) {
    it(`removes nothing while ${what}`, async () => {
      const disk = await usedNode({ back: what !== 'our own config is still installed' });
      if (what !== 'our own config is still installed') damage(disk);
      const before = filesOn(disk);
      const { run, disarmed, released } = uninstallOn(disk);
      await assert.rejects(run(), refused);
      assert.deepEqual(filesOn(disk), before);
      assert.deepEqual([disarmed(), released()], [0, 0]);
    });
  }

  it('removes nothing while a drop-in of ours is there', async () => {
    const disk = await usedNode({ dropInDirectory: DROP_INS });
    disk.plant(DROP_IN, payload(78));
    const before = filesOn(disk);
    await assert.rejects(uninstallOn(disk, DROP_INS).run(), refused);
    assert.deepEqual(filesOn(disk), before);
  });

  it('comes to its end at the next start wherever it is killed or loses power, and never loses the local config', async (t) => {
    const before = (await usedNode()).files.freeze();
    const worlds: FrozenFiles[] = [];
    const files = createJournaledFiles(before);
    const struck = createCrashInjector(() => {
      worlds.push(files.freeze());
      return 'none';
    });
    await uninstallOn(createMemoryDisk(files).forProcess(struck)).run();
    const points = worlds.length;
    assert.ok(points > 20, `${points} points`);
    // What a killed process leaves is what others see; what a power failure leaves may be less.
    const known = new Map([...worlds, ...worlds.flatMap(afterPowerLoss)].map((world) => [describeFiles(world), world]));
    t.diagnostic(`${points} points, ${known.size} states of the disk`);
    for (const world of known.values()) {
      const disk = createMemoryDisk(createJournaledFiles(world));
      assert.equal(await textOf(disk, CONFIG), LOCAL);
      const left = oursOn(disk).filter((path) => path.startsWith(STATE));
      const hasCopy = left.includes(`${STATE}/local/kubelet`);
      // The copy goes after everything else but its own record and the lock.
      if (!hasCopy)
        assert.deepEqual(
          left.filter((path) => !/\/(local|agent\.sock)(\/|$)/.test(path)),
          [],
        );
      await uninstallOn(disk).run();
      assert.deepEqual(oursOn(disk), []);
      assert.equal(await textOf(disk, CONFIG), LOCAL);
    }
  });

  it('lets nobody write afterwards: what the agent would like to remember is for nobody', async () => {
    const disk = await usedNode();
    const { run, sealed } = uninstallOn(disk);
    await sealed.replace(`${STATE}/meta/assigned`, Buffer.from('before'), { mode: 0o600 });
    assert.equal(await textOf(disk, `${STATE}/meta/assigned`), 'before');
    await run();
    await sealed.makeDirectory(`${STATE}/meta`, 0o700);
    await sealed.replace(`${STATE}/meta/assigned`, Buffer.from('after'), { mode: 0o600 });
    await sealed.remove(CONFIG);
    assert.deepEqual(oursOn(disk), []);
    assert.equal(await textOf(disk, CONFIG), LOCAL);
  });
});
