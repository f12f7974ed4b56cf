import { join } from 'node:path';
import type { HostFiles } from '../host/host-files.ts';
import type { CgroupUse } from './host-facts.ts';

const ROOT = '/sys/fs/cgroup';

/**
 * What a cgroup uses now. Inactive pages of files are left out: the kernel drops them under a limit.
 *
 * @param path from the root of its hierarchy
 */
export async function cgroupUse(path: string, version: 1 | 2, files: HostFiles): Promise<CgroupUse> {
  const [memory, pids] = version === 2 ? [ROOT, ROOT] : [`${ROOT}/memory`, `${ROOT}/pids`];
  const numberIn = async (file: string): Promise<number | undefined> => {
    const text = (await files.text(file))?.trim() ?? '';
    return /^\d+$/.test(text) ? Number(text) : undefined;
  };
  const used = await numberIn(join(memory, path, version === 2 ? 'memory.current' : 'memory.usage_in_bytes'));
  const stat = (await files.text(join(memory, path, 'memory.stat'))) ?? '';
  const idle = Number(/^(?:total_)?inactive_file (\d+)$/m.exec(stat)?.[1] ?? 0);
  const count = await numberIn(join(pids, path, 'pids.current'));
  return {
    ...(used === undefined ? {} : { bytes: Math.max(0, used - idle) }),
    ...(count === undefined ? {} : { pids: count }),
  };
}
