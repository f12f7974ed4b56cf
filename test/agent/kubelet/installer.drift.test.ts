import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { DROP_IN_NAME } from '#agent/kubelet/install-drop-ins.ts';
import { renderManaged } from '#agent/kubelet/install-marker.ts';
import { sha256 } from '#agent/host/local-record.ts';
import type { Installable, Installer } from '#agent/ports/installer.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { createMemoryDisk, type MemoryDisk } from '../../support/agent/memory-disk.ts';
import { installerOn } from '../../support/agent/installer-on.ts';

const ROOT = '/var/lib/kubelet';
const CONFIG = `${ROOT}/config.yaml`;
const DROP_INS = '/etc/kubernetes/kubelet.conf.d';
const DROP_IN = `${DROP_INS}/${DROP_IN_NAME}`;
const STATE = '/var/lib/kubelet-gitops';
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const LOCAL = `${HEAD}maxPods: 42\nclusterDomain: cluster.local\n`;
const REWRITTEN = `${HEAD}maxPods: 42\nclusterDomain: cluster.local\npodPidsLimit: 2048\n`;
const OURS = renderManaged({ maxPods: 50, clusterDomain: 'cluster.local' }).toString('utf8');

const overlay: Installable = { payload: canonicalize({ maxPods: 50 }), apply: 'overlay' };
const replace: Installable = { payload: canonicalize({ maxPods: 50 }), apply: 'replace' };

interface Bench {
  readonly disk: MemoryDisk;
  readonly installer: Installer;
  /** Of a process that comes later, and knows what is on disk. */
  another(): Installer;
  /** Plans again and installs. */
  put(config: Installable | null): Promise<void>;
  isInstalled(config: Installable | null): Promise<boolean>;
  isNew(config: Installable | null): Promise<boolean>;
  text(path: string): string | undefined;
}

async function prepare(method: 'file' | 'drop-in', config: Installable | null = overlay): Promise<Bench> {
  const disk = createMemoryDisk();
  for (const path of ['/etc', '/etc/kubernetes', DROP_INS, '/var', '/var/lib', ROOT])
    disk.plant(path, { directory: true });
  disk.plant(CONFIG, LOCAL);
  const another = (): Installer =>
    installerOn(disk, { dropInDirectory: method === 'file' ? undefined : DROP_INS, agentUid: 0 });
  const installer = another();
  const bench: Bench = {
    disk,
    installer,
    another,
    put: async (wanted) => installer.install(await installer.plan(wanted)),
    isInstalled: async (wanted) => installer.isInstalled(await installer.plan(wanted)),
    isNew: async (wanted) => (await installer.plan(wanted)).base?.newer?.changes ?? false,
    text: (path) => disk.tree()[path],
  };
  if (config !== null) await bench.put(config);
  return bench;
}

type Harm = (disk: MemoryDisk, path: string) => Promise<void> | void;
const HARM: Readonly<Record<string, Harm>> = {
  'that has another mode': async (disk, path) =>
    disk.replace(path, (await disk.read(path)) ?? Buffer.alloc(0), { mode: 0o666 }),
  'that is somebody else’s': async (disk, path) => {
    const { mode = 0 } = (await disk.stat(path)) ?? {};
    await disk.replace(path, (await disk.read(path)) ?? Buffer.alloc(0), { mode, uid: 1000, gid: 0 });
  },
  'that was deleted': (disk, path) => disk.remove(path),
  'that was emptied': (disk, path) => disk.plant(path, ''),
  'that is garbage': (disk, path) => disk.plant(path, '\0\0\0\0'),
  'that was cut short': async (disk, path) =>
    disk.plant(path, ((await disk.read(path)) ?? Buffer.alloc(0)).subarray(0, -20).toString('utf8')),
};

describe('a managed file', () => {
  for (const [what, harm] of Object.entries(HARM)) {
    for (const [method, path] of [
      ['file', CONFIG],
      ['drop-in', DROP_IN],
    ] as const) {
      it(`${what} (${method}) is not as it was installed, and is after it was installed again`, async () => {
        const { disk, installer, put, isInstalled, isNew, text } = await prepare(method);
        const before = text(path);
        assert.equal(await installer.firstAmiss(await installer.plan(overlay)), undefined);
        await harm(disk, path);
        assert.equal(await installer.firstAmiss(await installer.plan(overlay)), path);
        assert.equal(await isInstalled(overlay), false);
        assert.equal(await isNew(overlay), false);
        await put(overlay);
        assert.equal(text(path), before);
        assert.ok(await isInstalled(overlay));
        await put(null);
        assert.equal(text(CONFIG), LOCAL);
      });
    }
  }

  for (const method of ['file', 'drop-in'] as const) {
    it(`that says something else (${method}) is told of with the fields`, async () => {
      const { disk, installer } = await prepare(method);
      const path = method === 'file' ? CONFIG : DROP_IN;
      const differences = async () => installer.differences(await installer.plan(overlay));
      assert.deepEqual(await differences(), []);
      const text = (await disk.read(path))?.toString('utf8') ?? '';
      const edited: Readonly<Record<string, unknown>> = { ...(parse(text) as object), maxPods: 33, maxOpenFiles: 5 };
      disk.plant(path, JSON.stringify(edited));
      assert.deepEqual(await differences(), ['maxPods=33 instead of 50', 'maxOpenFiles, which was not set']);
      disk.plant(path, '\0\0');
      assert.deepEqual(await differences(), []);
    });
  }

  it('in whose place a directory is, is told of and left alone', async () => {
    const { disk, installer } = await prepare('file');
    disk.plant(CONFIG, null);
    disk.plant(CONFIG, { directory: true });
    await assert.rejects(installer.plan(overlay), (error) => codeOf(error) === 'DISK_READ');
  });
});

describe('the config file, edited by hand', () => {
  const edits: Readonly<Record<string, string>> = {
    'a value': OURS.replace('50', '60'),
    'the form': OURS.replace(/\{[^]*/, `${HEAD}maxPods: 60\n`),
    'the line ends': OURS.replaceAll('\n', '\r\n'),
    'a comment': `# tried something\n${OURS}`,
    'more than it can take': OURS.replace('{', '{{'),
  };
  for (const [what, edited] of Object.entries(edits)) {
    it(`(${what}) is neither installed nor the node's own; it is put back, and the edit is kept for people`, async () => {
      const { disk, put, isInstalled, isNew, text } = await prepare('file');
      disk.plant(CONFIG, edited);
      assert.equal(await isInstalled(overlay), false);
      assert.equal(await isInstalled(null), false);
      assert.equal(await isNew(overlay), false);
      await put(overlay);
      assert.equal(text(CONFIG), OURS);
      assert.equal(text(`${STATE}/local/kubelet`), LOCAL);
      assert.equal(text(`${STATE}/local/kubelet.edited`), edited);
      disk.plant(CONFIG, edited);
      await put(null);
      assert.equal(text(CONFIG), LOCAL);
    });
  }

  it('is put back also where the record is lost, and with apply: replace', async () => {
    const { disk, put, text } = await prepare('file', replace);
    disk.plant(CONFIG, edits['a value'] ?? '');
    disk.plant(`${STATE}/local/record`, 'x');
    await put(replace);
    assert.equal(text(CONFIG), renderManaged({ maxPods: 50 }).toString('utf8'));
    await put(null);
    assert.equal(text(CONFIG), LOCAL);
  });

  it('is no local config where there is none any more: it says itself that there was one', async () => {
    const { disk, another } = await prepare('file');
    disk.plant(`${STATE}/local`, null);
    const installer = another();
    for (const found of [OURS, edits['a value'] ?? '']) {
      disk.plant(CONFIG, found);
      for (const config of [overlay, null]) {
        await assert.rejects(installer.plan(config), (error) => codeOf(error) === 'INSTALL_LOCAL_LOST');
      }
    }
    disk.plant(CONFIG, LOCAL);
    assert.ok(await installer.isInstalled(await installer.plan(null)));
  });

  it('is the node’s own where our drop-in is beside it', async () => {
    const { disk, isInstalled, text } = await prepare('drop-in');
    disk.plant(CONFIG, REWRITTEN);
    assert.ok(await isInstalled(overlay));
    assert.equal(text(CONFIG), REWRITTEN);
  });
});

describe('a config file of ours without the mark', () => {
  it('is known by its record, and gets the mark when it is written next', async () => {
    const { disk, put, isNew, text } = await prepare('file');
    const unmarked = canonicalize({ maxPods: 50, clusterDomain: 'cluster.local' });
    disk.plant(CONFIG, unmarked);
    const record = JSON.parse(text(`${STATE}/local/record`) ?? '') as { readonly ours: readonly string[] };
    disk.plant(`${STATE}/local/record`, JSON.stringify({ ...record, ours: [sha256(Buffer.from(unmarked))] }));
    assert.equal(await isNew(overlay), false);
    await put(overlay);
    assert.deepEqual([text(CONFIG), text(`${STATE}/local/kubelet`)], [OURS, LOCAL]);
  });
});

describe('a node that is provisioned again', () => {
  it('has another base under what is laid over it, once', async () => {
    const { disk, installer, put, isInstalled, isNew, text } = await prepare('file');
    assert.equal(await isNew(overlay), false);
    disk.plant(CONFIG, REWRITTEN);
    assert.deepEqual([await isInstalled(overlay), await isNew(overlay)], [false, true]);
    assert.ok(await isInstalled(null));
    await put(overlay);
    assert.equal(text(CONFIG), OURS, 'what was proven is back');
    assert.deepEqual([await isInstalled(overlay), await isNew(overlay)], [true, true]);
    const over: Installable = { ...overlay, base: sha256(Buffer.from(REWRITTEN)) };
    assert.equal(await isInstalled(over), false);
    await put(over);
    assert.notEqual(text(CONFIG), OURS);
    assert.deepEqual([await isInstalled(over), await isNew(over)], [true, false]);
    await put(overlay);
    assert.equal(text(CONFIG), OURS, 'the way back leads to the one before');
    await put(over);
    await installer.settle({ config: over, needed: [], refused: null });
    assert.deepEqual([text(`${STATE}/local/kubelet`), text(`${STATE}/local/kubelet.before`)], [REWRITTEN, LOCAL]);
    assert.equal(text(`${STATE}/local/bases/${sha256(Buffer.from(LOCAL))}`), undefined);
    await put(null);
    assert.equal(text(CONFIG), REWRITTEN);
  });

  it('gets its newest own config back with the way to local, for the kubelet’s next start', async () => {
    const { disk, installer, put, text } = await prepare('file');
    disk.plant(CONFIG, REWRITTEN);
    await put(overlay);
    await put(null);
    assert.equal(text(CONFIG), LOCAL, 'with which the kubelet is known to start');
    await installer.settle({ config: null, needed: [], refused: null });
    assert.deepEqual([text(CONFIG), text(`${STATE}/local/kubelet`)], [REWRITTEN, REWRITTEN]);
  });

  it('is told apart from one that is lost by whether anything of it is in the file', async () => {
    const lost = { base: 'f'.repeat(64) };
    const { isNew } = await prepare('file', replace);
    assert.equal(await isNew({ ...replace, ...lost }), false);
    assert.equal(await isNew({ ...replace, keepFields: ['clusterDomain'], ...lost }), true);
    assert.equal(await isNew({ ...overlay, ...lost }), true);
  });

  it('keeps its own config from before where a kubelet failed with the newer one', async () => {
    const { disk, installer, put, text } = await prepare('file');
    disk.plant(CONFIG, REWRITTEN);
    await put(overlay);
    await put(null);
    await installer.settle({ config: null, needed: [], refused: sha256(Buffer.from(REWRITTEN)) });
    assert.equal(text(CONFIG), LOCAL);
  });

  it('with what differs in a comment only has another base, and no other file', async () => {
    const { disk, installer, put, isInstalled, isNew, text } = await prepare('file');
    const commented = `# written by a tool\n${LOCAL}`;
    disk.plant(CONFIG, commented);
    assert.deepEqual([await isInstalled(overlay), await isNew(overlay)], [false, false]);
    await put(overlay);
    assert.equal(text(CONFIG), OURS);
    const { newer } = (await installer.plan(overlay)).base ?? {};
    assert.deepEqual(newer, { sha256: sha256(Buffer.from(commented)), changes: false });
  });

  it('and back has the base that it had', async () => {
    const { disk, installer, put } = await prepare('file');
    disk.plant(CONFIG, REWRITTEN);
    await put(overlay);
    disk.plant(CONFIG, LOCAL);
    await put(overlay);
    assert.equal((await installer.plan(overlay)).base?.newer, null);
  });

  it('has to prove itself again where what it was proven over is lost, unless nothing of that is in it', async () => {
    const lost = { base: 'f'.repeat(64) };
    const { isNew, put, isInstalled } = await prepare('file');
    assert.deepEqual([await isInstalled({ ...overlay, ...lost }), await isNew({ ...overlay, ...lost })], [true, true]);
    await put(replace);
    assert.deepEqual([await isInstalled({ ...replace, ...lost }), await isNew({ ...replace, ...lost })], [true, false]);
  });

  it('finds the one before again after a crash between the copy and its record', async () => {
    const { disk, installer, put, text } = await prepare('file');
    disk.plant(CONFIG, REWRITTEN);
    await put(overlay);
    const over: Installable = { ...overlay, base: sha256(Buffer.from(REWRITTEN)) };
    await put(over);
    const record = text(`${STATE}/local/record`) ?? '';
    await installer.settle({ config: over, needed: [sha256(Buffer.from(LOCAL))], refused: null });
    disk.plant(`${STATE}/local/record`, record);
    await put(overlay);
    assert.equal(text(CONFIG), OURS);
  });

  it('has no other base where it got its own file back, or where nothing is laid over it', async () => {
    const { disk, put, isInstalled, isNew } = await prepare('file');
    disk.plant(CONFIG, LOCAL);
    assert.deepEqual([await isInstalled(overlay), await isNew(overlay)], [false, false]);
    await put(replace);
    disk.plant(CONFIG, REWRITTEN);
    assert.deepEqual([await isInstalled(replace), await isNew(replace)], [false, false]);
    await put(replace);
    await put(null);
  });

  it('is not mistaken by what the guard puts back: that is ours, whichever base it was laid over', async () => {
    const { disk, installer, isInstalled, text } = await prepare('file');
    disk.plant(CONFIG, REWRITTEN);
    await installer.takeAsLocal();
    const to = await installer.plan(overlay);
    const back = await installer.fallbackFiles(await installer.plan(replace), to);
    await installer.install(await installer.plan(replace));
    for (const { path, bytes } of back) disk.plant(path, bytes === null ? null : bytes.toString('utf8'));
    assert.ok(await isInstalled(overlay));
    assert.equal(text(`${STATE}/local/kubelet`), REWRITTEN);
  });
});
