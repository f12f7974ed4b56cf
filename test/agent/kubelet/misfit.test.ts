import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createHostFiles } from '#agent/host/host-files.ts';
import type { Layout } from '#agent/kubelet/layout.ts';
import { whyNotMounted, whyOtherUnit, whyUnread } from '#agent/kubelet/misfit.ts';
import type { CommandLine } from '#agent/ports/command-line.ts';

const UNIT = 'kubelet.service';
const LAYOUT: Layout = {
  configFile: '/var/lib/kubelet/config.yaml',
  configDirectory: undefined,
  rootDirectory: '/var/lib/kubelet',
};
const NO_LINKS = { real: async (path: string) => path };
const seen = (...args: readonly string[]): CommandLine => ({ args, seenIn: 'process' });

describe('settings that are not those of the kubelet', () => {
  const rows: readonly (readonly [
    what: string,
    layout: Partial<Layout>,
    unit: string,
    line: CommandLine | undefined,
    said: RegExp | undefined,
  ])[] = [
    ['the right file', {}, UNIT, seen('--config=/var/lib/kubelet/config.yaml'), undefined],
    ['nothing seen', {}, UNIT, undefined, undefined],
    ['a file that may stand in what was not seen', {}, UNIT, { args: ['--v=2'], seenIn: 'files' }, undefined],
    [
      'Kubespray, where kubeadm leaves a file that nobody reads',
      {},
      UNIT,
      seen('--config=/etc/kubernetes/kubelet-config.yaml'),
      /started with --config=\/etc\/kubernetes\/kubelet-config\.yaml, .*KUBELET_CONFIG_FILE=\/etc.* distribution: kubespray/,
    ],
    ['a kubelet that lives on flags', {}, UNIT, seen('--max-pods=9'), /without --config, .*leave KUBELET_CONFIG_FILE/],
    [
      'EKS without --config-dir',
      { configFile: '/etc/kubernetes/kubelet/config.json', configDirectory: '/etc/kubernetes/kubelet/config.json.d' },
      UNIT,
      seen('--config=/etc/kubernetes/kubelet/config.json'),
      /without --config-dir, .*leave KUBELET_CONFIG_DIR unset, or start the kubelet with --config-dir=.* distribution: eks/,
    ],
    [
      'RKE2 in another data-dir',
      { configFile: undefined, configDirectory: '/var/lib/rancher/rke2/agent/etc/kubelet.conf.d' },
      'rke2-agent.service',
      seen('--config-dir=/data/agent/etc/kubelet.conf.d'),
      /KUBELET_CONFIG_DIR=\/data\/agent.* distribution: rke2/,
    ],
    [
      'another root directory',
      {},
      UNIT,
      seen('--config=/var/lib/kubelet/config.yaml', '--root-dir=/data/kubelet'),
      /KUBELET_ROOT_DIR=\/data\/kubelet/,
    ],
  ];
  for (const [what, layout, unit, line, said] of rows) {
    it(what, async () => {
      const why = await whyUnread({ ...LAYOUT, ...layout }, unit, line, NO_LINKS);
      if (said === undefined) assert.equal(why, undefined);
      else assert.match(why ?? '', said);
    });
  }

  it('are none where both paths lead to one file', async () => {
    const links = { real: async () => '/real/config.yaml' };
    assert.equal(await whyUnread(LAYOUT, UNIT, seen('--config=/other/path'), links), undefined);
  });

  it('name the unit that runs the kubelet, and its distribution, while it runs', () => {
    const why = whyOtherUnit(UNIT, { unit: 'k3s.service', isRunning: true });
    assert.match(why ?? '', /runs in k3s\.service, .*KUBELET_SERVICE=k3s\.service; .*distribution: k3s/);
    assert.equal(whyOtherUnit(UNIT, { unit: 'k3s.service', isRunning: false }), undefined);
    assert.equal(whyOtherUnit(UNIT, { unit: UNIT, isRunning: true }), undefined);
    assert.equal(whyOtherUnit(UNIT, undefined), undefined);
  });
});

describe('a directory of the host', () => {
  let root: string;
  const here = (name: string): string => join(root, 'pod', name);
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'misfit-'));
    for (const name of ['same', 'other']) await mkdir(here(name), { recursive: true });
    await mkdir(join(root, `host${here('other')}`), { recursive: true });
    await mkdir(join(root, `host${here('missing')}`), { recursive: true });
  });
  after(() => rm(root, { recursive: true, force: true }));

  const why = (name: string, hostRoot = join(root, 'host')) =>
    whyNotMounted({ ...LAYOUT, configFile: join(here(name), 'config.yaml') }, UNIT, undefined, {
      root: hostRoot,
      files: { real: createHostFiles(hostRoot).real },
    });

  it('has to be mounted at the same path', async () => {
    assert.match((await why('missing')) ?? '', /of the host is not mounted .*: mount .* at the same path/);
    assert.match((await why('other')) ?? '', /is not mounted/);
    assert.equal(await why('same', '/proc/self/root'), undefined, 'another way to the same directory');
  });

  it('speaks against nothing where it is missing on the host, or the agent is no pod', async () => {
    assert.equal(await why('nowhere'), undefined);
    assert.equal(await why('missing', '/'), undefined);
  });
});
