import type { Annotator } from '#reconciler/git/notes/annotator.ts';
import type { FollowedRepository } from '#reconciler/git/following/followed-repository.ts';
import type { GitSource } from '#reconciler/git/source-port.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/** Where a process dies: at its n-th await of the outside, before the request goes out or when only the answer is missing. */
export interface Kill {
  readonly at: number;
  readonly when: 'before' | 'after';
}

/** A process that can die: after that nothing outside it ever answers, so that nothing of it goes on. */
export interface KillInjection {
  readonly dead: () => boolean;
  readonly die: () => void;
  /** Every await of the outside so far, in order: `sleep`, `patch kubeletnodes/status a` … */
  readonly awaits: readonly string[];
  readonly clock: (clock: Clock) => Clock;
  readonly kube: (kube: Kube) => Kube;
  readonly source: (source: GitSource) => GitSource;
  readonly followed: (repository: FollowedRepository) => FollowedRepository;
  readonly annotator: (annotator: Annotator) => Annotator;
}

const NEVER = new Promise<never>(() => undefined);

export function createKillInjection(death: Kill | null): KillInjection {
  const awaits: string[] = [];
  let dead = false;

  const guard = async <T>(what: string, act: () => Promise<T>): Promise<T> => {
    if (dead) return NEVER;
    awaits.push(what);
    const last = awaits.length === death?.at;
    if (last && death?.when === 'before') dead = true;
    if (dead) return NEVER;
    const outcome = await Promise.allSettled([act()]);
    if (last) dead = true;
    if (dead) return NEVER;
    if (outcome[0].status === 'rejected') throw outcome[0].reason;
    return outcome[0].value;
  };

  async function* each<T>(what: string, items: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await guard(what, () => iterator.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  }

  return {
    dead: () => dead,
    die: () => (dead = true),
    awaits,
    clock: (clock) => ({ ...clock, sleep: (ms, signal) => guard('sleep', () => clock.sleep(ms, signal)) }),
    kube: (kube) => mortalKube(kube, guard, each),
    source: (source) => ({
      ...source,
      resolve: (signal) => guard('git resolve', () => source.resolve(signal)),
      snapshot: (since, signal) => guard('git snapshot', () => source.snapshot(since, signal)),
      earlier: (oid, of, signal) => guard('git earlier', () => source.earlier(oid, of, signal)),
    }),
    followed: ({ line, notes }) => ({
      line: (...question) => guard('git line', () => line(...question)),
      notes: (...question) => guard('git notes', () => notes(...question)),
    }),
    annotator: (annotator) => ({
      ...annotator,
      annotate: (notes, signal) => guard('write notes', () => annotator.annotate(notes, signal)),
    }),
  };
}

/** Whether it matters that the request arrived although the answer did not. */
export const isWrite = (what: string): boolean => /^(create|patch|delete|write) /.test(what);

function mortalKube(
  kube: Kube,
  guard: <T>(what: string, act: () => Promise<T>) => Promise<T>,
  each: <T>(what: string, items: AsyncIterable<T>) => AsyncGenerator<T, void, void>,
): Kube {
  return {
    get: (place, name, signal) => guard(`get ${place.resource.plural} ${name}`, () => kube.get(place, name, signal)),
    list: (selection, signal) => guard(`list ${selection.resource.plural}`, () => kube.list(selection, signal)),
    watch: (selection, from, signal) => each(`watch ${selection.resource.plural}`, kube.watch(selection, from, signal)),
    create: (place, object, signal) =>
      guard(`create ${place.resource.plural} ${object.metadata.name}`, () => kube.create(place, object, signal)),
    mergePatch: (place, name, patch, options = {}, signal) => {
      const part = options.subresource === undefined ? '' : `/${options.subresource}`;
      return guard(`patch ${place.resource.plural}${part} ${name}`, () =>
        kube.mergePatch(place, name, patch, options, signal),
      );
    },
    delete: (place, name, precondition, signal) =>
      guard(`delete ${place.resource.plural} ${name}`, () => kube.delete(place, name, precondition, signal)),
  };
}
