import { createInstaller } from '#agent/kubelet/installer.ts';
import type { Installer } from '#agent/ports/installer.ts';

type Options = Parameters<typeof createInstaller>[0];

/** An installer for a node as kubeadm leaves it, without drop-ins; `more` says what is different. */
export const installerOn = (disk: Options['disk'], more: Partial<Options> = {}): Installer =>
  createInstaller({
    nodeName: 'node-a',
    disk,
    stateDirectory: '/var/lib/kubelet-gitops',
    configFile: '/var/lib/kubelet/config.yaml',
    dropInDirectory: undefined,
    kubeletMinor: () => Promise.resolve('1.34'),
    ...more,
  });
