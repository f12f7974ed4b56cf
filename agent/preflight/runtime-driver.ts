import type { HostFacts } from './host-facts.ts';
import type { HostFiles } from '../host/host-files.ts';

/** How the container runtime makes cgroups, by its own config file; undefined where none says so. */
export async function readRuntimeDriver(files: HostFiles): Promise<HostFacts['runtimeDriver']> {
  const containerd = '/etc/containerd/config.toml';
  const systemd = /^\s*SystemdCgroup\s*=\s*(true|false)\b/m.exec((await files.text(containerd)) ?? '')?.[1];
  if (systemd !== undefined) return { driver: systemd === 'true' ? 'systemd' : 'cgroupfs', file: containerd };
  const directory = '/etc/crio/crio.conf.d';
  const dropIns = ((await files.names(directory)) ?? []).toSorted().map((name) => `${directory}/${name}`);
  for (const file of [...dropIns.toReversed(), '/etc/crio/crio.conf']) {
    const manager = /^\s*cgroup_manager\s*=\s*"(systemd|cgroupfs)"/m.exec((await files.text(file)) ?? '')?.[1];
    if (manager !== undefined) return { driver: manager as 'systemd' | 'cgroupfs', file };
  }
  return undefined;
}
