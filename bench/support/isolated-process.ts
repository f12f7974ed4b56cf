import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Where a process has for itself what others on a machine would share with it, so that all of it can be counted. */
export interface IsolatedProcess {
  /** The Node binary as the image has it, a copy that nothing else runs. */
  readonly node: string;
  /** The file to write a process id to: from then on the process counts for this cgroup. */
  readonly cgroupProcs: string;
  /** What the kubelet compares with the request of a container: all that is charged less the file pages not used lately. */
  readonly workingSetMiB: () => Promise<number>;
  /** To be called once nothing runs there any more. */
  readonly remove: () => Promise<void>;
}

/** @throws where there is no binutils, or no memory controller that lets itself be used (root) */
export async function isolateProcess(): Promise<IsolatedProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-place-'));
  const node = join(directory, 'node');
  const cgroup = join(existsSync(V2.probe) ? V2.root : V1.root, `kubelet-gitops-bench-${directory.slice(-6)}`);
  const { usage, inactive } = existsSync(V2.probe) ? V2 : V1;
  await promisify(execFile)('strip', ['--strip-unneeded', '-o', node, process.execPath]);
  // Out of the page cache: what is there already is not charged to the one who uses it.
  await promisify(execFile)('sh', ['-c', 'sync "$1" && dd if="$1" iflag=nocache count=0', 'sh', node]);
  await mkdir(cgroup);
  return {
    node,
    cgroupProcs: join(cgroup, 'cgroup.procs'),
    async workingSetMiB() {
      const [charged, stat] = await Promise.all(
        [usage, 'memory.stat'].map((file) => readFile(join(cgroup, file), 'utf8')),
      );
      const unused = new RegExp(`^${inactive} (\\d+)`, 'm').exec(stat ?? '')?.[1];
      return (Number(charged) - Number(unused)) / 2 ** 20;
    },
    async remove() {
      await rmdir(cgroup);
      await rm(directory, { recursive: true });
    },
  };
}

const V1 = {
  root: '/sys/fs/cgroup/memory',
  usage: 'memory.usage_in_bytes',
  inactive: 'total_inactive_file',
} as const;
const V2 = {
  probe: '/sys/fs/cgroup/cgroup.controllers',
  root: '/sys/fs/cgroup',
  usage: 'memory.current',
  inactive: 'inactive_file',
} as const;
