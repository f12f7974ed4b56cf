/** Who a kubeconfig speaks for: a client certificate by its files, or a bearer token. */
export type Credential = { readonly certificateFile: string; readonly keyFile: string } | { readonly token: string };

/** A kubeconfig with one cluster and one user, as JSON, which is YAML as well. */
export function kubeconfigText(server: string, certificateAuthorityFile: string, credential: Credential): string {
  const user =
    'token' in credential
      ? { token: credential.token }
      : { 'client-certificate': credential.certificateFile, 'client-key': credential.keyFile };
  return JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'cluster', cluster: { server, 'certificate-authority': certificateAuthorityFile } }],
      users: [{ name: 'user', user }],
      contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }],
      'current-context': 'context',
    },
    undefined,
    2,
  );
}
