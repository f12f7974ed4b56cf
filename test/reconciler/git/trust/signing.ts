import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type NativeGit, nativeGit } from '../../../sandbox/git-server/support/native-git.ts';
import { WITHOUT_GIT, without } from '../../../support/required-tools.ts';

const run = promisify(execFile);

export const WITHOUT_SSH = without('ssh-keygen', ['-?'], 'nothing proves that we judge SSH signatures as git does');
export const WITHOUT_GPG = without('gpg', ['--version'], 'nothing proves that we judge OpenPGP signatures as git does');
export { WITHOUT_GIT };

/** A repository, and people who sign in it with the real ssh-keygen and gpg. */
export interface SigningRepository {
  readonly directory: string;
  readonly git: NativeGit;
  /** Makes a key. @returns the private key's file; its public line is in `<file>.pub` */
  sshKey(name: string, ...options: readonly string[]): Promise<string>;
  publicLine(key: string): Promise<string>;
  /** An empty commit on the present branch. @returns its name */
  commit(options?: CommitOptions): Promise<string>;
  /** The commit object's own bytes. */
  raw(oid: string): Promise<Buffer>;
  /** Writes bytes as a commit, whatever they say. */
  write(raw: Buffer): Promise<string>;
  gpg(home: string, ...args: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

export interface CommitOptions {
  readonly message?: string;
  /** RFC 3339. */
  readonly at?: string;
  readonly ssh?: string;
  /** Name of the key, and the directory that gpg has it in. */
  readonly gpg?: { readonly key: string; readonly home: string; readonly time?: string };
  readonly merge?: string;
  readonly encoding?: string;
}

export async function startSigning(): Promise<SigningRepository> {
  // Short: gpg-agent's socket is in here, and sockets' paths are.
  const directory = await mkdtemp(join(tmpdir(), 'sign-'));
  const work = join(directory, 'work');
  await mkdir(work);
  const git = nativeGit(work);
  await git('init', '--quiet', '--initial-branch=main');
  const homes = new Set<string>();
  // Two commits that say the same at the same time would be one.
  let commits = 0;

  async function gpg(home: string, ...args: readonly string[]): Promise<string> {
    const path = join(directory, home);
    if (!homes.has(home)) await mkdir(path, { recursive: true, mode: 0o700 });
    homes.add(home);
    const { stdout } = await run('gpg', ['--homedir', path, '--batch', '--quiet', '--yes', ...args]);
    return stdout;
  }

  async function commit(options: CommitOptions = {}): Promise<string> {
    const {
      message = `Change ${(commits += 1)}`,
      at = '2026-03-01T12:00:00Z',
      ssh,
      gpg: by,
      merge,
      encoding,
    } = options;
    const settings: string[] = [];
    if (ssh !== undefined) settings.push('gpg.format=ssh', `user.signingKey=${ssh}`);
    if (by !== undefined) {
      const program = join(directory, `gpg-${by.home}-${by.time ?? 'now'}`);
      const time = by.time === undefined ? '' : `--faked-system-time ${by.time}`;
      const script = `#!/bin/sh\nexec gpg --homedir '${join(directory, by.home)}' ${time} "$@"\n`;
      await writeFile(program, script, { mode: 0o755 });
      settings.push(`gpg.program=${program}`, `user.signingKey=${by.key}`);
    }
    if (encoding !== undefined) settings.push(`i18n.commitEncoding=${encoding}`);
    const sign = ssh !== undefined || by !== undefined ? ['-S'] : [];
    const what = merge === undefined ? ['commit', '--allow-empty'] : ['merge', '--no-ff', merge];
    const args = [...settings.flatMap((setting) => ['-c', setting]), ...what, ...sign, '-m', message];
    await run('git', args, {
      cwd: work,
      env: { ...git.environment, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at },
    });
    return git('rev-parse', 'HEAD');
  }

  return {
    directory,
    git,
    gpg,
    commit,
    async sshKey(name, ...options) {
      const file = join(directory, name);
      await run('ssh-keygen', ['-q', '-N', '', '-C', `${name}@example.com`, '-f', file, ...options]);
      return file;
    },
    publicLine: async (key) => (await readFile(`${key}.pub`, 'utf8')).trim(),
    async raw(oid) {
      const { stdout } = await run('git', ['cat-file', 'commit', oid], {
        cwd: work,
        env: git.environment,
        encoding: 'buffer',
      });
      return stdout;
    },
    async write(raw) {
      const file = join(directory, 'object');
      await writeFile(file, raw);
      return git('hash-object', '-t', 'commit', '-w', '--literally', file);
    },
    async remove() {
      for (const home of homes) {
        await run('gpgconf', ['--homedir', join(directory, home), '--kill', 'all']).catch(() => undefined);
      }
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
