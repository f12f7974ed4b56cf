import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostFiles } from '#agent/host/host-files.ts';
import { imageDirectory } from '#agent/preflight/container-runtime.ts';

const CONTAINERD = 'unix:///run/containerd/containerd.sock';
const CRIO = 'unix:///var/run/crio/crio.sock';
const CONFIG = '/etc/containerd/config.toml';
const OVERLAY = 'io.containerd.snapshotter.v1.overlayfs';

/** A host that has these files, and every directory that is not among the missing. */
const host = (texts: Readonly<Record<string, string>>, missing?: string): HostFiles => ({
  text: (path) => Promise.resolve(texts[path]),
  kind: (path) => Promise.resolve(path === missing ? 'missing' : 'directory'),
  real: (path) => Promise.resolve(path),
  room: () => Promise.resolve(undefined),
  names: (path) => {
    const below = Object.keys(texts).filter((file) => file.startsWith(`${path}/`));
    return Promise.resolve(below.map((file) => file.slice(path.length + 1)));
  },
  open: () => Promise.resolve(undefined),
  openPlain: () => Promise.resolve(undefined),
});

/** What is so; where the kubelet's runtime listens; the files of the host; where the images are. */
const rows: readonly (readonly [string, string | undefined, Readonly<Record<string, string>>, string | undefined])[] = [
  ['containerd as it comes', CONTAINERD, {}, `/var/lib/containerd/${OVERLAY}`],
  ['its socket by the other path', '/var/run/containerd/containerd.sock', {}, `/var/lib/containerd/${OVERLAY}`],
  [
    'another root',
    CONTAINERD,
    {
      [CONFIG]:
        'version = 3\nroot = \'/data/c\'\nimports = []\n[plugins.x]\n  root_path = ""\n  snapshotter = "overlayfs"\n',
    },
    `/data/c/${OVERLAY}`,
  ],
  ['files that are included', CONTAINERD, { [CONFIG]: 'imports = ["/etc/containerd/conf.d/*.toml"]\n' }, undefined],
  ['files that are included, over lines', CONTAINERD, { [CONFIG]: 'imports = [\n  "/etc/c.toml",\n]\n' }, undefined],
  ['another snapshotter', CONTAINERD, { [CONFIG]: '    snapshotter = "stargz"\n' }, undefined],
  ['a snapshotter elsewhere', CONTAINERD, { [CONFIG]: '    root_path = "/snap"\n' }, undefined],
  ['CRI-O as it comes', CRIO, {}, '/var/lib/containers/storage/overlay-images'],
  [
    'CRI-O with a store of its own',
    CRIO,
    {
      '/etc/containers/storage.conf': 'graphroot = "/graph"\n',
      '/etc/crio/crio.conf': 'runroot = "/no"\n# root = "/no"\nroot = "/one"\n',
      '/etc/crio/crio.conf.d/10-b.conf': '[crio]\nroot = "/other"\n',
      '/etc/crio/crio.conf.d/20-c.conf': 'log_level = "info"\n',
    },
    '/other/overlay-images',
  ],
  ['the common store', CRIO, { '/etc/containers/storage.conf': 'graphroot = "/graph"\n' }, '/graph/overlay-images'],
  ['images apart from containers', CRIO, { '/etc/crio/crio.conf.d/10-a.conf': 'imagestore = "/i"\n' }, undefined],
  ['a runtime within another program', 'unix:///run/k3s/containerd/containerd.sock', {}, undefined],
  ['another runtime', 'unix:///run/cri-dockerd.sock', {}, undefined],
  ['a runtime that nobody knows', undefined, {}, undefined],
];

describe('where images are', () => {
  for (const [what, endpoint, texts, directory] of rows) {
    it(`is, with ${what}, ${directory ?? 'not known'}`, async () => {
      assert.equal(await imageDirectory(endpoint, host(texts)), directory);
      assert.equal(await imageDirectory(endpoint, host(texts, directory)), undefined, 'nothing of it is there');
    });
  }
});
