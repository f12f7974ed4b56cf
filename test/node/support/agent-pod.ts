import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { bundle } from '../../../scripts/build.ts';
import { type Daemon, startDaemon } from '../../cluster/support/daemon.ts';
import { until } from '../../support/until.ts';
import type { BootedNode } from './booted-node.ts';
import { containerSpec, PROGRAM, type PodOptions, type PodTemplate } from './container-spec.ts';

/** The agent's image. */
export interface Image {
  /** Where it is unpacked. */
  readonly directory: string;
  /** A root directory of its own for a container: the runtime makes places for mounts in it. @returns its name */
  readonly unpack: () => Promise<string>;
  readonly remove: () => Promise<void>;
}

/** Made as the Dockerfile makes it. */
export async function buildImage(): Promise<Image> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-image-'));
  const bundles = join(directory, 'bundles');
  await mkdir(bundles);
  await bundle('agent', bundles);
  await writeFile(join(bundles, 'package.json'), '{"type":"module"}\n');
  const root = join(directory, 'root');
  execFileSync('sh', ['scripts/image-root.sh', await realpath(process.execPath), bundles, root]);
  return {
    directory,
    async unpack() {
      const name = `container-${randomBytes(4).toString('hex')}`;
      await promisify(execFile)('cp', ['-al', root, join(directory, name)]);
      return name;
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** The agent's container on a node, as a kubelet would have it made from the DaemonSet. */
export interface AgentPod {
  /** Every line that it logged so far. */
  readonly log: () => string;
  /** Process id of the agent, on this machine; resolves when it has become that. */
  readonly pid: () => Promise<number>;
  /** Runs a command inside, as a probe does. @returns whether it ended well */
  readonly exec: (command: readonly string[]) => Promise<boolean>;
  /** SIGTERM, and SIGKILL after the grace period. */
  readonly stop: () => Promise<void>;
  /** SIGKILL. */
  readonly kill: () => Promise<void>;
}

export async function startAgentPod(node: BootedNode, template: PodTemplate, options: PodOptions): Promise<AgentPod> {
  const id = `agent-${randomBytes(4).toString('hex')}`;
  const bundleDirectory = `/opt/pods/${id}`;
  for (const { hostPath } of template.volumes) {
    // A kubelet makes what is missing, or refuses the pod.
    await node.run(...(hostPath.type === 'DirectoryOrCreate' ? ['mkdir', '-p'] : ['test', '-d']), hostPath.path);
  }
  const logFile = join(dirname(node.root), `${id}.log`);
  await mkdir(join(node.root, bundleDirectory), { recursive: true });
  await writeFile(join(node.root, bundleDirectory, 'config.json'), JSON.stringify(containerSpec(template, options)));
  // Without cgroups, which a privilege would not be anyway: the node's are not the container's to divide.
  const runc = [options.runc, '--root', '/run/runc', '--rootless=true'];
  const daemon: Daemon = startDaemon({
    name: id,
    command: 'nsenter',
    args: ['-t', String(node.leader()), '-a', ...runc, 'run', '--bundle', bundleDirectory, id],
    logFile,
  });
  const end = async (signal: string): Promise<void> => {
    await node.run(...runc, 'kill', id, signal).catch(() => undefined);
    await daemon.stop();
    await node.run(...runc, 'delete', '--force', id).catch(() => undefined);
  };
  return {
    log: () => readFileSync(logFile, 'utf8'),
    pid: () =>
      until(`the process of ${id}`, async () => {
        const inside = (JSON.parse(await node.run(...runc, 'state', id)) as { readonly pid: number }).pid;
        // The same process, counted from outside: the one whose innermost but one id this is.
        const pids = execFileSync('sh', ['-c', `grep -l "^NSpid:.*\\s${inside}\\s" /proc/[0-9]*/status || true`], {
          encoding: 'utf8',
        });
        const pid = Number(/\/proc\/(\d+)\//.exec(pids)?.[1] ?? Number.NaN);
        // Until then it is runc, which prepares what the agent is to have.
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`${PROGRAM}\0`) && pid;
      }),
    exec: (command) =>
      node.run(...runc, 'exec', id, ...command).then(
        () => true,
        () => false,
      ),
    stop: () => end('TERM'),
    kill: () => end('KILL'),
  };
}
