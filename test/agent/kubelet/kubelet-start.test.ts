import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createReadKubeletStart } from '#agent/kubelet/kubelet-start.ts';
import type { HostFiles } from '#agent/host/host-files.ts';

/** Processes by number: command line, and children by thread. */
type Processes = Readonly<Record<number, { readonly command: string; readonly children?: readonly string[] }>>;

/** A host without a journal. */
function hostWith(processes: Processes): HostFiles {
  const texts = new Map<string, string>();
  const names = new Map<string, string[]>();
  for (const [pid, { command, children }] of Object.entries(processes)) {
    texts.set(`/proc/${pid}/cmdline`, command.replaceAll(' ', '\0'));
    names.set(
      `/proc/${pid}/task`,
      (children ?? ['']).map((_, index) => String(Number(pid) + index)),
    );
    for (const [index, list] of (children ?? []).entries())
      texts.set(`/proc/${pid}/task/${Number(pid) + index}/children`, list);
  }
  return {
    async text(path, mostBytes = Infinity) {
      // Hundreds of processes, and an agent with 64 MiB.
      assert.ok(mostBytes <= 4_096, `${mostBytes} bytes of ${path}`);
      return texts.get(path);
    },
    names: async (path) => names.get(path),
    kind: async () => 'missing',
    real: async (path) => path,
    room: async () => undefined,
    open: async () => undefined,
    openPlain: async () => undefined,
  };
}

const startOf = (processes: Processes, unit = 'kubelet.service') =>
  createReadKubeletStart({ files: hostWith(processes), unit })({
    state: 'starting',
    run: 'run-1',
    pid: 10,
    automaticRestarts: 0,
  });

describe('who is still to start the kubelet', () => {
  const none = ['', '20 21 '];
  const CONTAINERD = { command: '/opt/bin/containerd -c /etc/containerd.toml' };
  const KUBELET = { command: '/var/lib/rancher/rke2/bin/kubelet --config-dir=/etc' };

  for (const [command, unit, starter] of [
    ['/usr/local/bin/rke2 agent', 'rke2-agent.service', { program: 'rke2', hostsServer: false }],
    ['/usr/local/bin/rke2 server', 'rke2-server.service', { program: 'rke2', hostsServer: true }],
    ['/usr/bin/k0s worker --token-file=/etc/token', 'k0sworker.service', { program: 'k0s', hostsServer: false }],
    ['/usr/bin/k0s controller --enable-worker', 'k0scontroller.service', { program: 'k0s', hostsServer: true }],
    ['/opt/renamed', 'rke2-agent.service', { program: 'rke2', hostsServer: false }],
    ['/opt/renamed', 'rke2-server.service', { program: 'rke2', hostsServer: true }],
    ['/usr/bin/kubelet --config=/etc/k', 'kubelet.service', undefined],
    ['/opt/kubelite', 'snap.microk8s.daemon-kubelite.service', undefined],
  ] as const) {
    it(`is ${starter?.program ?? 'nobody'} for ${command} of ${unit} without a child that is a kubelet`, async () => {
      const processes = { 10: { command, children: none }, 20: CONTAINERD };
      assert.deepEqual(await startOf(processes, unit), starter);
    });
  }

  it('is nobody where a child is the kubelet, whichever thread started it', async () => {
    for (const children of [
      ['', '20 21'],
      ['20 21 ', ''],
    ]) {
      const processes = { 10: { command: '/usr/local/bin/rke2 agent', children }, 20: CONTAINERD, 21: KUBELET };
      assert.equal(await startOf(processes), undefined);
    }
  });

  it('is nobody where children cannot be seen, or there is no process', async () => {
    assert.equal(await startOf({ 10: { command: '/usr/local/bin/rke2 agent' } }), undefined);
    assert.equal(await startOf({}), undefined);
  });

  it('is nobody for k3s where its log cannot be seen: its kubelet is no process of its own', async () => {
    assert.equal(await startOf({ 10: { command: '/usr/local/bin/k3s agent', children: none } }), undefined);
  });
});
