import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { kubeconfigText } from '../../cluster/support/kubeconfig.ts';
import type { ApiLink } from './api-link.ts';
import { CREDENTIALS } from './node-paths.ts';

type Files = Readonly<Record<string, { readonly text: string; readonly mode: number }>>;

/** What the kubelet speaks to the API server with: a client certificate in the node's name. */
export async function kubeletCredentials(
  { controlPlane, name }: { readonly controlPlane: ControlPlane; readonly name: string },
  api: Pick<ApiLink, 'url'>,
): Promise<Files> {
  const at = (file: string): string => `${CREDENTIALS.kubelet}/${file}`;
  const identity = await controlPlane.issue({ commonName: `system:node:${name}`, organizations: ['system:nodes'] });
  const credential = { certificateFile: at('kubelet.crt'), keyFile: at('kubelet.key') };
  return {
    [at('ca.crt')]: { text: controlPlane.ca, mode: 0o644 },
    [at('kubelet.crt')]: { text: identity.certificate, mode: 0o644 },
    [at('kubelet.key')]: { text: identity.key, mode: 0o600 },
    [at('kubelet.conf')]: { text: kubeconfigText(api.url, at('ca.crt'), credential), mode: 0o600 },
  };
}

/** What a pod of the agent finds mounted: its service account's token, and whom to believe. */
export async function agentCredentials(controlPlane: ControlPlane, account: string): Promise<Files> {
  const [namespace = '', name = ''] = account.split('/');
  const token = await controlPlane.serviceAccountToken(namespace, name);
  return {
    [`${CREDENTIALS.agent}/token`]: { text: token, mode: 0o600 },
    [`${CREDENTIALS.agent}/ca.crt`]: { text: controlPlane.ca, mode: 0o644 },
  };
}
