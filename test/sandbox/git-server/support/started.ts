import type { TestContext } from 'node:test';
import { type GitServerOptions, type SandboxGitServer, startGitServer } from '#sandbox/git-server/server.ts';

/** A server that stops with the test. */
export async function started(t: TestContext, options: GitServerOptions = {}): Promise<SandboxGitServer> {
  const server = await startGitServer(options);
  t.after(() => server.stop());
  return server;
}
