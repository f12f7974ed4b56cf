import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StatusView } from '#cli/status/render.ts';
import type { Sandbox, SandboxOptions } from '#sandbox/sandbox.ts';
import { type CommitOptions, type SigningRepository, startSigning } from '../reconciler/git/trust/signing.ts';
import { quickFiles, startWorld } from './support.ts';

/** A cluster of one worker that trusts the SSH key of Ada alone, and a checkout of its branch with the template's files staged. */
export interface SignedWorld {
  readonly world: Sandbox;
  readonly people: SigningRepository;
  /** Her key's file. */
  readonly ada: string;
  readonly files: Readonly<Record<string, string>>;
  /** Writes files, and stages everything. */
  put(files: Readonly<Record<string, string>>): Promise<void>;
  /** Commits what is staged, and pushes it to the branch. @returns the commit */
  push(options?: CommitOptions): Promise<string>;
  inForce(commit: string): Promise<StatusView>;
  refused(commit: string): Promise<StatusView>;
  stop(): Promise<void>;
}

export async function startSignedWorld(options: Partial<SandboxOptions> = {}): Promise<SignedWorld> {
  const people = await startSigning();
  const ada = await people.sshKey('ada', '-t', 'ed25519');
  const trustedKeysDir = join(people.directory, 'trusted');
  await mkdir(trustedKeysDir);
  await writeFile(join(trustedKeysDir, 'allowed_signers'), `ada@example.com ${await people.publicLine(ada)}\n`);
  const world = await startWorld({ trustedKeysDir, ...options });
  const files = await quickFiles();
  const put = async (changed: Readonly<Record<string, string>>): Promise<void> => {
    for (const [path, content] of Object.entries(changed)) {
      await mkdir(join(people.git.directory, path, '..'), { recursive: true });
      await writeFile(join(people.git.directory, path), content);
    }
    await people.git('add', '-A');
  };
  await put(files);
  return {
    world,
    people,
    ada,
    files,
    put,
    async push(how) {
      const oid = await people.commit(how);
      await people.git('push', '--quiet', '--force', world.git.url, 'HEAD:refs/heads/main');
      return oid;
    },
    inForce: (oid) => world.until('the commit is in force', ({ source }) => source.commit === oid),
    refused: (oid) => world.until('the commit is refused', ({ source }) => source.refusedCommit === oid),
    async stop() {
      await world.stop();
      await people.remove();
    },
  };
}
