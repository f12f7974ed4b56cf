import { get as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { reasonOf } from '#shared/runtime/errors.ts';
import { NODES } from '#shared/kube/kube.ts';
import type { ApiCall, ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import type { Api } from '#sandbox/api-server/api.ts';
import { methodNotAllowed, notFound } from '#sandbox/api-server/status/status-refusals.ts';
import { Refusal } from '#sandbox/api-server/status/refusal.ts';
import { isJson, memberOf, type StoredObject } from '#sandbox/api-server/stored-object.ts';

const ASK_WITHIN_MS = 10_000;

export const isNodeProxy = ({ group, resource, subresource, name }: ResourceCall): boolean =>
  group === NODES.group && resource === NODES.plural && subresource === 'proxy' && name !== undefined;

/**
 * Passes a GET on to the kubelet, where its Node says that it listens: `nodes/NAME/proxy/configz`. Over plain HTTP, and also on
 * the loopback interface, which a real server refuses: there all of the sandbox is.
 *
 * @throws Refusal 404 where there is no such Node, 503 where its kubelet does not answer
 */
export async function proxyToNode(
  { store }: Api,
  { name = '' }: ResourceCall,
  { method, path }: ApiCall,
  response: ServerResponse,
): Promise<void> {
  if (method !== 'GET') throw methodNotAllowed();
  const node = store.of(NODES).get(name);
  if (node === undefined) throw notFound(NODES, name);
  const { host, port } = whereIs(node);
  const [, below = ''] = /\/proxy(\/.*)?$/.exec(path) ?? [];
  const answer = await reach(host, port, below === '' ? '/' : below);
  const { 'content-type': type = 'text/plain; charset=utf-8' } = answer.headers;
  response.writeHead(answer.statusCode ?? 500, { 'content-type': type, 'cache-control': 'no-cache, private' });
  await pipeline(answer, response);
}

function reach(host: string, port: number, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asking = ask({ host, port, path, agent: false, signal: AbortSignal.timeout(ASK_WITHIN_MS) }, resolve);
    asking.once('error', (error) => {
      reject(new Refusal(503, 'ServiceUnavailable', `error trying to reach service: ${reasonOf(error)}`));
    });
  });
}

/** @throws Refusal 500 where the Node does not say it */
function whereIs(node: StoredObject): { readonly host: string; readonly port: number } {
  const addresses = memberOf(node, 'status', 'addresses');
  const list = Array.isArray(addresses) ? addresses.filter(isJson) : [];
  const host = list.find(({ type }) => type === 'InternalIP')?.['address'];
  const port = memberOf(node, 'status', 'daemonEndpoints', 'kubeletEndpoint', 'Port');
  if (typeof host === 'string' && typeof port === 'number') return { host, port };
  throw new Refusal(500, 'InternalError', 'Internal error occurred: no preferred addresses found; known addresses: []');
}
