import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergeKubeconfigs, parseKubeconfig } from '#reconciler/cluster/kube/kubeconfig-file.ts';

const first = `
current-context: one
clusters:
- name: shared
  cluster: {server: "https://first", certificate-authority: pki/ca.crt}
contexts:
- name: one
  context: {cluster: shared, user: me}
users:
- name: me
  user: {client-certificate: /abs/me.crt, client-key: ../me.key, tokenFile: token}
`;
const second = `
current-context: two
clusters:
- name: shared
  cluster: {server: "https://second"}
- name: other
  cluster: {server: "https://other"}
contexts:
- name: two
  context: {cluster: other, user: me}
`;

describe('kubeconfigs', () => {
  const one = parseKubeconfig(first, '/home/a/.kube/config');
  const two = parseKubeconfig(second, '/etc/b');

  it('have paths that begin where the file is', () => {
    assert.equal(one.clusters.get('shared')?.['certificate-authority'], '/home/a/.kube/pki/ca.crt');
    assert.deepEqual(one.users.get('me'), {
      'client-certificate': '/abs/me.crt',
      'client-key': '/home/a/me.key',
      tokenFile: '/home/a/.kube/token',
    });
  });

  it('as one: the first that names a thing wins', () => {
    const both = mergeKubeconfigs([one, two]);
    assert.equal(both.currentContext, 'one');
    assert.equal(both.clusters.get('shared')?.['server'], 'https://first');
    assert.deepEqual([...both.clusters.keys()].toSorted(), ['other', 'shared']);
    assert.deepEqual([...both.contexts.keys()].toSorted(), ['one', 'two']);
    assert.equal(mergeKubeconfigs([two, one]).currentContext, 'two');
  });
});
