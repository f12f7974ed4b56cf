import type { IncomingMessage } from 'node:http';
import { flagIn } from '#sandbox/api-server/request/query.ts';
import { percentDecoded } from '#shared/runtime/lenient.ts';

export type ApiVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** A request about a resource, in the words in which rights are granted. */
export interface ResourceCall {
  readonly verb: ApiVerb;
  readonly group: string;
  readonly version: string;
  /** Plural. */
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** Also of a list or watch of one name by field selector. */
  readonly name: string | undefined;
}

/** A request. `of` is undefined for paths that are about no resource: health, version, discovery. */
export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly of: ResourceCall | undefined;
}

export function readCall({ method = 'GET', url = '/' }: IncomingMessage): ApiCall {
  const { pathname, searchParams } = new URL(url, 'http://sandbox');
  const segments = pathname
    .split('/')
    .filter((segment) => segment !== '')
    .map(percentDecoded);
  return { method, path: pathname, query: searchParams, of: resourceCall(method, segments, searchParams) };
}

/** Kubernetes' RequestInfo (k8s.io/apiserver/pkg/endpoints/request). */
function resourceCall(method: string, segments: readonly string[], query: URLSearchParams): ResourceCall | undefined {
  const [root, ...below] = segments;
  const [group, version, ...rest] = root === 'api' ? ['', ...below] : root === 'apis' ? below : [];
  if (group === undefined || version === undefined || rest.length === 0) return undefined;
  const [first, second, third] = rest;
  const namespaced = first === 'namespaces' && third !== undefined && !['status', 'finalize'].includes(third);
  const [resource = '', name, subresource] = namespaced ? rest.slice(2) : rest;
  const verb = verbOf(method, name !== undefined, query);
  return {
    verb,
    group,
    version,
    resource,
    subresource,
    namespace: namespaced ? second : undefined,
    name: name ?? (verb === 'list' || verb === 'watch' ? selectedName(query) : undefined),
  };
}

function verbOf(method: string, named: boolean, query: URLSearchParams): ApiVerb {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      return named ? 'get' : flagIn(query, 'watch') ? 'watch' : 'list';
  }
}

const selectedName = (query: URLSearchParams): string | undefined =>
  /(?:^|,)metadata\.name==?([^,]+)/.exec(query.get('fieldSelector') ?? '')?.[1];
