import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { nodeSkipReason } from '../../test/cluster/support/binaries.ts';
import { startControlPlane } from '../../test/cluster/support/control-plane.ts';
import { installManifests } from '../../test/cluster/support/programs.ts';
import { bundleAgent } from '../../test/node/support/agent-service.ts';
import { KUBELET_UNIT, UNIT_DIRECTORY } from '../../test/node/support/node-paths.ts';
import { type NodeUnderTest, startNodeUnderTest } from '../../test/node/support/node-under-test.ts';
import { manifestMalloc } from '../../test/support/manifest-flags.ts';

/** A machine with a real systemd, kubelet and API server, the kubelet's unit as kubeadm has it, the agent with its guard. */
export interface SystemdNode {
  readonly node: NodeUnderTest;
  /** Units of ours that systemd knows, and drop-ins of ours that are there. */
  readonly traces: () => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

/** Of kubeadm's 10-kubeadm.conf and kubelet.service. */
const RESTART = '[Service]\nRestart=always\nRestartSec=10\n';

export async function startSystemdNode(): Promise<SystemdNode> {
  const skip = await nodeSkipReason();
  if (skip !== false) throw new Error(`no real kubelet here: ${skip}`);
  const cluster = await startControlPlane();
  const bundled = await bundleAgent();
  try {
    await installManifests(cluster);
    const world = { cluster: () => cluster, agentDirectory: () => bundled.directory };
    const node = await startNodeUnderTest(world, {
      name: 'node-bench',
      agentEnv: manifestMalloc('agent'),
    });
    const dropIn = join(node.machine.root, UNIT_DIRECTORY, '10-restart.conf');
    await mkdir(dirname(dropIn), { recursive: true });
    await writeFile(dropIn, RESTART);
    await node.machine.systemctl('daemon-reload');
    return {
      node,
      traces: () => tracesOn(node),
      async stop() {
        await node.stop();
        await bundled.remove();
        await cluster.stop();
      },
    };
  } catch (error) {
    await bundled.remove();
    await cluster.stop();
    throw error;
  }
}

async function tracesOn({ machine }: NodeUnderTest): Promise<readonly string[]> {
  const units = await machine.systemctl('list-units', '--all', '--plain', '--no-legend', 'kubelet-gitops-guard*');
  const dropIns = (await machine.systemctl('show', '--property=DropInPaths', '--value', KUBELET_UNIT)).split(/\s+/);
  return [
    ...units.split('\n').filter((line) => line !== ''),
    ...dropIns.filter((path) => path.includes('kubelet-gitops')),
  ];
}
