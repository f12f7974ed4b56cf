import type { TestContext } from 'node:test';
import { systemClock } from '#shared/runtime/clock.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { isGitError, type GitErrorCode } from '#reconciler/git/errors.ts';
import { createGitSource, type GitSourceOptions } from '#reconciler/git/git-source.ts';
import type { GitSource } from '#reconciler/git/source-port.ts';
import { type BackendOptions, type GitHttpBackend, startGitHttpBackend } from '../../../support/git-http-backend.ts';
import { wayTo } from './transport.ts';
import { type RawRepository, rawRepository } from './repository.ts';

export interface Started {
  readonly server: GitHttpBackend;
  readonly repository: RawRepository;
  /** A source on the server's branch `main`. */
  source(options?: Partial<GitSourceOptions>): GitSource;
}

export async function start(t: TestContext, options: BackendOptions = {}): Promise<Started> {
  const server = await startGitHttpBackend(t, options);
  return {
    server,
    repository: rawRepository(server.git.directory),
    source: (more) =>
      createGitSource({
        ...ORDINARY,
        ...wayTo(server.url, server.git.directory),
        ...more,
        // On a clock of its own a test means the limits of production.
        ...(more?.clock === undefined ? { limits: { ...PATIENT, ...more?.limits } } : {}),
      }),
  };
}

const ORDINARY = { branch: 'main', credentials: fileCredentials(undefined), clock: systemClock };

/** Of what is real here, on a machine that may stand still for a while, nothing is given up. */
export const PATIENT = { connectMs: 120_000, idleMs: 120_000, totalMs: 600_000 } as const;

/** A signal that ends a test that hangs. */
export const soon = (): AbortSignal => AbortSignal.timeout(180_000);

/** For assert.rejects: a GitError with this code. */
export const failsWith =
  (code: GitErrorCode, message?: RegExp) =>
  (error: unknown): boolean => {
    if (!isGitError(error, code)) throw error;
    if (message !== undefined && !message.test(error.message)) throw error;
    return true;
  };

/** `count` pools of one small file each. */
export function manyPools(count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `pools/pool-${String(index).padStart(5, '0')}/kubelet.yaml`,
      `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: ${index}\n`,
    ]),
  );
}
