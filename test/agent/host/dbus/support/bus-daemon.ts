import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real dbus-daemon on a socket of its own, where everybody may do everything. */
export interface BusDaemon {
  readonly socketPath: string;
  /** Stops answering, but keeps its connections. */
  freeze(): void;
  /** As a crash would end it; the socket stays. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** For a test's `skip` option. */
export const noBusDaemon: string | false =
  spawnSync('dbus-daemon', ['--version']).status === 0
    ? false
    : 'dbus-daemon is not installed (Debian: apt install dbus)';

/** @param mechanism of authentication, the only one that it offers */
export async function startBusDaemon(mechanism = 'EXTERNAL'): Promise<BusDaemon> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bus-'));
  const socketPath = join(directory, 'bus');
  const config = join(directory, 'bus.conf');
  await writeFile(config, configFor(socketPath, mechanism));
  let daemon: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (daemon === undefined) return;
    const ended = once(daemon, 'exit');
    daemon.kill('SIGKILL');
    daemon = undefined;
    await ended;
  };
  const start = async (): Promise<void> => {
    await rm(socketPath, { force: true });
    const args = [`--config-file=${config}`, '--nofork', '--nopidfile', '--print-address'];
    const child = spawn('dbus-daemon', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    daemon = child;
    // It prints its address when it listens.
    await once(child.stdout, 'data');
  };
  await start();
  return {
    socketPath,
    freeze: () => void daemon?.kill('SIGSTOP'),
    kill,
    start,
    async stop() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const configFor = (socketPath: string, mechanism: string): string => `
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=${socketPath}</listen>
  <auth>${mechanism}</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;
