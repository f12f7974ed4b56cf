import type { Lease, LeaseSpec } from '#reconciler/cluster/leader/lease.ts';
import { KubeError, type KubeErrorCode } from '#shared/kube/kube-error.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/** What befalls one call: how long each way takes, and whether the request or the answer is lost on it. */
export interface Fate {
  readonly thereMs: number;
  readonly backMs: number;
  readonly lost?: 'request' | 'answer' | undefined;
}

export interface LeaseStore {
  readonly lease: Lease | null;
  /** Calls that reached the store: `create a`, `get`, `write a` … */
  readonly calls: readonly string[];
  /** The store as one client reaches it; `fate` is asked for every call. */
  kubeWith(fate: () => Fate): Kube;
  /** As an administrator would. */
  replace(lease: Lease | null): void;
}

/** The Leases of an API server: one object, resource versions, and a network in front that delays and loses. */
export function leaseStore(world: Clock): LeaseStore {
  let lease: Lease | null = null;
  let version = 0;
  const calls: string[] = [];

  const put = (next: Lease): Lease => {
    version += 1;
    lease = { ...next, metadata: { ...next.metadata, resourceVersion: String(version) } };
    return lease;
  };
  const create = (object: Lease): Lease => {
    calls.push(`create ${object.spec?.holderIdentity}`);
    if (lease !== null) throw refusal('KUBE_ALREADY_EXISTS');
    return put(object);
  };
  const patch = (body: {
    readonly metadata: { readonly resourceVersion?: string };
    readonly spec: LeaseSpec;
  }): Lease => {
    calls.push(`write ${body.spec.holderIdentity}`);
    if (lease === null) throw refusal('KUBE_NOT_FOUND');
    if (body.metadata.resourceVersion !== lease.metadata.resourceVersion) throw refusal('KUBE_CONFLICT');
    return put({ ...lease, spec: { ...lease.spec, ...body.spec } });
  };
  const get = (): Lease | null => {
    calls.push('get');
    return lease;
  };

  /** The caller may give up at any time; what it sent arrives all the same. */
  const over = async <T>({ thereMs, backMs, lost }: Fate, act: () => T, signal?: AbortSignal): Promise<T> => {
    const travel = async (): Promise<T> => {
      await world.sleep(thereMs);
      if (lost === 'request') return new Promise(() => undefined);
      const done = act();
      await world.sleep(backMs);
      return lost === 'answer' ? new Promise(() => undefined) : done;
    };
    const gaveUp = new Promise<never>((_resolve, reject) => {
      const abort = (): void => reject(refusal('KUBE_ABORTED'));
      if (signal?.aborted === true) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
    gaveUp.catch(() => undefined);
    return Promise.race([travel(), gaveUp]);
  };

  return {
    get lease() {
      return lease;
    },
    calls,
    kubeWith: (fate) =>
      ({
        get: (_place: unknown, _name: string, signal?: AbortSignal) => over(fate(), get, signal),
        create: (_place: unknown, object: Lease, signal?: AbortSignal) => over(fate(), () => create(object), signal),
        mergePatch: (_place: unknown, _name: string, body: never, _options: unknown, signal?: AbortSignal) =>
          over(fate(), () => patch(body), signal),
      }) as unknown as Kube,
    replace(next) {
      if (next === null) lease = null;
      else put(next);
    },
  };
}

const refusal = (code: KubeErrorCode): KubeError => new KubeError(code, code);

/** A machine's own clock: it runs at its own rate, and what it calls now is its own affair. */
export function machineClock(world: Clock, rate: number, wallSkewMs = 0): Clock {
  return {
    now: () => world.now() + wallSkewMs,
    monotonic: () => world.monotonic() * rate,
    sleep: (ms, signal) => world.sleep(ms / rate, signal),
  };
}
