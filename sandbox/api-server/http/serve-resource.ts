import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#shared/runtime/clock.ts';
import type { ApiCall, ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import { isNodeProxy, proxyToNode } from '#sandbox/api-server/http/node-proxy.ts';
import { projectionFor } from '#sandbox/api-server/http/projection.ts';
import { objectIn, optionsIn, patchIn, readBytes } from '#sandbox/api-server/request/request-body.ts';
import { answerJson, answerText } from '#sandbox/api-server/http/respond.ts';
import type { Api, NamedTarget } from '#sandbox/api-server/api.ts';
import { create } from '#sandbox/api-server/operations/create.ts';
import { evict, isEviction } from '#sandbox/api-server/operations/evict.ts';
import { mergePatch } from '#sandbox/api-server/operations/merge-patch.ts';
import { isLog, podLog } from '#sandbox/api-server/operations/pod-log.ts';
import { versionIn } from '#sandbox/api-server/request/query.ts';
import { get, list } from '#sandbox/api-server/operations/read-objects.ts';
import { remove } from '#sandbox/api-server/operations/remove.ts';
import { update } from '#sandbox/api-server/operations/replace.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import { methodNotAllowed, notFound, tooNew } from '#sandbox/api-server/status/status-refusals.ts';
import type { WatchHub } from '#sandbox/api-server/watch/hub.ts';
import { streamWatch } from '#sandbox/api-server/watch/stream.ts';

export interface Served {
  readonly api: Api;
  readonly hub: WatchHub;
  readonly clock: Clock;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly call: ApiCall;
}

/** Carries out a request about a resource. @throws Refusal */
export async function serveResource(
  { api, hub, clock }: Served,
  served: ServedResource,
  of: ResourceCall,
  { request, response, call }: Exchange,
): Promise<void> {
  const { query } = call;
  if (isEviction(served, of)) {
    const evicted = evict(api, served, of, objectIn(request, await readBytes(request)));
    return answerJson(request, response, 201, evicted);
  }
  if (isLog(of)) {
    const pod = { served, namespace: of.namespace, name: of.name ?? '', subresource: undefined };
    return answerText(response, 200, podLog(api, pod, query));
  }
  if (isNodeProxy(of)) return proxyToNode(api, of, call, response);
  const target = targetOf(served, of);
  const { one, many } = projectionFor(request, served, query, api.now);
  const bytes = await readBytes(request);
  const answer = (code: number, body: unknown): void => answerJson(request, response, code, body);
  switch (of.verb) {
    case 'get':
      await reachVersion(api, clock, query);
      return answer(200, one(get(api, target)));
    case 'list':
      await reachVersion(api, clock, query);
      return answer(200, many(list(api, target, query)));
    case 'watch':
      return streamWatch({ api, hub, clock, target, query, project: one, response });
    case 'create':
      if (of.name !== undefined) throw methodNotAllowed();
      return answer(201, one(create(api, target, objectIn(request, bytes))));
    case 'update': {
      const { object, created } = update(api, target, objectIn(request, bytes));
      return answer(created ? 201 : 200, one(object));
    }
    case 'patch':
      return answer(200, one(mergePatch(api, target, patchIn(request, bytes, served))));
    case 'delete':
      return answer(200, remove(api, target, optionsIn(request, bytes)));
    case 'deletecollection':
      throw methodNotAllowed();
  }
}

/** @throws Refusal 404, 405 where the path and the resource do not go together */
function targetOf(served: ServedResource, { namespace, name, subresource, verb }: ResourceCall): NamedTarget {
  const { resource, statusSubresource } = served;
  const wide = verb === 'list' || verb === 'watch';
  if (resource.namespaced && namespace === undefined && !wide) throw methodNotAllowed();
  if (!resource.namespaced && namespace !== undefined) throw notFound(resource, name ?? '');
  if (subresource !== undefined && (subresource !== 'status' || !statusSubresource))
    throw notFound(resource, name ?? '');
  if (subresource !== undefined && (verb === 'create' || verb === 'delete')) throw methodNotAllowed();
  return { served, namespace, name: name ?? '', subresource };
}

/** How long a read waits for a version that is not there yet, as a kube-apiserver's cache does. */
const VERSION_WAIT_MS = 3_000;

/** @throws Refusal 504 */
async function reachVersion({ store }: Api, clock: Clock, query: URLSearchParams): Promise<void> {
  const asked = versionIn(query) ?? 0;
  if (asked <= store.version()) return;
  await clock.sleep(VERSION_WAIT_MS);
  if (asked > store.version()) throw tooNew(asked, store.version());
}
