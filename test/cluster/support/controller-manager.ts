import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateControllerManager } from './binaries.ts';
import type { ControlPlane } from './control-plane.ts';
import { startDaemon } from './daemon.ts';

export interface ControllerManager {
  readonly ended: () => string | undefined;
  readonly logTail: (lines?: number) => string;
  /** Ends it and removes its log. */
  readonly stop: () => Promise<void>;
}

/**
 * A real kube-controller-manager for a control plane, with nothing but these controllers, as the administrator.
 *
 * @param args more flags
 * @throws where there is none here: ask `controllersSkipReason` first
 */
export async function startControllerManager(
  cluster: ControlPlane,
  controllers: readonly string[],
  args: readonly string[] = [],
): Promise<ControllerManager> {
  const located = await locateControllerManager();
  if (!located.found) throw new Error(`no controller manager: ${located.reason}`);
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-controller-manager-'));
  const daemon = startDaemon({
    name: 'kube-controller-manager',
    command: located.binaries.controllerManager,
    args: [
      `--kubeconfig=${cluster.adminKubeconfig}`,
      `--controllers=${controllers.join(',')}`,
      '--leader-elect=false',
      '--secure-port=0',
      ...args,
    ],
    logFile: join(directory, 'kube-controller-manager.log'),
  });
  return {
    ended: daemon.ended,
    logTail: daemon.logTail,
    async stop() {
      await daemon.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
