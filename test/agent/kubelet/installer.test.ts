import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CONFIG,
  DROP_IN,
  DROP_INS,
  failsWith,
  HEAD,
  LOCAL,
  managed,
  overlay,
  payload,
  prepare,
  replace,
  STATE,
} from './support/install-bench.ts';
import { installerOn } from '../../support/agent/installer-on.ts';

describe('the way of installing', () => {
  for (const [minor, dropIns, config, method] of [
    ['1.34', true, overlay({}), 'drop-in'],
    ['1.32', true, overlay({}), 'drop-in'],
    ['1.31', true, overlay({}), 'file'],
    ['1.34', false, overlay({}), 'file'],
    ['1.34', true, replace({}), 'file'],
  ] as const) {
    const where = dropIns ? 'with' : 'without';
    it(`is ${method} for ${config.apply} on ${minor} ${where} a drop-in directory`, async () => {
      assert.equal((await prepare({ minor, dropIns }).installer.plan(config)).method, method);
    });
  }

  it('is not chosen while the version is unknown, but the way back is open', async () => {
    const { installer, disk } = prepare();
    await installer.install(await installer.plan(overlay({ maxPods: 50 })));
    const unsure = installerOn(disk, {
      dropInDirectory: DROP_INS,
      kubeletMinor: () => Promise.reject(new Error('the Node was never read')),
    });
    await assert.rejects(unsure.plan(overlay({})), /never read/);
    await unsure.install(await unsure.plan(null));
    assert.equal(disk.tree()[DROP_IN], undefined);
  });
});

describe('a drop-in', () => {
  it('is the payload byte by byte, for root only, over an untouched file; taking it back leaves nothing', async () => {
    const { disk, install, text, installer } = prepare();
    const config = overlay({ maxPods: 50, evictionHard: { 'memory.available': '1Gi' } });
    await install(config);
    assert.equal(text(DROP_IN), config.payload);
    assert.equal((await disk.stat(DROP_IN))?.mode, 0o600);
    assert.equal(text(CONFIG), LOCAL);
    const { effective } = await installer.plan(config);
    assert.deepEqual([effective['maxPods'], effective['clusterDomain']], [50, 'cluster.local']);
    await install(null);
    assert.equal(text(DROP_IN), undefined);
    assert.equal(text(CONFIG), LOCAL);
  });

  it('is not in place when its bytes or its mode are not', async () => {
    const { disk, installer, install } = prepare();
    await install(overlay({ maxPods: 50 }));
    const plan = await installer.plan(overlay({ maxPods: 50 }));
    await disk.replace(DROP_IN, Buffer.from(payload({ maxPods: 50 })), { mode: 0o644 });
    assert.equal(await installer.isInstalled(plan), false);
    await installer.install(plan);
    await disk.replace(DROP_IN, Buffer.from('{}'), { mode: 0o600 });
    assert.equal(await installer.isInstalled(plan), false);
    await disk.remove(DROP_IN);
    assert.equal(await installer.isInstalled(plan), false);
  });

  it('works with the drop-ins that the node has, in their order', async () => {
    const { disk, installer } = prepare();
    disk.plant(`${DROP_INS}/40-nodeadm.conf`, `${HEAD}maxPods: 60\nclusterDomain: node\npodPidsLimit: 1\n`);
    disk.plant(`${DROP_INS}/50-more`, { directory: true });
    disk.plant(`${DROP_INS}/50-more/a.conf`, `${HEAD}podPidsLimit: 2\n`);
    disk.plant(`${DROP_INS}/60-note.yaml`, `${HEAD}podPidsLimit: 3\n`);
    disk.plant(`${DROP_INS}/99-zz.conf`, `${HEAD}registryBurst: 7\n`);
    const local = (await installer.plan(null)).effective;
    assert.deepEqual([local['maxPods'], local['podPidsLimit'], local['registryBurst']], [60, 2, 7]);
    const { effective } = await installer.plan(overlay({ maxPods: 50, registryBurst: 8 }));
    assert.deepEqual([effective['maxPods'], effective['clusterDomain']], [50, 'node']);
    assert.equal(effective['registryBurst'], 7, 'one that comes after ours wins');
  });

  it('of another one counts by the rules of the kubelet that reads it', async () => {
    for (const [minor, maxPods, resolvConf] of [
      ['1.27', 50, '/a'],
      ['1.28', undefined, '/b'],
      ['1.30', 50, '/a'],
      ['1.34', 50, '/b'],
    ] as const) {
      const { disk, installer } = prepare({ minor, local: `${HEAD}resolvConf: /a\n` });
      disk.plant(`${DROP_INS}/99-zz.conf`, `${HEAD}resolvConf: /b\n`);
      const { effective } = await installer.plan(overlay({ maxPods: 50 }));
      assert.deepEqual([effective['maxPods'], effective['resolvConf']], [maxPods, resolvConf], minor);
    }
  });

  it('becomes a file, and the file a drop-in, when the kubelet crosses 1.32; nothing is left of the former way', async () => {
    const { disk, install, text } = prepare();
    const old = prepare({ minor: '1.31', disk });
    await old.install(overlay({ maxPods: 50 }));
    assert.deepEqual(
      [text(CONFIG), text(DROP_IN)],
      [managed({ maxPods: 50, clusterDomain: 'cluster.local' }), undefined],
    );
    await install(overlay({ maxPods: 50 }));
    assert.deepEqual([text(CONFIG), text(DROP_IN)], [LOCAL, payload({ maxPods: 50 })]);
    await old.install(overlay({ maxPods: 50 }));
    assert.deepEqual(
      [text(CONFIG), text(DROP_IN)],
      [managed({ maxPods: 50, clusterDomain: 'cluster.local' }), undefined],
    );
    await old.install(null);
    assert.deepEqual([text(CONFIG), text(DROP_IN)], [LOCAL, undefined]);
  });

  it('is refused with the reason where it would mean something else, and there is no file', async () => {
    const { installer, disk } = prepare({ local: null, minor: '1.31' });
    await assert.rejects(
      installer.plan(overlay({ maxPods: 50 })),
      failsWith('INSTALL_NO_LOCAL_CONFIG', /a kubelet 1\.31 .*--config file/),
    );
    await assert.rejects(installer.plan(replace({})), failsWith('INSTALL_NO_LOCAL_CONFIG', /KUBELET_CONFIG_FILE/));
    assert.equal(disk.changes(), 0);
  });

  it('needs no config file: a kubelet may live on flags', async () => {
    const { install, text, installer } = prepare({ local: null });
    assert.equal((await installer.plan(overlay({ maxPods: 50 }))).effective['readOnlyPort'], 10_255);
    await install(overlay({ maxPods: 50 }));
    assert.equal(text(CONFIG), undefined);
    await install(null);
    assert.equal(text(DROP_IN), undefined);
  });
});

describe('the config file', () => {
  it('gets the overlay in canonical form, keeps its mode, and gets its own bytes back', async () => {
    const local = `\uFEFF${LOCAL.replaceAll('\n', '\r\n')}# the end, without a line feed`;
    const { disk, install, text } = prepare({ dropIns: false, local });
    await disk.replace(CONFIG, Buffer.from(local), { mode: 0o640 });
    await install(overlay({ maxPods: 50 }));
    assert.equal(text(CONFIG), managed({ maxPods: 50, clusterDomain: 'cluster.local' }));
    assert.equal((await disk.stat(CONFIG))?.mode, 0o640);
    await install(overlay({ maxPods: 51 }));
    await install(null);
    assert.equal(text(CONFIG), local);
    assert.equal((await disk.stat(CONFIG))?.mode, 0o640);
  });

  it('gets bytes back that are no UTF-8', async () => {
    const { disk, installer } = prepare({ dropIns: false });
    const bytes = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(LOCAL, 'utf16le')]);
    await disk.replace(CONFIG, bytes, { mode: 0o644 });
    await installer.install(await installer.plan(replace({ maxPods: 50 })));
    assert.equal((await disk.read(CONFIG))?.[0], '#'.charCodeAt(0));
    await installer.install(await installer.plan(null));
    assert.deepEqual(await disk.read(CONFIG), bytes);
  });

  it('gets the payload alone with apply: replace', async () => {
    const { install, text } = prepare();
    await install(replace({ maxPods: 50 }));
    assert.equal(text(CONFIG), managed({ maxPods: 50 }));
    assert.equal(text(DROP_IN), undefined);
  });

  it('is local again when the way of installing changes, and nothing is left of the former way', async () => {
    const { install, text } = prepare();
    await install(replace({ maxPods: 50 }));
    await install(overlay({ maxPods: 51 }));
    assert.equal(text(CONFIG), LOCAL);
    assert.equal(text(DROP_IN), payload({ maxPods: 51 }));
    await install(replace({ maxPods: 52 }));
    assert.equal(text(DROP_IN), undefined);
    await install(null);
    assert.equal(text(CONFIG), LOCAL);
  });

  it('is refused where it is not there, or cannot be read, with the place; nothing is touched', async () => {
    const missing = prepare({ dropIns: false, local: null });
    await assert.rejects(
      missing.installer.plan(overlay({})),
      failsWith('INSTALL_NO_LOCAL_CONFIG', /KUBELET_CONFIG_FILE/),
    );
    const broken = prepare({ dropIns: false, local: `${HEAD}maxPods: [1\n` });
    await assert.rejects(
      broken.installer.plan(overlay({ maxPods: 50 })),
      failsWith('INSTALL_LOCAL_UNREADABLE', /\/var\/lib\/kubelet\/config\.yaml:\d+:\d+: error/),
    );
    assert.equal(broken.disk.changes(), 0);
    await broken.install(null);
    await broken.install(replace({ maxPods: 50 }));
    await broken.install(null);
    assert.equal(broken.text(CONFIG), `${HEAD}maxPods: [1\n`);
  });

  it('is not written from a payload that is none', async () => {
    const { installer, disk } = prepare();
    const config = { payload: '{"kind":"Pod"}', apply: 'overlay' } as const;
    await assert.rejects(installer.plan(config), failsWith('INSTALL_PAYLOAD_UNREADABLE'));
    assert.equal(disk.changes(), 0);
  });
});

describe('a node that is provisioned again while our config is in the file', () => {
  const NEW = `${HEAD}maxPods: 99\nclusterDomain: new\n`;

  it('has the new file as its local config where that is what it runs; the former one is kept beside it', async () => {
    const { disk, installer, install, text } = prepare({ dropIns: false });
    await install(overlay({ maxPods: 50 }));
    disk.plant(CONFIG, NEW);
    await installer.takeAsLocal();
    await install(overlay({ maxPods: 50 }));
    assert.equal(text(CONFIG), managed({ maxPods: 50, clusterDomain: 'new' }));
    assert.equal(text(`${STATE}/local/kubelet`), NEW);
    assert.equal(text(`${STATE}/local/kubelet.before`), LOCAL);
    await install(null);
    assert.equal(text(CONFIG), NEW);
  });

  it('keeps it, whatever an older plan says', async () => {
    const { disk, installer, install, text } = prepare();
    await install(replace({ maxPods: 50 }));
    const old = await installer.plan(overlay({ maxPods: 51 }));
    disk.plant(CONFIG, NEW);
    await installer.install(old);
    assert.equal(text(CONFIG), NEW);
    assert.equal(text(DROP_IN), payload({ maxPods: 51 }));
  });

  it('gets the last good local config instead of a file that is no config; that one is kept for people', async () => {
    const { disk, install, text } = prepare({ dropIns: false });
    await install(overlay({ maxPods: 50 }));
    disk.plant(CONFIG, '{"apiVersion": "kubel');
    await install(null);
    assert.equal(text(CONFIG), LOCAL);
    assert.equal(text(`${STATE}/local/kubelet.damaged`), '{"apiVersion": "kubel');
    disk.plant(CONFIG, '');
    await install(overlay({ maxPods: 51 }));
    assert.equal(text(CONFIG), managed({ maxPods: 51, clusterDomain: 'cluster.local' }));
    await disk.remove(CONFIG);
    await install(null);
    assert.equal(text(CONFIG), LOCAL);
  });
});
