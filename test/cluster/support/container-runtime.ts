import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateNode, type NodeBinaries } from './binaries.ts';
import { startDaemon } from './daemon.ts';
import { removeWithMounts } from './remove-with-mounts.ts';
import { until } from '../../support/until.ts';

/**
 * A containerd for one kubelet: two kubelets must not share one, since each would end the other's pods. It has no
 * registry to pull from, so no pod comes to run unless a test brings its images, the sandbox's ("pause") included.
 */
export interface ContainerRuntime {
  /** For the kubelet's --container-runtime-endpoint. */
  readonly endpoint: string;
  readonly socket: string;
  readonly logTail: (lines?: number) => string;
  /** Ends it and removes its files. */
  readonly stop: () => Promise<void>;
}

/** @throws where there are no binaries (ask `nodeSkipReason` first) or it does not come up */
export async function startContainerd(): Promise<ContainerRuntime> {
  const located = await locateNode();
  if (!located.found) throw new Error(`no container runtime: ${located.reason}`);
  const { binaries } = located;
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-containerd-'));
  const socket = join(directory, 'containerd.sock');
  await mkdir(join(directory, 'cni'));
  await writeFile(join(directory, 'cni', '10-pods.conflist'), networkConfig(directory));
  await writeFile(join(directory, 'config.toml'), runtimeConfig(directory, socket, binaries));
  const daemon = startDaemon({
    name: 'containerd',
    command: binaries.containerd,
    args: ['--config', join(directory, 'config.toml')],
    logFile: join(directory, 'containerd.log'),
    // It finds its shim through PATH.
    env: { PATH: `${binaries.directory}:${process.env['PATH'] ?? ''}` },
  });
  const stop = async (): Promise<void> => {
    await daemon.stop();
    await removeWithMounts(directory);
  };
  const answers = async (): Promise<boolean> => {
    const connection = connect(socket);
    await once(connection, 'connect');
    connection.destroy();
    return true;
  };
  try {
    await until('containerd', answers, {
      everyMs: 50,
      hopeless: daemon.ended,
      evidence: daemon.logTail,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint: `unix://${socket}`, socket, logTail: daemon.logTail, stop };
}

/** Point-to-point links with addresses from a range of this machine; all state in the directory. */
function networkConfig(directory: string): string {
  const ipam = { type: 'host-local', dataDir: join(directory, 'addresses'), ranges: [[{ subnet: '10.244.0.0/24' }]] };
  return JSON.stringify({
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [{ type: 'ptp', ipMasq: false, ipam: { ...ipam, routes: [{ dst: '0.0.0.0/0' }] } }],
  });
}

/**
 * The native snapshotter works on every file system, the one of a container included. A sandbox without
 * CAP_SYS_RESOURCE cannot lower a process's OOM score, hence the restriction.
 */
function runtimeConfig(directory: string, socket: string, { runc, cniPlugins }: NodeBinaries): string {
  return `
version = 2
root = "${directory}/root"
state = "${directory}/state"
[grpc]
address = "${socket}"
[plugins."io.containerd.internal.v1.opt"]
path = "${directory}/opt"
[plugins."io.containerd.grpc.v1.cri"]
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${cniPlugins}"
conf_dir = "${directory}/cni"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "${runc}"
`;
}
