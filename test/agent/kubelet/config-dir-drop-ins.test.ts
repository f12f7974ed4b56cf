import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createHostFiles } from '#agent/host/host-files.ts';
import { fileThatSets, readConfigDirDropIns } from '#agent/kubelet/config-dir-drop-ins.ts';

describe('the files of the kubelet’s --config-dir', () => {
  let root: string;
  const write = async (path: string, fields: Readonly<Record<string, unknown>>): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
    await writeFile(join(root, path), JSON.stringify({ ...kind, ...fields }));
  };
  const read = () => readConfigDirDropIns('/d', createHostFiles(root));
  const paths = async () => (await read()).map(({ path }) => path);
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'config-dir-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  it('are none where the directory is missing', async () => {
    assert.deepEqual(await paths(), []);
  });

  it('come in the kubelet’s order, and the last one wins', async () => {
    for (const name of ['20.conf', '10.conf', '15/a.conf']) await write(`d/${name}`, { maxPods: 50 });
    assert.deepEqual(await paths(), ['/d/10.conf', '/d/15/a.conf', '/d/20.conf']);
    assert.equal(fileThatSets('maxPods=50 instead of 110', await read()), '/d/20.conf');
    assert.equal(fileThatSets('podsPerCore=1', await read()), undefined);
  });

  it('are not ours, and not what no kubelet reads', async () => {
    for (const name of ['10.conf', '99-kubelet-gitops.conf', '20.yaml']) await write(`d/${name}`, { maxPods: 50 });
    assert.deepEqual(await paths(), ['/d/10.conf']);
  });

  it('say what in them ends the kubelet, doubled keys too', async () => {
    await write('d/10.conf', { maxpods: 50, maxPods: 60 });
    await writeFile(join(root, 'd/20.conf'), '{');
    const kind = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
    await writeFile(join(root, 'd/30.conf'), `${kind}maxPods: 50\nmaxPods: 60\n`);
    const [fine, broken, doubled] = await read();
    assert.equal(fine?.fault, undefined);
    assert.ok(broken?.fault !== undefined);
    assert.match(doubled?.fault ?? '', /30\.conf:4:1: .*maxPods/);
    assert.equal(doubled?.fields['maxPods'], 60);
  });

  it('are looked for eight directories down', async () => {
    const at = (depth: number): string => `${'sub/'.repeat(depth)}a.conf`;
    for (const depth of [8, 9]) await write(`d/${at(depth)}`, { maxPods: 50 });
    assert.deepEqual(await paths(), [`/d/${at(8)}`]);
  });
});
