import * as fs from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import git from 'isomorphic-git';

/** A checkout with commits, made without the git program. */
export interface TestRepository {
  readonly directory: string;
  write(files: Readonly<Record<string, string | null>>): Promise<void>;
  /** Writes and commits. @returns the commit's name */
  commit(message: string, files: Readonly<Record<string, string | null>>, author?: string): Promise<string>;
  remove(): Promise<void>;
}

export async function createRepository(): Promise<TestRepository> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-repo-'));
  const repo = { fs, dir: directory };
  await git.init({ ...repo, defaultBranch: 'main' });
  let seconds = 1_750_000_000;
  const write = async (files: Readonly<Record<string, string | null>>): Promise<void> => {
    for (const [path, text] of Object.entries(files)) {
      if (text === null) await rm(join(directory, path));
      else {
        await mkdir(dirname(join(directory, path)), { recursive: true });
        await writeFile(join(directory, path), text);
      }
    }
  };
  return {
    directory,
    write,
    async commit(message, files, author = 'Ada') {
      await write(files);
      for (const [path, text] of Object.entries(files)) {
        if (text === null) await git.remove({ ...repo, filepath: path });
        else await git.add({ ...repo, filepath: path });
      }
      seconds += 3_600;
      const person = {
        name: author,
        email: `${author.toLowerCase()}@example.org`,
        timestamp: seconds,
        timezoneOffset: 0,
      };
      return git.commit({ ...repo, message, author: person, committer: person });
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Makes a repository of what is in a directory, with one commit. */
export async function commitAll(directory: string): Promise<void> {
  const repo = { fs, dir: directory };
  await git.init({ ...repo, defaultBranch: 'main' });
  await git.add({ ...repo, filepath: '.' });
  const author = { name: 'Ada', email: 'ada@example.org', timestamp: 1_750_000_000, timezoneOffset: 0 };
  await git.commit({ ...repo, message: 'Import', author });
}

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** A layer with these lines. */
export const layer = (...lines: readonly string[]): string => `${HEAD}${lines.map((line) => `${line}\n`).join('')}`;

/** A pool that selects nodes by one label. */
export const pool = (name: string, label: string, ...more: readonly string[]): string =>
  [
    'apiVersion: kubelet-gitops.dev/v1alpha1',
    'kind: KubeletPool',
    `metadata: {name: ${name}}`,
    'spec:',
    `  nodeSelector: {matchLabels: {pool: ${label}}}`,
    ...more.map((line) => `  ${line}`),
    '',
  ].join('\n');
