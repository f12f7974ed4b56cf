import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Kube, Resource } from '#shared/kube/kube.ts';

/** One object of the API server, of which any reading may throw. */
export interface ThrowingObject {
  readonly kube: Kube;
  /** How often it was read so far. */
  reads(): number;
  /** Those at which it threw, dotted. */
  readonly thrown: ReadonlySet<string>;
  /** It can be read from now on. */
  heal(): void;
}

/** What a client has looked at before anybody else does. */
const CHECKED: readonly string[] = ['metadata', 'metadata.name', 'metadata.namespace', 'metadata.resourceVersion'];

/**
 * The same API server, but reading one object throws from the nth reading on, wherever that is: nobody knows which part of the
 * program comes upon it first.
 *
 * @param inFile the end of a path: only what this file asks for throws, itself or through what it calls
 */
export function throwingObject(
  kube: Kube,
  resource: Resource,
  isIt: (name: string) => boolean,
  from: number | (() => boolean),
  inFile = '',
): ThrowingObject {
  let reads = 0;
  let isHealed = false;
  const thrown = new Set<string>();
  const wrap = <O extends object>(inner: O, at: string): O =>
    new Proxy(inner, {
      // No plain object: who copies plain values does not look into it.
      getPrototypeOf: () => (Array.isArray(inner) ? Array.prototype : null),
      get(target, key, receiver): unknown {
        const value: unknown = Reflect.get(target, key, receiver);
        if (typeof key === 'symbol' || (Array.isArray(target) && typeof value === 'function')) return value;
        const path = at === '' ? key : `${at}.${key}`;
        if (!CHECKED.includes(path)) {
          reads += 1;
          const isTurn = typeof from === 'number' ? reads >= from : from();
          if (isTurn && !isHealed && isAskedBy(inFile)) {
            thrown.add(path);
            throw new RangeError('poison');
          }
        }
        return typeof value === 'object' && value !== null ? wrap(value, path) : value;
      },
    });
  const seen = <T extends KubeObject>(of: Resource, object: T): T =>
    of === resource && isIt(object.metadata.name) ? wrap(object, '') : object;
  return {
    reads: () => reads,
    thrown,
    heal: () => void (isHealed = true),
    kube: {
      ...kube,
      async get<T extends KubeObject>(...[place, ...more]: Parameters<Kube['get']>) {
        const object = await kube.get<T>(place, ...more);
        return object === null ? null : seen(place.resource, object);
      },
      async list(selection, signal, trim = (object) => object) {
        const { items, ...rest } = await kube.list(selection, signal);
        return { ...rest, items: items.map((item) => trim(seen(selection.resource, item as never))) };
      },
      async *watch(selection, start, signal) {
        for await (const event of kube.watch(selection, start, signal)) {
          yield event.type === 'BOOKMARK'
            ? event
            : { ...event, object: seen(selection.resource, event.object as never) };
        }
      },
      create: async (place, object, signal) => seen(place.resource, await kube.create(place, object, signal)),
      async mergePatch<T extends KubeObject>(...[place, ...more]: Parameters<Kube['mergePatch']>) {
        return seen(place.resource, await kube.mergePatch<T>(place, ...more));
      },
    },
  };
}

function isAskedBy(file: string): boolean {
  if (file === '') return true;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  const { stack = '' } = new Error('who asks?');
  Error.stackTraceLimit = stackTraceLimit;
  return stack.includes(`/${file}:`);
}
