import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { ConfigForHost } from '#agent/preflight/host-facts.ts';
import type { HostFiles } from '#agent/host/host-files.ts';
import { createReadCommandLine } from '#agent/kubelet/command-line.ts';
import { createHostFactsReader } from '#agent/preflight/gather-host-facts.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';

const NAMED = [
  '/named/ca.crt',
  '/named/tls.crt',
  '/named/tls.key',
  '/named/manifests',
  '/named/resolv.conf',
  '/run/crio/crio.sock',
];
const OWN = ['/of-the-kubelet/config.yaml', '/of-the-kubelet/conf.d', '/by-flag/config.yaml'];

const config = {
  authentication: { x509: { clientCAFile: '/named/ca.crt' } },
  tlsCertFile: '/named/tls.crt',
  tlsPrivateKeyFile: '/named/tls.key',
  staticPodPath: '/named/manifests',
  resolvConf: '/named/resolv.conf',
  enforceNodeAllocatable: ['system-reserved'],
  systemReservedCgroup: '/system.slice',
  reservedSystemCPUs: '0',
};

/** Everything that preflight asks of a host on which all that it looks for is there. */
async function readOf(): Promise<ReadonlySet<string>> {
  const read = new Set<string>();
  const texts: Readonly<Record<string, string>> = {
    '/proc/77/cmdline': '/usr/bin/kubelet\0--config=/by-flag/config.yaml\0--root-dir=/var/lib/kubelet\0',
    '/etc/passwd': 'kubelet:x:100:100::/:/bin/false\n',
    '/of-the-kubelet/config.yaml': 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n',
  };
  const noted =
    <T>(answer: (path: string) => T) =>
    (path: string): Promise<T> => {
      read.add(path);
      return Promise.resolve(answer(path));
    };
  const files: HostFiles = {
    text: noted((path) => texts[path] ?? ''),
    kind: noted((path) => (/cgroup\.controllers$|getsubids$/.test(path) ? 'file' : 'directory')),
    real: noted((path) => path),
    room: noted(() => ({ bytes: 1, availableBytes: 1, inodes: 1, freeInodes: 1 })),
    names: noted((path) => (path === '/sys/fs/cgroup' ? ['kubepods.slice'] : ['10-crio.conf'])),
    open: noted(() => undefined),
    openPlain: noted(() => undefined),
  };
  const readCommandLine = createReadCommandLine({ files, unit: 'kubelet.service' });
  const look = createHostFactsReader({ files, commandLine: () => readCommandLine({ run: 'this', pid: 77 }) });
  const candidateWith = (more: Readonly<Record<string, string>>): ConfigForHost => ({
    view: viewOf({ ...config, ...more }, 34, 'replace'),
    fromFiles: config,
    assigned: config,
    configFile: '/of-the-kubelet/config.yaml',
    configDirectory: '/of-the-kubelet/conf.d',
    version: 'v1.34.0',
    asDropIn: false,
  });
  for (const more of [{}, { containerRuntimeEndpoint: 'unix:///run/crio/crio.sock' }]) {
    await look.look(candidateWith(more), (await look.commandLine())?.args);
  }
  return read;
}

describe('what preflight reads of a host', () => {
  const page = readFileSync('docs/privileges.md', 'utf8').split('### What is read below /host')[1] ?? '';
  const rows = [...page.matchAll(/^\| (`\/.*?) \|/gm)].map(([, cell = '']) => cell);
  const documented = rows.flatMap((cell) => [...cell.matchAll(/`(\/[^`]+)`/g)].map(([, path = '']) => path));
  const isOf = (path: string, place: string): boolean => {
    const pattern = place.replaceAll('.', '\\.').replace('<pid>', '\\d+');
    return new RegExp(`^${pattern}(/|$)`).test(path);
  };

  it('is what docs/privileges.md says, and nothing else', async () => {
    const read = await readOf();
    assert.ok(read.size > 20, `${read.size} paths`);
    const known = [...documented, ...NAMED, ...OWN];
    // Whether anything of the host is shown at all.
    const others = [...read].filter((path) => path !== '/proc' && !known.some((place) => isOf(path, place)));
    assert.deepEqual(others, []);
  });

  it('is all of what docs/privileges.md says', async () => {
    const read = [...(await readOf())];
    assert.ok(documented.length >= 9, documented.join());
    assert.deepEqual(
      documented.filter((place) => !read.some((path) => isOf(path, place))),
      [],
    );
  });
});
