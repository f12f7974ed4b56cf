import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Daemon, startDaemon } from '../../cluster/support/daemon.ts';
import { until } from '../../support/until.ts';
import { locateTree } from './tree.ts';

export interface NodeOptions {
  /** Files to have before the first boot, by absolute path: text, or text with permission bits. */
  readonly files?: Readonly<Record<string, string | { readonly text: string; readonly mode: number }>>;
  /** Units to start at boot. */
  readonly enable?: readonly string[];
  /** More for systemd-nspawn: `--bind=…`, `--capability=all`. */
  readonly args?: readonly string[];
  /** Environment of systemd-nspawn. */
  readonly env?: Readonly<Record<string, string>>;
  /** `host`: this machine's, ports included. Otherwise nothing but a loopback of its own. */
  readonly network?: 'own' | 'host';
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
  /** Pulls the plug and removes it. */
  readonly stop: () => Promise<void>;
}

/** Resolves when it has booted. @throws where there is no tree (ask `nodeSkipReason` first) or it does not come up */
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
  const setup: Setup = {
    name,
    root,
    logFile,
    args: [
      `--bind=${bus}:/run/dbus`,
      ...(options.network === 'host' ? [] : ['--private-network']),
      ...(options.args ?? []),
    ],
    env: options.env ?? {},
  };
  let booted: Booted | undefined;
  const remove = async (): Promise<void> => {
    removeCgroups(name);
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    booted = await boot(setup);
  } catch (error) {
    await remove();
    throw error;
  }
  const leader = (): number => booted?.leader ?? -1;
  // In order it takes longer than anybody waits on a busy machine, and what is killed then still writes into the directory.
  const pullThePlug = async (): Promise<void> => {
    if (booted === undefined) return;
    try {
      // Not the leader, where it has rebooted by itself meanwhile.
      process.kill(initBelow(booted.machine.pid) ?? booted.machine.pid, 'SIGKILL');
    } catch {
      // It has gone down already.
    }
    await booted.machine.stop();
  };
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
      await pullThePlug();
      booted = await boot(setup);
    },
    async stop() {
      await pullThePlug();
      await remove();
    },
  };
}

interface Booted {
  readonly machine: Daemon;
  readonly leader: number;
}

interface Setup {
  readonly name: string;
  readonly root: string;
  readonly logFile: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function boot({ name, root, logFile, args, env }: Setup): Promise<Booted> {
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
    env,
  });
  const bound = { withinMs: 5 * 60_000, everyMs: 50, hopeless: machine.ended, evidence: machine.logTail };
  try {
    const leader = await until(`init of ${name}`, async () => initBelow(machine.pid), bound);
    await until(`node ${name} to have booted`, () => hasBooted(leader), bound);
    return { machine, leader };
  } catch (error) {
    await machine.stop();
    throw error;
  }
}

/** It works with and without a systemd on this machine, and registers nowhere. */
const NSPAWN = ['--register=no', '--keep-unit', '--resolv-conf=off', '--timezone=off'];

/**
 * The nodes' systemds would otherwise share the cgroups of whoever started them, and end each other's processes. The
 * cpuset hierarchy of cgroups v1 can be entered only by who says which processors and memory there are.
 */
const IN_CGROUPS_OF_ITS_OWN = `
for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/*; do
  [ -e "$hierarchy/cgroup.procs" ] && [ ! -L "$hierarchy" ] && [ -w "$hierarchy" ] || continue
  mkdir -p "$hierarchy/$0" 2>/dev/null || continue
  for of in cpus mems; do
    [ ! -e "$hierarchy/cpuset.$of" ] || cat "$hierarchy/cpuset.$of" >"$hierarchy/$0/cpuset.$of"
  done
  echo $$ >"$hierarchy/$0/cgroup.procs" 2>/dev/null
done
exec "$@"`;

/** The child that is the first process of a process namespace of its own: others only prepare it. */
function initBelow(pid: number): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const init = children.find(
    (child) => child !== '' && /^NSpid:.*\s1$/m.test(readFileSync(`/proc/${child}/status`, 'utf8')),
  );
  return init === undefined ? undefined : Number(init);
}

/** Not `is-system-running`: a unit that dies and is started again and again keeps that at "starting" forever. */
async function hasBooted(leader: number): Promise<boolean> {
  // Before that it may still be in this machine's own file system, where systemctl would ask another systemd.
  if (!readlinkSync(`/proc/${leader}/exe`).endsWith('/systemd')) return false;
  const args = ['-t', String(leader), '-a', 'systemctl', 'is-active', '--quiet', 'multi-user.target'];
  await promisify(execFile)('nsenter', args);
  return true;
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
