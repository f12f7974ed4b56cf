import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isNoConfigFile,
  type Layout,
  layoutOf,
  type LayoutSettings,
  logFileOf,
  noConfigFile,
} from '#agent/kubelet/layout.ts';

const NOTHING: LayoutSettings = { configFile: undefined, configDirectory: undefined, rootDirectory: undefined };
const ROOT = '/var/lib/kubelet';
const USUAL = '/var/lib/kubelet/config.yaml';

describe('where the kubelet has its files', () => {
  const rows: readonly (readonly [
    what: string,
    settings: Partial<LayoutSettings>,
    args: readonly string[] | undefined,
    layout: readonly [configFile: string | undefined, configDirectory: string | undefined, rootDirectory: string],
  ])[] = [
    ['nobody knows: as with kubeadm', {}, undefined, [USUAL, undefined, ROOT]],
    ['a kubelet that lives on flags has no file', {}, ['--v=2'], [undefined, undefined, ROOT]],
    ['k3s has a directory alone', {}, ['--config-dir=/d'], [undefined, '/d', ROOT]],
    ['a directory that is set, and no file', { configDirectory: '/d' }, undefined, [undefined, '/d', ROOT]],
    [
      'k0s',
      { configDirectory: '/d' },
      ['--config=/run/c', '--config-dir=/d', '--root-dir=/var/lib/k0s/kubelet'],
      ['/run/c', '/d', '/var/lib/k0s/kubelet'],
    ],
    [
      'settings win',
      { configFile: '/s', configDirectory: '/t', rootDirectory: '/r' },
      ['--config=/a', '--config-dir=/b', '--root-dir=/c'],
      ['/s', '/t', '/r'],
    ],
  ];
  for (const [what, settings, args, [configFile, configDirectory, rootDirectory]] of rows) {
    it(what, () => {
      const layout: Layout = { configFile, configDirectory, rootDirectory };
      assert.deepEqual(layoutOf({ ...NOTHING, ...settings }, args), layout);
    });
  }

  it('has the log of RKE2 where its data directory is, and of nobody else', () => {
    const layout = layoutOf({ ...NOTHING, configDirectory: '/data/rke2/agent/etc/kubelet.conf.d' }, undefined);
    assert.equal(logFileOf('rke2-server.service', layout), '/data/rke2/agent/logs/kubelet.log');
    assert.equal(logFileOf('k3s.service', layout), undefined);
    assert.equal(logFileOf('rke2-server.service', layoutOf(NOTHING, [])), undefined);
  });

  it('tells the place of a file that there is none of', () => {
    assert.ok(isNoConfigFile(noConfigFile('/state')));
    assert.ok(!isNoConfigFile(USUAL));
  });
});
