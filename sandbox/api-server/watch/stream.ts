import type { ServerResponse } from 'node:http';
import type { Resource } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Api, Target } from '#sandbox/api-server/api.ts';
import { countIn, flagIn, versionIn } from '#sandbox/api-server/request/query.ts';
import { apiVersionOf } from '#sandbox/api-server/resources/registry.ts';
import { type Selection, selectionOf } from '#sandbox/api-server/selectors/selection.ts';
import { tooOld } from '#sandbox/api-server/status/status-refusals.ts';
import type { Json, StoredObject } from '#sandbox/api-server/stored-object.ts';
import { openEvents } from '#sandbox/api-server/watch/event-writer.ts';
import type { WatchHub } from '#sandbox/api-server/watch/hub.ts';
import { changeForSelection, type SelectedChange } from '#sandbox/api-server/watch/selected-change.ts';

export interface WatchRequest {
  readonly api: Api;
  readonly hub: WatchHub;
  readonly clock: Clock;
  readonly target: Target;
  readonly query: URLSearchParams;
  /** How the client wants objects: whole, metadata only, as rows of a table. */
  readonly project: (object: StoredObject) => Json;
  readonly response: ServerResponse;
}

/** Answers with a stream of events until the time asked for is over, or one side ends it. @throws Refusal before that */
export function streamWatch(request: WatchRequest): void {
  const { api, target, query, response, clock } = request;
  const selection = selectionOf(target, query);
  const from = versionIn(query) ?? 0;
  const timeoutMs = timeoutIn(request);
  const wantsAll = flagIn(query, 'sendInitialEvents');
  const past = pastChanges(api, target, selection, wantsAll ? 0 : from);

  const events = openEvents(response, request.project);
  if (past === undefined) {
    const oldest = api.store.of(target.served.resource).history.forgottenTo() + 1;
    events.error(tooOld(from, oldest).status());
    return;
  }
  for (const { type, object } of past) events.event(type, object);
  // Newer clients list by watching, and wait for this: `kubectl wait` of 1.37, for one.
  if (wantsAll) events.event('BOOKMARK', markAt(target.served.resource, api.store.version(), INITIAL_EVENTS_END));
  const leave = listen(request, selection, from, events.event);
  const over = new AbortController();
  response.on('close', () => {
    leave();
    over.abort();
  });
  void clock.sleep(timeoutMs, over.signal).then(() => response.end());
}

/** `timeoutSeconds`, or half an hour to an hour as kube-apiservers have it (--min-request-timeout). */
function timeoutIn({ query, api }: WatchRequest): Millis {
  const seconds = countIn(query, 'timeoutSeconds');
  return (seconds === 0 ? 1800 * (1 + api.random()) : seconds) * 1000;
}

/**
 * What happened since a version; without one (or from 0) all objects as they are, as if they had just been added.
 *
 * @returns undefined where some of it is forgotten
 */
function pastChanges(
  { store }: Api,
  { served }: Target,
  selection: Selection,
  from: number,
): readonly SelectedChange[] | undefined {
  const { all, history } = store.of(served.resource);
  if (from > 0) return history.since(from)?.flatMap((change) => changeForSelection(selection, change) ?? []);
  return all()
    .filter(selection.matches)
    .map((object) => ({ type: 'ADDED', object }));
}

/** Passes on what happens from now on. A version from the future is waited for: until then nothing is seen. */
function listen(
  { api, hub, target, query, response }: WatchRequest,
  selection: Selection,
  from: number,
  event: (type: string, object: StoredObject) => void,
): () => void {
  const { resource } = target.served;
  const { history } = api.store.of(resource);
  let marked = Math.max(from, history.newest());
  return hub.join(resource, selection.key, {
    heard(change) {
      const seen = change.version > from ? changeForSelection(selection, change) : undefined;
      if (seen !== undefined) event(seen.type, seen.object);
    },
    bookmark() {
      // None where nothing of the resource changed, as with kube-apiservers: silence is no sign of death.
      if (!flagIn(query, 'allowWatchBookmarks') || history.newest() <= marked) return;
      marked = history.newest();
      event('BOOKMARK', markAt(resource, marked));
    },
    end: (how) => (how === 'closed' ? response.end() : response.destroy()),
  });
}

/** An object of the type that is watched, with nothing but a version. */
const markAt = (resource: Resource, version: number, more: Json = {}): StoredObject =>
  ({
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { resourceVersion: String(version), creationTimestamp: null, ...more },
  }) as unknown as StoredObject;

const INITIAL_EVENTS_END = { annotations: { 'k8s.io/initial-events-end': 'true' } };
