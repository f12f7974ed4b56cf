import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Somebody's clone of a repository on a forge. */
export interface Clone {
  readonly directory: string;
  readonly git: (...args: readonly string[]) => Promise<string>;
  /** Commits these files and pushes the branch. @returns the commit */
  readonly push: (files: Readonly<Record<string, string>>, message: string, branch?: string) => Promise<string>;
}

/** @param url with user and token */
export async function cloneInto(directory: string, url: string): Promise<Clone> {
  await mkdir(directory, { recursive: true });
  const who = { name: 'Ada', email: 'ada@example.com' };
  const env = {
    PATH: process.env['PATH'],
    HOME: directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: who.name,
    GIT_AUTHOR_EMAIL: who.email,
    GIT_COMMITTER_NAME: who.name,
    GIT_COMMITTER_EMAIL: who.email,
  };
  const git: Clone['git'] = async (...args) => {
    const { stdout } = await promisify(execFile)('git', args, { cwd: directory, env, timeout: 120_000 });
    return stdout.trim();
  };
  await git('init', '--quiet', '--initial-branch=main');
  await git('remote', 'add', 'origin', url);
  return {
    directory,
    git,
    async push(files, message, branch = 'main') {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(directory, path)), { recursive: true });
        await writeFile(join(directory, path), text);
      }
      await git('add', '--all');
      await git('commit', '--quiet', '--message', message);
      await git('push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`);
      return git('rev-parse', 'HEAD');
    },
  };
}
