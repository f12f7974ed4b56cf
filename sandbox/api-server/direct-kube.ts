import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Call } from '#shared/kube/kube-call.ts';
import type { Kube, Listed, PatchOptions, Place, Selection, WatchStart, WatchEvent } from '#shared/kube/kube.ts';
import { refusalError } from '#shared/kube/response-error.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Api, NamedTarget, Target } from '#sandbox/api-server/api.ts';
import { create } from '#sandbox/api-server/operations/create.ts';
import { mergePatch } from '#sandbox/api-server/operations/merge-patch.ts';
import { list } from '#sandbox/api-server/operations/read-objects.ts';
import { remove } from '#sandbox/api-server/operations/remove.ts';
import { type Selection as Narrowing, selectionOf } from '#sandbox/api-server/selectors/selection.ts';
import { Refusal } from '#sandbox/api-server/status/refusal.ts';
import { noSuchPath, tooOld } from '#sandbox/api-server/status/status-refusals.ts';
import { keyOf } from '#sandbox/api-server/store/collection.ts';
import { changeForSelection } from '#sandbox/api-server/watch/selected-change.ts';
import type { WatchHub } from '#sandbox/api-server/watch/hub.ts';
import { createEventQueue } from '#sandbox/api-server/watch/event-queue.ts';

/**
 * The API server's operations as a client without a connection: the same rules, conflicts and refusals, but no HTTP, no
 * rights and no time. Every call is carried out before it returns; only its promise comes later.
 */
export function directKube(api: Api, hub: WatchHub, clock: Clock): Kube {
  return {
    get: <T extends KubeObject>(place: Place, name: string) =>
      answer(api, { verb: 'get', ...place, name }, () => {
        const { served, namespace } = targetOf(api, place, name);
        return (api.store.of(served.resource).get(keyOf(namespace, name)) ?? null) as T | null;
      }),
    list: <T extends KubeObject>(selection: Selection) =>
      answer(api, { verb: 'list', ...selection }, (): Listed<T> => {
        const { items, metadata } = list(api, targetOf(api, selection), queryOf(selection));
        return {
          items: items as readonly KubeObject[] as readonly T[],
          resourceVersion: String(metadata['resourceVersion']),
        };
      }),
    watch: (selection, since, signal) => watch(api, hub, clock, selection, since, signal),
    create: <T extends KubeObject>(place: Place, object: T) =>
      answer(
        api,
        { verb: 'create', ...place },
        () => create(api, targetOf(api, place), bodyOf(place, object)) as KubeObject as T,
      ),
    mergePatch: <T extends KubeObject>(
      place: Place,
      name: string,
      patch: Readonly<Record<string, unknown>>,
      { subresource, lists }: PatchOptions = {},
    ) =>
      answer(api, { verb: 'patch', ...place, name, ...(subresource && { subresource }) }, () => {
        const target: NamedTarget = { ...targetOf(api, place, name), subresource };
        return mergePatch(api, target, { body: patch, strategic: lists === 'strategic' }) as KubeObject as T;
      }),
    delete: (place, name, preconditions) =>
      answer(api, { verb: 'delete', ...place, name }, () => {
        if (api.store.of(place.resource).get(keyOf(place.namespace, name)) === undefined) return;
        remove(api, targetOf(api, place, name), { preconditions });
      }),
  };
}

async function answer<T>(api: Api, call: Call, act: () => T): Promise<T> {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw refusalError(call, { status: error.code, body: error.status() }, api.now());
  }
}

async function* watch<T extends KubeObject>(
  api: Api,
  hub: WatchHub,
  clock: Clock,
  selection: Selection,
  { version, lastsMs }: WatchStart,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const call: Call = { verb: 'watch', ...selection };
  const target = targetOf(api, selection);
  const { resource } = target.served;
  const narrowing = selectionOf(target, queryOf(selection));
  const { history } = api.store.of(resource);
  const past = history.since(Number(version));
  if (past === undefined) {
    const refusal = tooOld(Number(version), history.forgottenTo() + 1);
    throw refusalError(call, { status: refusal.code, body: refusal.status() }, api.now());
  }
  const queue = createEventQueue<WatchEvent<T>>(signal);
  const hear = (change: Parameters<typeof changeForSelection>[1], within: Narrowing): void => {
    const seen = changeForSelection(within, change);
    if (seen !== undefined) queue.add({ type: seen.type, object: seen.object as KubeObject as T });
  };
  for (const change of past) hear(change, narrowing);
  const leave = hub.join(resource, narrowing.key, {
    heard: (change) => hear(change, narrowing),
    bookmark: () => undefined,
    end: queue.end,
  });
  const over = new AbortController();
  void clock.sleep(lastsMs, over.signal).then(queue.end);
  try {
    yield* queue.items();
  } finally {
    over.abort();
    leave();
  }
}

function targetOf(api: Api, { resource, namespace }: Place, name = ''): NamedTarget & Target {
  const served = api.registry.find(resource.group, resource.version, resource.plural);
  if (served === undefined) throw noSuchPath();
  return { served, namespace: resource.namespaced ? namespace : undefined, name, subresource: undefined };
}

const queryOf = ({ labelSelector = '', fieldSelector = '' }: Selection): URLSearchParams =>
  new URLSearchParams({ labelSelector, fieldSelector });

/** As a client without types may leave it out. */
function bodyOf({ resource: { group, version, kind } }: Place, object: KubeObject): KubeObject {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, ...structuredClone(object) };
}
