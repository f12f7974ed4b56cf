import type { Resource } from './kube.ts';

/** The verbs that the project uses, as RBAC names them. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'patch' | 'delete';

/** One call of the API, as it is sent and as errors speak of it. */
export interface Call {
  readonly verb: Verb;
  readonly resource: Resource;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: 'status' | 'proxy/configz' | 'proxy/stats/summary' | 'eviction' | 'log';
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** A patch merges lists as the type says, instead of replacing them. */
  readonly strategic?: boolean;
}

const METHODS = { get: 'GET', list: 'GET', watch: 'GET', create: 'POST', patch: 'PATCH', delete: 'DELETE' } as const;

export const methodOf = (call: Call): 'GET' | 'POST' | 'PATCH' | 'DELETE' => METHODS[call.verb];

/** A call that changes nothing may be sent again when its arrival is unknown. */
export const isRead = (call: Call): boolean => methodOf(call) === 'GET';

/** Path and query below the server's address: `/apis/<group>/<version>[/namespaces/<ns>]/<plural>[/<name>][/status]`. */
export function pathOf(call: Call): string {
  const { group, version, plural, namespaced } = call.resource;
  const segments = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(namespaced && call.namespace !== undefined ? ['namespaces', call.namespace] : []),
    plural,
    ...(call.name === undefined ? [] : [call.name]),
    ...(call.subresource === undefined ? [] : call.subresource.split('/')),
  ];
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined && value !== '') query.set(key, value);
  }
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** `patch kubeletnodes.kubelet-gitops.dev/status node-1`: what a sentence that starts with "cannot" goes on with. */
export function titleOf(call: Call): string {
  const { verb, namespace, name } = call;
  const where = namespace === undefined || !call.resource.namespaced ? '' : ` in namespace ${namespace}`;
  return `${verb} ${resourceTitle(call)}${name === undefined ? '' : ` ${name}`}${where}`;
}

/** `configmaps`, `kubeletnodes.kubelet-gitops.dev/status`. */
function resourceTitle({ resource, subresource }: Call): string {
  const group = resource.group === '' ? '' : `.${resource.group}`;
  return `${resource.plural}${group}${subresource === undefined ? '' : `/${subresource}`}`;
}

/**
 * What RBAC wants for the call, for the person who may have to grant it: a sentence without a full stop. Whatever is asked of a kubelet
 * through the API server, the right is nodes/proxy (k8s.io/apiserver/pkg/endpoints/request/requestinfo.go), which nobody should be given for it.
 */
export function adviceOnRight(call: Call): string {
  const { resource, subresource, namespace } = call;
  if (subresource?.startsWith('proxy/') === true)
    return 'Do not grant it for this: it runs commands in every pod. Ask somebody who has it for the files';
  const plural = subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`;
  const role = resource.namespaced && namespace !== undefined ? `a Role in namespace ${namespace}` : 'a ClusterRole';
  return `Grant the verb "${call.verb}" on "${plural}" of the API group "${resource.group}", in ${role}`;
}
