import type { HostFiles } from '../host/host-files.ts';

/** Where kubelets keep pods, by either cgroup driver; each with what is below it and may have a limit of its own. */
const CGROUPS = [
  'kubepods.slice',
  'kubepods.slice/kubepods-burstable.slice',
  'kubepods.slice/kubepods-besteffort.slice',
  'kubepods',
  'kubepods/burstable',
  'kubepods/besteffort',
];

/**
 * How often the kernel found no memory in the cgroups of all pods because of these cgroups' own limits, which are the kubelet's
 * work. What a pod suffers at its own limit is not among them. Null without cgroups v2.
 */
export async function countOutOfMemory(
  files: Pick<HostFiles, 'text'>,
): Promise<Readonly<Record<string, number>> | null> {
  const counts: Record<string, number> = {};
  if ((await files.text('/sys/fs/cgroup/cgroup.controllers')) === undefined) return null;
  for (const cgroup of CGROUPS) {
    const events = await files.text(`/sys/fs/cgroup/${cgroup}/memory.events.local`, 1024);
    const count = /^oom (\d+)$/m.exec(events ?? '')?.[1];
    if (count !== undefined) counts[cgroup] = Number(count);
  }
  return counts;
}
