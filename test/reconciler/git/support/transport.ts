import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { SshOptions } from '#reconciler/git/remote.ts';

/** A program that is called as ssh is, and runs the command here instead of elsewhere. */
export interface LocalSsh {
  readonly options: SshOptions;
  url(directory: string): string;
  remove(): Promise<void>;
}

/** The whole conversation is that of the real git; only the wire and its encryption are missing, and the time they take. */
const PROGRAM = `#!/bin/sh
for last; do :; done
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
exec sh -c "$last"
`;

export async function localSsh(): Promise<LocalSsh> {
  const directory = await mkdtemp(join(tmpdir(), 'local-ssh-'));
  const program = join(directory, 'ssh');
  await writeFile(program, PROGRAM);
  await chmod(program, 0o755);
  for (const name of ['ssh-privatekey', 'known_hosts']) await writeFile(join(directory, name), 'not looked at\n');
  return {
    options: { directory, program },
    url: (path) => `ssh://git@127.0.0.1${path}`,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

let way: LocalSsh | null = null;

/** From here on, sources and annotators that `start` hands out go over ssh. */
export function goOverSsh(ssh: LocalSsh): void {
  way = ssh;
}

/** The same repository by the way that this process goes: its address and what that takes. */
export function wayTo(http: string, directory: string): { readonly url: string; readonly ssh?: SshOptions } {
  return way === null ? { url: http } : { url: way.url(directory), ssh: way.options };
}

/** `it` for tests that count or spoil HTTP requests: over ssh they have no meaning, and are not there. */
export function itOverHttp(name: string, test: (t: TestContext) => Promise<void>): void {
  if (way === null) void it(name, test);
}
