import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError } from '../errors.ts';
import type { SshAddress } from './address.ts';

/** Names of the files, as `kubectl create secret generic --type=kubernetes.io/ssh-auth` and Flux know them. */
const KEYS = ['ssh-privatekey', 'identity'];
const KNOWN_HOSTS = 'known_hosts';

/** The files on ssh's command line. */
export interface SshFiles {
  readonly key: string;
  readonly knownHosts: string;
}

/** @throws GitError `GIT_CREDENTIALS_UNREADABLE` */
export async function findSshFiles(directory: string | undefined): Promise<SshFiles> {
  if (directory === undefined) {
    throw unreadable('there is no directory of git credentials, and over ssh nobody reads anonymously');
  }
  // ssh splits some of its settings at blanks and fills in what stands behind a percent sign.
  if (!/^[\w@.,+/-]+$/.test(directory))
    throw unreadable(`the path ${directory} has characters in it that ssh misreads`);
  const found = await Promise.all([...KEYS, KNOWN_HOSTS].map((name) => present(join(directory, name))));
  const [key] = found.slice(0, KEYS.length).filter((file) => file !== null);
  const knownHosts = found.at(-1) ?? null;
  if (key === undefined) throw unreadable(`the directory of git credentials ${directory} has no file "${KEYS[0]}"`);
  if (knownHosts === null) {
    throw unreadable(
      `the directory of git credentials ${directory} has no file "${KNOWN_HOSTS}", without which anybody could ` +
        'pass for the git server: make it with ssh-keyscan, and compare with what the forge publishes',
    );
  }
  return { key, knownHosts };
}

async function present(file: string): Promise<string | null> {
  try {
    await access(file, constants.R_OK);
    return file;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw unreadable(`${file} cannot be read (${codeOf(error) ?? 'for an unknown reason'})`);
  }
}

function unreadable(why: string): GitError {
  return new GitError('GIT_CREDENTIALS_UNREADABLE', why);
}

/**
 * What ssh is called with: one key, one list of known hosts, nothing of any configuration, nothing that it could ask a person,
 * and nothing that a server could make it do but run this one command.
 */
export function sshArguments(
  { user, host, port, path }: SshAddress,
  { key, knownHosts }: SshFiles,
  service: string,
  connectSeconds: number,
): readonly string[] {
  const options = {
    BatchMode: 'yes',
    StrictHostKeyChecking: 'yes',
    UserKnownHostsFile: knownHosts,
    GlobalKnownHostsFile: '/dev/null',
    UpdateHostKeys: 'no',
    CheckHostIP: 'no',
    IdentityFile: key,
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    PreferredAuthentications: 'publickey',
    ClearAllForwardings: 'yes',
    ForwardAgent: 'no',
    PermitLocalCommand: 'no',
    ControlMaster: 'no',
    ControlPath: 'none',
    ConnectTimeout: String(connectSeconds),
    ConnectionAttempts: '1',
    ServerAliveInterval: '15',
    SendEnv: 'GIT_PROTOCOL',
    LogLevel: 'ERROR',
  };
  const quoted = `'${path.replaceAll("'", String.raw`'\''`)}'`;
  return [
    '-F',
    'none',
    '-T',
    ...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
    ...(port === null ? [] : ['-p', String(port)]),
    '-l',
    user,
    '--',
    host,
    `${service} ${quoted}`,
  ];
}
