import { kubeconfigOf } from '../../support/kubeconfig/one-cluster.ts';

/** Who a kubeconfig speaks for: a client certificate by its files, or a bearer token. */
export type Credential = { readonly certificateFile: string; readonly keyFile: string } | { readonly token: string };

/** A kubeconfig with one cluster and one user, as JSON, which is YAML as well. */
export function kubeconfigText(server: string, certificateAuthorityFile: string, credential: Credential): string {
  const user =
    'token' in credential
      ? { token: credential.token }
      : { 'client-certificate': credential.certificateFile, 'client-key': credential.keyFile };
  const cluster = { server, 'certificate-authority': certificateAuthorityFile };
  return kubeconfigOf(cluster, user);
}
