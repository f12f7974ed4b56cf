import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import git from 'isomorphic-git';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';
import { redact } from '#shared/runtime/redact.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { LocalRepository } from '../revision/local-repository.ts';
import { NOTES_PREFIX } from './read-history.ts';

/** A server that takes longer does not answer at all. */
const MOST_MS: Millis = 5 * 60_000;

/**
 * Fetches what the clone's remote has, and the notes, whether or not the clone is set up to bring those along. By the user's own git,
 * which knows how to authenticate.
 *
 * @returns the revision that was fetched for the branch that is checked out; `HEAD` for a branch without upstream
 * @throws GitopsError `FETCH_FAILED`
 */
export async function fetchWithNotes(
  repository: LocalRepository,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const { remote, followed } = await upstreamOf(repository);
  // Beside what the clone is set up to fetch. With a "+": notes here are copies, and the server's are right.
  const notes = `remote.${remote}.fetch=+${NOTES_PREFIX}/*:${NOTES_PREFIX}/*`;
  const args = ['-C', repository.directory, '-c', notes, 'fetch', '--quiet', remote];
  await new Promise<void>((resolve, reject) => {
    execFile('git', args, { env, timeout: MOST_MS }, (error, _, stderr) => {
      if (error === null) resolve();
      else reject(failed(remote, codeOf(error) === 'ENOENT' ? 'git is not installed' : stderr));
    });
  });
  return followed ?? 'HEAD';
}

function failed(remote: string, why: string): GitopsError {
  const [first = 'git did not say why'] = redact(why)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return new GitopsError('FETCH_FAILED', `git fetch ${remote}: ${first}`);
}

/** As git has it: the remote of the branch that is checked out, `origin` where none is named. */
async function upstreamOf(
  repository: LocalRepository,
): Promise<{ readonly remote: string; readonly followed: string | undefined }> {
  const branch = /^refs\/heads\/(.+)$/.exec((await repository.branch()) ?? '')?.[1];
  const setting = async (name: string): Promise<string | undefined> =>
    branch === undefined
      ? undefined
      : ((await git.getConfig({ fs, gitdir: repository.gitdir, path: `branch.${branch}.${name}` })) as string);
  const [remote, merge] = [await setting('remote'), await setting('merge')];
  // A dot is this very repository.
  if (remote === undefined || remote === '.') return { remote: 'origin', followed: undefined };
  return { remote, followed: merge === undefined ? undefined : `${remote}/${merge.replace(/^refs\/heads\//, '')}` };
}
