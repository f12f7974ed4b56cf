import { join } from 'node:path';
import type { HostFiles } from '../host/host-files.ts';

const ROOT = '/sys/fs/cgroup';
/** Hierarchies in which a kubelet looks for a cgroup, as far as they are mounted (`Validate` of cgroup_v1_manager_linux.go). */
const HIERARCHIES = ['cpu', 'cpuacct', 'cpuset', 'memory', 'systemd', 'pids', 'hugetlb'];
/** Controllers that it wants of a cgroup, as far as the root has them (`getSupportedUnifiedControllers`). */
const CONTROLLERS = ['cpu', 'cpuset', 'memory', 'hugetlb', 'pids'];

/**
 * Controllers that a kubelet looks for in a cgroup that is there, and that it lacks: the kubelet does not start with it (1.20 to 1.37).
 *
 * @param path from the root of its hierarchy
 */
export async function cgroupGaps(path: string, version: 1 | 2, files: HostFiles): Promise<readonly string[]> {
  const lacks = version === 2 ? await lacksController(path, files) : lacksHierarchy(path, files);
  const names = version === 2 ? CONTROLLERS : HIERARCHIES;
  const seen = await Promise.all(names.map(lacks));
  return names.filter((_, index) => seen[index]);
}

/** Of version 1: whether a hierarchy is mounted that has no such cgroup. */
const lacksHierarchy =
  (path: string, files: HostFiles) =>
  async (name: string): Promise<boolean> =>
    (await files.kind(join(ROOT, name))) === 'directory' && (await files.kind(join(ROOT, name, path))) === 'missing';

/** Of version 2: whether the root has a controller that the cgroup has not. */
async function lacksController(path: string, files: HostFiles): Promise<(name: string) => Promise<boolean>> {
  const [above, here] = await Promise.all(
    [ROOT, join(ROOT, path)].map(async (directory) =>
      (await files.text(join(directory, 'cgroup.controllers')))?.trim().split(/\s+/),
    ),
  );
  return (name) => Promise.resolve(above?.includes(name) === true && here?.includes(name) === false);
}
