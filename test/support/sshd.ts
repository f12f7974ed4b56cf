import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../cluster/support/free-ports.ts';
import { without } from './required-tools.ts';

/** OpenSSH's server wants to be called by its whole path. */
const SSHD = ['/usr/sbin/sshd', '/usr/bin/sshd', '/usr/local/sbin/sshd'].find((path) => existsSync(path)) ?? 'sshd';

export const WITHOUT_SSHD =
  without(SSHD, ['-?'], 'nothing proves that repositories are read over ssh') ||
  without('ssh', ['-V'], 'nothing proves that repositories are read over ssh');

/** The real OpenSSH server on the loopback interface, which lets this test's user run git. */
export interface Sshd {
  readonly port: number;
  readonly user: string;
  /** The client's files, as a mounted Secret has them: `ssh-privatekey` and `known_hosts`. */
  readonly credentials: string;
  /** The address of a repository in a directory of this machine. */
  url(directory: string): string;
  /** Everything on the server side has ended. */
  stop(): Promise<void>;
}

export interface SshdOptions {
  /** Whether the server passes on which version of git's protocol is asked for. Default true, as forges do. */
  readonly acceptsVersion?: boolean;
  /** Instead of what the client asks for. */
  readonly forceCommand?: string;
}

export async function startSshd(options: SshdOptions = {}): Promise<Sshd> {
  const directory = await mkdtemp(join(tmpdir(), 'sshd-'));
  const file = (name: string): string => join(directory, name);
  const credentials = file('credentials');
  await mkdir(credentials);
  // What a server run by root wants for itself.
  if (userInfo().uid === 0) await mkdir('/run/sshd', { recursive: true });
  const keygen = (path: string): void => {
    const { status, stderr } = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`ssh-keygen: ${stderr}`);
  };
  keygen(file('host'));
  keygen(join(credentials, 'ssh-privatekey'));
  await writeFile(file('authorized'), await readFile(join(credentials, 'ssh-privatekey.pub')));
  await chmod(file('authorized'), 0o600);
  const [port = 0] = await freePorts(1);
  await writeFile(
    join(credentials, 'known_hosts'),
    `[127.0.0.1]:${port} ${await readFile(`${file('host')}.pub`, 'utf8')}`,
  );
  await writeFile(
    file('config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${file('host')}`,
      `AuthorizedKeysFile ${file('authorized')}`,
      `PidFile ${file('pid')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin prohibit-password',
      'MaxStartups 100',
      'SetEnv GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null',
      ...((options.acceptsVersion ?? true) ? ['AcceptEnv GIT_PROTOCOL'] : []),
      ...(options.forceCommand === undefined ? [] : [`ForceCommand ${options.forceCommand}`]),
    ].join('\n'),
  );
  const server = spawn(SSHD, ['-D', '-e', '-f', file('config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  server.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  try {
    await untilListening(port, server, () => said);
  } catch (error) {
    server.kill('SIGKILL');
    throw error;
  }
  const { username: user } = userInfo();
  return {
    port,
    user,
    credentials,
    url: (path) => `ssh://${user}@127.0.0.1:${port}${path}`,
    async stop() {
      const gone = once(server, 'exit');
      if (server.exitCode === null && server.kill()) await gone;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function untilListening(port: number, server: ChildProcess, said: () => string): Promise<void> {
  for (let tries = 0; tries < 5_000; tries += 1) {
    if (server.exitCode !== null) throw new Error(`sshd ended with ${server.exitCode}: ${said()}`);
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await sleep(25);
  }
  throw new Error(`sshd does not listen: ${said()}`);
}
