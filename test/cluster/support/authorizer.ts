import { Agent, request } from 'node:https';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { ControlPlane } from './control-plane.ts';

/** What somebody may want to do. Without a namespace: with what has none. */
export interface AccessRequest {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `nodes/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Asks the API server's own authoriser, many times over few connections. Call `close` at the end. */
export interface Authorizer {
  readonly may: (account: string, wish: AccessRequest) => Promise<boolean>;
  readonly close: () => void;
}

export function askAuthorizer({ url, ca, admin }: ControlPlane): Authorizer {
  const agent = new Agent({ keepAlive: true, maxSockets: 4, ca, cert: admin.certificate, key: admin.key });
  return {
    async may(account, { verb, group, resource: full, namespace, name }) {
      const [resource = '', subresource = ''] = full.split('/');
      const sending = request(`${url}/apis/authorization.k8s.io/v1/subjectaccessreviews`, {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json' },
        signal: AbortSignal.timeout(30_000),
      });
      const user = `system:serviceaccount:kubelet-gitops:${account}`;
      const groups = ['system:serviceaccounts', 'system:serviceaccounts:kubelet-gitops', 'system:authenticated'];
      const resourceAttributes = { verb, group, resource, subresource, namespace, name };
      sending.end(
        JSON.stringify({
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: { user, groups, resourceAttributes },
        }),
      );
      const [response] = await once(sending, 'response');
      const answer = JSON.parse(await text(response)) as { readonly status?: { readonly allowed?: boolean } };
      if (typeof answer.status?.allowed !== 'boolean') throw new Error(`no answer: ${JSON.stringify(answer)}`);
      return answer.status.allowed;
    },
    close: () => agent.destroy(),
  };
}

interface Discovered {
  readonly resources: readonly { readonly name: string; readonly namespaced: boolean }[];
}

/** Everything that the API server serves, subresources included. */
export async function servedResources({
  request: ask,
}: ControlPlane): Promise<
  readonly { readonly group: string; readonly resource: string; readonly namespaced: boolean }[]
> {
  const groups = (await ask('GET', '/apis')).json() as {
    readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
  };
  const paths = ['/api/v1', ...groups.groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const lists = await Promise.all(
    paths.map(async (path) => {
      const { resources } = (await ask('GET', path)).json() as Discovered;
      const group = path.startsWith('/apis/') ? (path.split('/')[2] ?? '') : '';
      return resources.map(({ name, namespaced }) => ({ group, resource: name, namespaced }));
    }),
  );
  return lists.flat();
}
