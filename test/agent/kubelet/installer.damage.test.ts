import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Bench,
  CONFIG,
  DROP_IN,
  failsWith,
  LOCAL,
  managed,
  overlay,
  prepare,
  replace,
  STATE,
} from './support/install-bench.ts';

describe('damage in the state directory', () => {
  const RECORD = `${STATE}/local/record`;
  const COPY = `${STATE}/local/kubelet`;

  for (const [what, content] of [
    ['cut short', '{"version":2,"sha'],
    ['of another version', '{"version":3}'],
    ['a directory', { directory: true }],
  ] as const) {
    it(`to the record (${what}) does not make our file the local config`, async () => {
      const { disk, install, text } = prepare({ dropIns: false });
      await install(overlay({ maxPods: 50 }));
      disk.plant(RECORD, content);
      await prepare({ dropIns: false, disk }).install(overlay({ maxPods: 51 }));
      assert.equal(text(CONFIG), managed({ maxPods: 51, clusterDomain: 'cluster.local' }));
      disk.plant(RECORD, content);
      await prepare({ dropIns: false, disk }).install(null);
      assert.equal(text(CONFIG), LOCAL);
    });
  }

  it('to the copy while our file is in place loses the local config: that is said, and nothing is touched', async () => {
    const before = prepare({ dropIns: false });
    await before.install(overlay({ maxPods: 50 }));
    before.disk.plant(COPY, 'damaged');
    const { disk, installer, install, text } = prepare({ dropIns: false, disk: before.disk });
    const changes = disk.changes();
    for (const config of [null, overlay({ maxPods: 51 })]) {
      await assert.rejects(installer.plan(config), failsWith('INSTALL_LOCAL_LOST', /lost/));
    }
    assert.equal(disk.changes(), changes);
    disk.plant(CONFIG, LOCAL);
    await install(overlay({ maxPods: 51 }));
    assert.equal(text(COPY), LOCAL, 'until the node is provisioned again');
  });

  for (const [what, harm] of Object.entries<(disk: Bench['disk']) => void>({
    'the copy': (disk) => disk.plant(COPY, 'damaged'),
    'the record': (disk) => disk.plant(RECORD, null),
    'all of it': (disk) => disk.plant(STATE, null),
  })) {
    it(`to ${what} is made good by the process that knows it`, async () => {
      const { disk, installer, install, text } = prepare({ dropIns: false });
      await install(overlay({ maxPods: 50 }));
      const whole = disk.tree();
      await installer.plan(null);
      harm(disk);
      assert.ok(await installer.isInstalled(await installer.plan(overlay({ maxPods: 50 }))), 'nothing is lost to it');
      await installer.writeBack();
      assert.deepEqual(disk.tree(), whole);
      await prepare({ dropIns: false, disk }).install(null);
      assert.equal(text(CONFIG), LOCAL);
    });
  }

  it('to all of it does no harm while the local config is in place', async () => {
    const { disk, install, text } = prepare({ dropIns: false });
    await install(overlay({ maxPods: 50 }));
    await install(null);
    disk.plant(RECORD, 'x');
    disk.plant(COPY, { directory: true });
    await install(overlay({ maxPods: 51 }));
    await install(null);
    assert.equal(text(CONFIG), LOCAL);
  });
});

describe('an installation that is cut short at any point', () => {
  const configs = {
    none: null,
    dropIn: overlay({ maxPods: 50 }),
    file: replace({ maxPods: 51 }),
    next: replace({ maxPods: 52 }),
  };
  const runs = ({ text }: Bench): string =>
    [text(CONFIG), text(DROP_IN)].map((file) => /maxPods"?: (\d+)/.exec(file ?? '')?.[1] ?? '-').join('+');
  const wanted = { none: '42+-', dropIn: '42+50', file: '51+-', next: '52+-' };

  for (const from of ['none', 'dropIn', 'file'] as const) {
    for (const to of ['none', 'dropIn', 'file', 'next'] as const) {
      it(`from ${from} to ${to} leaves the old, the new or the local config, and is brought to its end`, async () => {
        for (let changes = 0; changes < 10; changes += 1) {
          const bench = prepare();
          await bench.install(configs[from]);
          bench.disk.failAfter(changes);
          const plan = await bench.installer.plan(configs[to]);
          await bench.installer.install(plan).catch(() => undefined);
          assert.ok([wanted[from], wanted[to], wanted.none].includes(runs(bench)), `${runs(bench)} after ${changes}`);
          bench.disk.failAfter(null);
          await bench.install(configs[to]);
          assert.equal(runs(bench), wanted[to]);
          await bench.install(null);
          assert.equal(bench.text(CONFIG), LOCAL);
        }
      });
    }
  }

  it('brings back to local whatever it was cut from', async () => {
    for (let changes = 0; changes < 10; changes += 1) {
      const bench = prepare({ dropIns: false });
      bench.disk.failAfter(changes);
      await bench.installer.install(await bench.installer.plan(overlay({ maxPods: 50 }))).catch(() => undefined);
      bench.disk.failAfter(null);
      await bench.install(null);
      assert.equal(bench.text(CONFIG), LOCAL);
    }
  });
});
