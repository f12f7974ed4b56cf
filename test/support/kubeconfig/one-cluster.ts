/** A kubeconfig with one cluster and one user, as JSON, which is YAML as well. */
export const kubeconfigOf = (cluster: { readonly server: string }, user: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
