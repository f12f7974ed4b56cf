import type { ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import type { Api, NamedTarget } from '#sandbox/api-server/api.ts';
import { get } from '#sandbox/api-server/operations/read-objects.ts';
import { PODS } from '#shared/kube/kube.ts';

/** What a pod's containers wrote: no kubelet is asked here, the test or the demo writes it. */
export const LOG_ANNOTATION = 'sandbox/log';

export const isLog = ({ group, resource, subresource, verb }: ResourceCall): boolean =>
  group === PODS.group && resource === PODS.plural && subresource === 'log' && verb === 'get';

/** The last lines that were asked for. @throws Refusal 404 */
export function podLog(api: Api, target: NamedTarget, query: URLSearchParams): string {
  const { metadata } = get(api, target);
  const lines = (metadata.annotations?.[LOG_ANNOTATION] ?? '').split(/(?<=\n)/);
  const tail = query.get('tailLines');
  return (tail === null ? lines : lines.slice(-Number(tail))).join('');
}
