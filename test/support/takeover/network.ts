import { KubeError } from '#shared/kube/kube-error.ts';
import type { Kube, WatchEvent } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { createEventQueue } from '#sandbox/api-server/watch/event-queue.ts';

/** What lies between a process and the API server, at one moment. */
export interface NetworkFaults {
  /** How long a request takes to arrive, and an answer to come back. */
  readonly thereMs: Millis;
  readonly backMs: Millis;
  readonly lost?: 'request' | 'answer';
  /** How far watches of these kinds are behind. */
  readonly lagMs?: Readonly<Record<string, Millis>>;
}

/** As the real client's limit for a whole call. */
const CALL_MS = 30_000;

/**
 * A network that delays and loses. Whoever gives up a call gives up only the answer: what was sent arrives all the same.
 * Events of one watch stay in order.
 */
export function network(kube: Kube, world: Clock, weather: () => NetworkFaults): Kube {
  const over = async <T>(act: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
    const { thereMs, backMs, lost } = weather();
    const travel = async (): Promise<T> => {
      await world.sleep(thereMs);
      if (lost === 'request') return never;
      const [done] = await Promise.allSettled([act()]);
      await world.sleep(backMs);
      if (lost === 'answer') return never;
      if (done.status === 'rejected') throw done.reason;
      return done.value;
    };
    const answered = new AbortController();
    try {
      return await Promise.race([travel(), givenUp(world, signal, answered.signal)]);
    } finally {
      answered.abort();
    }
  };
  return {
    get: (place, name, signal) => over(() => kube.get(place, name), signal),
    list: (selection, signal) => over(() => kube.list(selection), signal),
    watch: (selection, from, signal) =>
      delayed(
        kube.watch(selection, from, signal),
        world,
        () => weather().lagMs?.[selection.resource.plural] ?? 0,
        signal,
      ),
    create: (place, object, signal) => over(() => kube.create(place, object), signal),
    mergePatch: (place, name, patch, options, signal) =>
      over(() => kube.mergePatch(place, name, patch, options), signal),
    delete: (place, name, precondition, signal) => over(() => kube.delete(place, name, precondition), signal),
  };
}

const never = new Promise<never>(() => undefined);

async function givenUp(world: Clock, signal: AbortSignal | undefined, answered: AbortSignal): Promise<never> {
  const sooner = signal === undefined ? answered : AbortSignal.any([signal, answered]);
  await world.sleep(CALL_MS, sooner);
  if (answered.aborted) return never;
  throw new KubeError(signal?.aborted === true ? 'KUBE_ABORTED' : 'KUBE_TIMEOUT', 'the call was given up');
}

async function* delayed<T>(
  events: AsyncIterable<WatchEvent<T>>,
  world: Clock,
  lagMs: () => Millis,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const queue = createEventQueue<{ readonly event: WatchEvent<T>; readonly atMs: Millis }>(signal);
  const read = async (): Promise<void> => {
    for await (const event of events) queue.add({ event, atMs: world.monotonic() });
    queue.end();
  };
  const reading = read();
  for await (const { event, atMs } of queue.items()) {
    while (!signal.aborted && world.monotonic() < atMs + lagMs()) await world.sleep(250, signal);
    if (signal.aborted) return;
    yield event;
  }
  await reading;
}
