import { createKube, type KubeOptions } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { isKubeError, type KubeError } from '#shared/kube/kube-error.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';

export const AT_NODES = { resource: NODES };

/** Of what is real here, on a machine that may stand still for a while, nothing is given up. */
export const PATIENT = { connectMs: 120_000, callMs: 120_000 } as const;

/** The client under test, against one server. */
export function kubeFor(server: { readonly url: string }, options: Partial<KubeOptions> = {}): Kube {
  return createKube({
    server: server.url,
    credentials: staticCredentials(),
    clock: systemClock,
    log: silentLog,
    userAgent: 'test/1',
    ...options,
    // On a clock of its own a test means the limits of production.
    ...(options.clock === undefined ? { timeouts: { ...PATIENT, ...options.timeouts } } : {}),
  });
}

/** The KubeError that a call ends with; fails where it ends otherwise. */
export async function refusalOf(call: Promise<unknown>): Promise<KubeError> {
  try {
    await call;
  } catch (error) {
    if (isKubeError(error)) return error;
    throw error;
  }
  throw new Error('the call succeeded');
}

/** Everything that a watch says until it ends. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}
