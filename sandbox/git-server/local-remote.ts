import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SshOptions } from '#reconciler/git/remote.ts';
import { gitEnvironment } from './git-program.ts';

/** What the reconciler follows a repository with that no server serves. */
export interface LocalRemote {
  readonly url: string;
  readonly ssh: SshOptions;
}

/**
 * A repository of this machine for the reconciler, which reads over https and ssh alone: in place of ssh stands a script that runs
 * the same command of git here.
 *
 * @param root where its files go, beside the repository
 */
export async function connectLocally(root: string, repository: string): Promise<LocalRemote> {
  const directory = join(root, 'ssh');
  await mkdir(directory);
  for (const name of ['identity', 'known_hosts']) await writeFile(join(directory, name), '');
  const quoted = (text: string | undefined): string => `'${(text ?? '').replaceAll("'", String.raw`'\''`)}'`;
  const environment = Object.entries(gitEnvironment(root)).map(([name, value]) => `export ${name}=${quoted(value)}`);
  const script = ['#!/bin/sh', ...environment, 'for command; do :; done', 'eval "exec $command"', ''];
  const program = join(directory, 'instead-of-ssh');
  await writeFile(program, script.join('\n'), { mode: 0o700 });
  return { url: `ssh://git@localhost${repository}`, ssh: { directory, program } };
}
