import type { TestContext } from 'node:test';
import type { GitServerOptions, SandboxGitServer } from '#sandbox/git-server/server.ts';
import { startGitServer } from '#sandbox/git-server/server.ts';

/** A server that stops with the test. */
export async function started(t: TestContext, options: GitServerOptions = {}): Promise<SandboxGitServer> {
  const server = await startGitServer(options);
  t.after(() => server.stop());
  return server;
}

/** `count` small files in folders of ten. */
export function manyFiles(count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `pools/p${Math.floor(index / 10)}/file-${index % 10}.yaml`,
      `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: ${index}\n`,
    ]),
  );
}
