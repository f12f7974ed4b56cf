import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { createHostFiles } from '#agent/host/host-files.ts';
import { createReadCommandLine } from '#agent/kubelet/command-line.ts';
import { createCountEnds, createReadKubeletStart } from '#agent/kubelet/kubelet-start.ts';
import type { KubeletStarter } from '#agent/ports/kubelet-start.ts';
import type { ServiceStatus } from '#agent/ports/kubelet-service.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { until } from '../support/until.ts';
import { type BootedNode, bootNode } from './support/booted-node.ts';
import { nodeSkipReason } from './support/tree.ts';

const skip = await nodeSkipReason();

/** In the order of k3s and RKE2 (pkg/agent/run.go): a server first, then the kubelet, as a part of itself or as a child. */
const PROGRAM = `#!/bin/sh
say() { echo "time=\\"2026-01-01T00:00:00Z\\" level=\${2:-info} msg=\\"$1\\"" >&2; }
say "Starting $(basename "$0") $1"
# As the kubelet quotes the command of a pod.
quote() { echo 'E1129 08:00:00.0 1 pod_workers.go:1] err="exec: Running kubelet --cert-dir=/of-a-pod"' >&2; }
quote
until [ -e /run/server ]; do say "Failed to validate connection to cluster"; sleep 0.2; done
case $0 in
  *rke2)
    /usr/local/bin/kubelet &
    wait $!
    say "Kubelet exited: exit status 1" error
    ;;
  *) say "Running kubelet --config-dir=/etc/kubelet.conf.d" ;;
esac
quote
while :; do sleep 1; done
`;
const unit = (program: string): string =>
  `[Service]\nExecStart=/usr/local/bin/${program} agent\nKillMode=control-group\n`;

describeOrSkip('a program that starts the kubelet under a real systemd', { skip }, () => {
  let node: BootedNode;
  before(async () => {
    const executable = (text: string) => ({ text, mode: 0o755 });
    node = await bootNode({
      files: {
        '/usr/local/bin/k3s': executable(PROGRAM),
        '/usr/local/bin/rke2': executable(PROGRAM),
        '/usr/local/bin/kubelet': executable('#!/bin/sh\nwhile [ ! -e /run/deadly ]; do sleep 1; done\n'),
        '/etc/systemd/system/k3s-agent.service': unit('k3s'),
        '/etc/systemd/system/rke2-agent.service': unit('rke2'),
      },
    });
  });
  after(() => node?.stop());

  const statusOf = async (name: string): Promise<ServiceStatus> => {
    const shown = await node.systemctl('show', name, '--property=MainPID,InvocationID');
    const value = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(shown)?.[1] ?? '';
    return { state: 'running', run: value('InvocationID'), pid: Number(value('MainPID')), automaticRestarts: 0 };
  };

  for (const program of ['k3s', 'rke2'] as const) {
    it(`is ${program} until the kubelet begins, in each of its runs`, async () => {
      const name = `${program}-agent.service`;
      const read = createReadKubeletStart({ files: createHostFiles(`/proc/${node.leader()}/root`), unit: name });
      const starter = async (): Promise<KubeletStarter | undefined> => read(await statusOf(name));
      const waits = async (): Promise<true | undefined> => ((await starter())?.program === program ? true : undefined);
      for (const run of ['first', 'second']) {
        await node.run('rm', '-f', '/run/server');
        await node.systemctl('restart', name);
        await until(`the ${run} run to wait`, waits);
        assert.deepEqual(await starter(), { program, hostsServer: false });
        await node.run('touch', '/run/server');
        await until(`the kubelet of the ${run} run`, async () => ((await waits()) === undefined ? true : undefined));
      }
      if (program === 'k3s') {
        const readCommandLine = createReadCommandLine({
          files: createHostFiles(`/proc/${node.leader()}/root`),
          unit: name,
        });
        const line = await readCommandLine(await statusOf(name));
        assert.deepEqual(
          [line?.args, line?.seenIn],
          [['--config-dir=/etc/kubelet.conf.d'], 'journal'],
          'its own line, not a pod’s',
        );
      }
      await node.systemctl('stop', name);
    });
  }

  it('is nobody any more where the kubelet of RKE2 died before anybody saw it', async () => {
    const name = 'rke2-agent.service';
    await node.run('touch', '/run/server', '/run/deadly');
    await node.systemctl('restart', name);
    await until('its end to be logged', async () =>
      (await node.run('journalctl', '--unit', name, '--boot')).includes('Kubelet exited') ? true : undefined,
    );
    const read = createReadKubeletStart({ files: createHostFiles(`/proc/${node.leader()}/root`), unit: name });
    const status = await statusOf(name);
    assert.equal(await read(status), undefined);
    const count = createCountEnds({ files: createHostFiles(`/proc/${node.leader()}/root`), unit: name });
    assert.equal((await count(status, false)).automaticRestarts, 1, 'its end is one that the unit does not show');
    assert.equal((await count({ ...status, run: 'another' }, true)).automaticRestarts, 0);
    await node.systemctl('stop', name);
  });
});
