import type { Installer, InstallPlan } from '#agent/ports/installer.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { createMemoryDisk, type MemoryDisk } from '../../../../support/agent/memory-disk.ts';
import { CONFIG, createStateWriter, ROOT, type StateWriter } from './manager-state-writer.ts';
import { installerOn } from '../../../../support/agent/installer-on.ts';

type Config = Readonly<Record<string, unknown>>;

export const STATE = '/var/lib/kubelet-gitops';
const LOCAL = canonicalize({ maxPods: 42 });

/** Each pair of them is a change that something may not survive. */
const CONFIGS = {
  none: { maxPods: 50 },
  otherwise: { maxPods: 51 },
  static: { cpuManagerPolicy: 'static', systemReserved: { cpu: '1' } },
  'static, more reserved': { cpuManagerPolicy: 'static', systemReserved: { cpu: '3' } },
  'static, the last CPUs': {
    cpuManagerPolicy: 'static',
    systemReserved: { cpu: '3' },
    cpuManagerPolicyOptions: { 'distribute-cpus-across-numa': 'true' },
  },
  'static, named': { cpuManagerPolicy: 'static', reservedSystemCPUs: '0,7' },
  memory: { memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 0, limits: { memory: '1000' } }] },
  'more memory': { memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 0, limits: { memory: '2000' } }] },
} as const satisfies Readonly<Record<string, Config>>;
export type Name = keyof typeof CONFIGS;
export const NAMES = Object.keys(CONFIGS) as readonly Name[];

export interface Bench {
  readonly disk: MemoryDisk;
  readonly kubelet: StateWriter;
  readonly installer: Installer;
  plan(name: Name | null): Promise<InstallPlan>;
  /** Installs, lets something happen while the old kubelet still runs, installs again, and restarts the kubelet. */
  change(name: Name | null, meanwhile?: () => void): Promise<void>;
  text(path: string): string | undefined;
}

/** A node that runs its local config, and has the state files of it. */
export function prepare(): Bench {
  const disk = createMemoryDisk();
  for (const directory of ['/var', '/var/lib', ROOT]) disk.plant(directory, { directory: true });
  disk.plant(CONFIG, LOCAL);
  const kubelet = createStateWriter(disk);
  kubelet.start();
  const installer = installerOn(disk, { kubeletRootDirectory: ROOT });
  const plan = (name: Name | null): Promise<InstallPlan> =>
    installer.plan(name === null ? null : { payload: canonicalize(CONFIGS[name]), apply: 'replace' });
  return {
    disk,
    kubelet,
    installer,
    plan,
    async change(name, meanwhile = () => undefined) {
      await installer.install(await plan(name));
      meanwhile();
      await installer.install(await plan(name));
      kubelet.start();
    },
    text: (path) => disk.tree()[path],
  };
}
