import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createCheckWritable } from '#agent/kubelet/check-writable.ts';
import type { FileOwner } from '#agent/ports/disk.ts';
import type { ManagedFile } from '#agent/ports/installer.ts';
import { stageConfig } from '#agent/staging/stage.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { createFakeKube } from '../../support/agent/fake-kube.ts';
import { createMemoryDisk } from '../../support/agent/memory-disk.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { without } from '../../support/required-tools.ts';
import { systemError } from '../../support/agent/system-error.ts';
import { B } from '../../support/agent/states.ts';

const CONFIG = '/etc/kubernetes/kubelet.yaml';
const DROP_IN = '/etc/systemd/system/kubelet.service.d/90-kubelet-gitops-guard.conf';
const OWNER: FileOwner = { mode: 0o640, uid: 0, gid: 4 };
const ours: ManagedFile = { path: CONFIG, holds: 'ours', bytes: Buffer.from('{}'), owner: OWNER };

/** A disk on which these directories refuse everything, and what was written on it. */
function prepare(...refusing: readonly string[]) {
  const disk = createMemoryDisk();
  for (const path of [
    '/etc',
    '/etc/kubernetes',
    '/etc/systemd',
    '/etc/systemd/system',
    '/etc/systemd/system/kubelet.service.d',
  ])
    disk.plant(path, { directory: true });
  disk.plant(CONFIG, 'theirs');
  const written: (readonly [string, FileOwner])[] = [];
  const replace: typeof disk.replace = async (path, bytes, owner) => {
    written.push([path, owner]);
    if (refusing.some((directory) => path.startsWith(directory))) {
      throw new GitopsError('DISK_WRITE', `cannot write ${path}: no`, { cause: systemError('EACCES', 'open', path) });
    }
    await disk.replace(path, bytes, owner);
  };
  return { disk, written, tryPlaces: createCheckWritable({ ...disk, replace }, [DROP_IN]) };
}

describe('the places of a config’s files', () => {
  it('are tried with the owner that each file has to have, and left as they were', async () => {
    const { disk, written, tryPlaces } = prepare();
    const before = disk.tree();
    await tryPlaces([ours]);
    assert.deepEqual(disk.tree(), before);
    assert.deepEqual(
      written.map(([, owner]) => owner),
      [OWNER, { mode: 0o600 }],
    );
    for (const [path] of written) assert.doesNotMatch(path, /\.conf$/, 'the kubelet or systemd would read it');
  });

  for (const [what, refusing, path] of [
    ['the kubelet’s file', '/etc/kubernetes', CONFIG],
    ['the guard’s line', '/etc/systemd/system/kubelet.service.d', DROP_IN],
  ] as const) {
    it(`say why not by the name of the file that is meant: ${what}`, async () => {
      const { tryPlaces } = prepare(refusing);
      await assert.rejects(tryPlaces([ours]), { code: 'INSTALL_NOT_WRITABLE', message: `cannot write ${path}: no` });
    });
  }

  it('are not tried where nothing of ours comes, nor in a directory that is yet to be made', async () => {
    const { written } = prepare();
    const { disk } = prepare('/etc/kubernetes');
    await createCheckWritable(disk, ['/nowhere/at/all'])([
      { ...ours, holds: 'local' },
      { path: CONFIG, holds: 'nothing' },
    ]);
    assert.deepEqual(written, []);
  });

  it('are tried before anything else is looked at, and a refusal is not for good', async () => {
    const options = {
      kube: createFakeKube(),
      payloads: {
        read: () => Promise.resolve({ payload: canonicalize({ maxPods: 50 }) }),
        write: () => Promise.resolve(),
      },
      lookAtNode: () => Promise.resolve({ kubeletVersion: 'v1.34.2' }),
      installer: { plan: () => Promise.resolve({ method: 'file' as const, effective: {}, files: [ours] }) },
      validate: () => [],
      preflight: () => assert.fail('it was looked at further'),
      checkWritable: prepare('/etc/kubernetes').tryPlaces,
    };
    const result = await stageConfig(B, options, new AbortController().signal);
    assert.ok(result.outcome === 'unavailable');
    assert.equal(result.failure.reason, 'CannotInstall');
    assert.match(result.failure.message, /^cannot write/);
  });
});

const NO_SETPRIV =
  process.getuid?.() === 0
    ? without('setpriv', ['--version'], 'nothing shows what root without capabilities may do')
    : 'only root can become root without capabilities';

describeOrSkip('root without a single capability', { skip: NO_SETPRIV }, () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'kubelet-gitops-places-'));
    chmodSync(root, 0o755);
    for (const [name, gid, directoryUid] of [
      ['root', 0, 0],
      ['group', 4, 0],
      ['directory', 0, 998],
    ] as const) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, 'config.yaml'), '{}', { mode: 0o640 });
      chownSync(join(root, name, 'config.yaml'), 0, gid);
      chownSync(join(root, name), directoryUid, 0);
    }
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  const tried = (name: string, gid: number): string => {
    const path = join(root, name, 'config.yaml');
    const script = `
      const { createCheckWritable } = await import('#agent/kubelet/check-writable.ts');
      const { createNodeDisk } = await import('#agent/host/disk/node-disk.ts');
      const file = { path: ${JSON.stringify(path)}, holds: 'ours', bytes: Buffer.from('x'), owner: { mode: 0o640, uid: 0, gid: ${gid} } };
      console.log(await createCheckWritable(createNodeDisk(), [])([file]).then(() => 'done', (error) => error.message));`;
    const none = ['--bounding-set=-all', '--inh-caps=-all', '--clear-groups'];
    return spawnSync('setpriv', [...none, process.execPath, '--input-type=module', '--eval', script], {
      encoding: 'utf8',
    }).stdout.trim();
  };

  for (const [what, name, gid, says] of [
    ['its own file', 'root', 0, /^done$/],
    ['a file of another group', 'group', 4, /config\.yaml: its owner or group is not root.* CHOWN$/],
    ['a directory of another user', 'directory', 0, /config\.yaml: permission denied.* DAC_OVERRIDE/],
  ] as const) {
    it(`is told beforehand what it lacks: ${what}`, () => {
      const told = tried(name, gid);
      assert.match(told, says);
      assert.doesNotMatch(told, /tmp-|immutable/);
      assert.deepEqual(readdirSync(join(root, name)), ['config.yaml']);
    });
  }
});
