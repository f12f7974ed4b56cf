import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { createRemote } from '#reconciler/git/create-remote.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import type { Remote } from '#reconciler/git/remote.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { startGitHttpBackend, type GitHttpBackend } from '../../../support/git-http-backend.ts';
import { PATIENT } from '../support/start.ts';
import { type CommitOptions, type SigningRepository, startSigning } from './signing.ts';

/** People who sign and push, and the real server that they push to. */
export interface Served {
  readonly people: SigningRepository;
  readonly server: GitHttpBackend;
  readonly remote: Remote;
  /** Writes files, or removes them, and commits that. @returns the commit's name */
  save(files: Readonly<Record<string, string | null>>, options?: CommitOptions): Promise<string>;
  /** Pushes branches and tags: all of them where none is named. */
  push(...refspecs: readonly string[]): Promise<void>;
  /** Makes files of public keys. @returns the directory */
  keysOf(name: string, ...keys: readonly string[]): Promise<string>;
}

/** @param partialClones whether the server hands out single objects, as forges do */
export async function serveSigned(t: TestContext, partialClones = true): Promise<Served> {
  const server = await startGitHttpBackend(t);
  if (!partialClones) await server.git('config', 'uploadpack.allowFilter', 'false');
  const people = await startSigning();
  t.after(() => people.remove());
  const options = { url: server.url, credentials: fileCredentials(undefined), limits: PATIENT, clock: systemClock };
  return {
    people,
    server,
    remote: createRemote(options),
    async save(files, commit) {
      for (const [path, content] of Object.entries(files)) {
        const file = join(people.git.directory, path);
        await mkdir(dirname(file), { recursive: true });
        if (content === null) await people.git('rm', '--quiet', path);
        else await writeFile(file, content);
      }
      await people.git('add', '-A');
      return people.commit(commit);
    },
    push: async (...refspecs) =>
      void (await people.git(
        'push',
        '--quiet',
        '--force',
        server.git.directory,
        ...(refspecs.length > 0 ? refspecs : ['refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*']),
      )),
    async keysOf(name, ...keys) {
      const directory = join(people.directory, `keys-of-${name}`);
      await mkdir(directory);
      const lines = await Promise.all(keys.map(async (key) => `${name}@example.com ${await people.publicLine(key)}\n`));
      await writeFile(join(directory, 'signers'), lines.join(''));
      return directory;
    },
  };
}
