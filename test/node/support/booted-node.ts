import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync, rmdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Daemon, startDaemon } from '../../cluster/support/daemon.ts';
import { until } from '../../cluster/support/until.ts';
import { locateTree } from './tree.ts';

export interface NodeOptions {
  /** Files to have before the first boot, by absolute path: text, or text with permission bits. */
  readonly files?: Readonly<Record<string, string | { readonly text: string; readonly mode: number }>>;
  /** Units to start at boot. */
  readonly enable?: readonly string[];
  /** More for systemd-nspawn: `--bind=…`, `--capability=all`. */
  readonly args?: readonly string[];
}

/**
 * A machine of its own as far as systemd can tell: a copy of the pristine tree, booted by systemd-nspawn, with process
 * ids and cgroups apart from this machine's and from other nodes'.
 */
export interface BootedNode {
  /** Its file system, from outside. */
  readonly root: string;
  /** Process id of its init, from outside. Another one after `reboot`. */
  readonly leader: () => number;
  /** Its system bus, from outside: what it has as /run/dbus lies in a directory of this machine, as a pod would mount it. */
  readonly busSocket: string;
  /** Runs a command inside. @returns what it printed @throws where it fails */
  readonly run: (...command: readonly string[]) => Promise<string>;
  readonly systemctl: (...args: readonly string[]) => Promise<string>;
  /** Pulls the plug and boots the same disk. */
  readonly reboot: () => Promise<void>;
  readonly logTail: (lines?: number) => string;
  /** Shuts it down and removes it. */
  readonly stop: () => Promise<void>;
}

/** Resolves when it has booted. @throws where there is no tree (ask `whyNoNode` first) or it does not come up */
export async function bootNode(options: NodeOptions = {}): Promise<BootedNode> {
  const tree = await locateTree();
  if (!tree.found) throw new Error(`no node: ${tree.reason}`);
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-node-'));
  const root = join(directory, 'root');
  const bus = join(directory, 'bus');
  // For everybody, so that a test can come as somebody else than root.
  await chmod(directory, 0o755);
  await mkdir(bus);
  await promisify(execFile)('cp', ['-a', '--reflink=auto', tree.path, root]);
  for (const [path, file] of Object.entries(options.files ?? {})) {
    const { text, mode } = typeof file === 'string' ? { text: file, mode: 0o644 } : file;
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text, { mode });
  }
  if (options.enable !== undefined)
    await promisify(execFile)('systemctl', ['--root', root, 'enable', ...options.enable]);

  const name = `kg-${randomBytes(4).toString('hex')}`;
  const logFile = join(directory, 'console.log');
  const args = [`--bind=${bus}:/run/dbus`, ...(options.args ?? [])];
  let booted: Booted | undefined;
  const remove = async (): Promise<void> => {
    removeCgroups(name);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    booted = await boot(name, root, logFile, args);
  } catch (error) {
    await remove();
    throw error;
  }
  const leader = (): number => booted?.leader ?? -1;
  const run = async (...command: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('nsenter', ['-t', String(leader()), '-a', ...command]);
    return stdout;
  };
  return {
    root,
    leader,
    run,
    busSocket: join(bus, 'system_bus_socket'),
    systemctl: (...args) => run('systemctl', ...args),
    logTail: (lines) => booted?.machine.logTail(lines) ?? '',
    async reboot() {
      if (booted !== undefined) process.kill(booted.leader, 'SIGKILL');
      await booted?.machine.stop();
      booted = await boot(name, root, logFile, args);
    },
    async stop() {
      await booted?.machine.stop();
      await remove();
    },
  };
}

interface Booted {
  readonly machine: Daemon;
  readonly leader: number;
}

async function boot(name: string, root: string, logFile: string, args: readonly string[]): Promise<Booted> {
  const nspawn = [
    'systemd-nspawn',
    '--boot',
    '--quiet',
    `--directory=${root}`,
    `--machine=${name}`,
    ...NSPAWN,
    ...args,
  ];
  const machine = startDaemon({
    name: `node ${name}`,
    command: 'sh',
    args: ['-c', IN_CGROUPS_OF_ITS_OWN, name, ...nspawn],
    logFile,
  });
  const bound = { withinMs: 60_000, everyMs: 50, hopeless: machine.ended, evidence: machine.logTail };
  try {
    const leader = await until(`init of ${name}`, async () => childOf(machine.pid), bound);
    await until(`node ${name} to have booted`, () => hasBooted(leader), bound);
    return { machine, leader };
  } catch (error) {
    await machine.stop();
    throw error;
  }
}

/** It works with and without a systemd on this machine, and registers nowhere. */
const NSPAWN = ['--register=no', '--keep-unit', '--private-network', '--resolv-conf=off', '--timezone=off'];

/**
 * The nodes' systemds would otherwise share the cgroups of whoever started them, and end each other's processes. Some
 * hierarchies of cgroups v1 cannot be entered without preparation; those nobody's systemd uses.
 */
const IN_CGROUPS_OF_ITS_OWN = `
for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
  [ -e "$hierarchy/cgroup.procs" ] && [ ! -L "$hierarchy" ] && [ -w "$hierarchy" ] || continue
  mkdir -p "$hierarchy/$0" 2>/dev/null && echo $$ >"$hierarchy/$0/cgroup.procs" 2>/dev/null
done
exec "$@"`;

function childOf(pid: number): number | undefined {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return child === undefined || child === '' ? undefined : Number(child);
}

async function hasBooted(leader: number): Promise<boolean> {
  const asked = promisify(execFile)('nsenter', ['-t', String(leader), '-a', 'systemctl', 'is-system-running']);
  // It exits with 1 and still says "degraded" when a unit has failed.
  const { stdout } = await asked.catch((error: unknown) => error as { readonly stdout?: string });
  return ['running', 'degraded'].includes(stdout?.trim() ?? '');
}

/** Innermost first; the kernel removes no cgroup that has others inside. */
function removeCgroups(name: string): void {
  const depth = (path: string): number => path.split('/').length;
  const all = globSync([`/sys/fs/cgroup/${name}/**/`, `/sys/fs/cgroup/*/${name}/**/`]);
  for (const cgroup of all.toSorted((one, other) => depth(other) - depth(one))) {
    try {
      rmdirSync(cgroup);
    } catch {
      // Left for the next boot of this machine: an empty cgroup costs nothing.
    }
  }
}
