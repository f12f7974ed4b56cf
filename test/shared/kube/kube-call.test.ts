import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adviceOnRight, type Call, pathOf, titleOf } from '#shared/kube/kube-call.ts';
import { CONFIG_MAPS, KUBELET_NODES, LEASES, NODES } from '#shared/kube/kube.ts';

const rows: readonly (readonly [call: Call, path: string, title: string])[] = [
  [{ verb: 'list', resource: NODES }, '/api/v1/nodes', 'list nodes'],
  [{ verb: 'get', resource: NODES, name: 'a' }, '/api/v1/nodes/a', 'get nodes a'],
  [
    { verb: 'get', resource: CONFIG_MAPS, namespace: 'ns', name: 'a' },
    '/api/v1/namespaces/ns/configmaps/a',
    'get configmaps a in namespace ns',
  ],
  [{ verb: 'list', resource: CONFIG_MAPS }, '/api/v1/configmaps', 'list configmaps'],
  [
    { verb: 'patch', resource: LEASES, namespace: 'ns', name: 'l' },
    '/apis/coordination.k8s.io/v1/namespaces/ns/leases/l',
    'patch leases.coordination.k8s.io l in namespace ns',
  ],
  [
    { verb: 'patch', resource: KUBELET_NODES, name: 'n', subresource: 'status' },
    '/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes/n/status',
    'patch kubeletnodes.kubelet-gitops.dev/status n',
  ],
  [
    { verb: 'list', resource: NODES, namespace: 'ns', query: { labelSelector: 'a in (b),!c', continue: undefined } },
    '/api/v1/nodes?labelSelector=a+in+%28b%29%2C%21c',
    'list nodes',
  ],
  [{ verb: 'get', resource: NODES, name: '../x?y' }, '/api/v1/nodes/..%2Fx%3Fy', 'get nodes ../x?y'],
];

describe('a call', () => {
  for (const [call, path, title] of rows) {
    it(`${title} goes to ${path}`, () => {
      assert.equal(pathOf(call), path);
      assert.equal(titleOf(call), title);
    });
  }

  it('names the right it takes as a role would grant it', () => {
    assert.equal(
      adviceOnRight({ verb: 'patch', resource: KUBELET_NODES, name: 'n', subresource: 'status' }),
      'Grant the verb "patch" on "kubeletnodes/status" of the API group "kubelet-gitops.dev", in a ClusterRole',
    );
    assert.equal(
      adviceOnRight({ verb: 'get', resource: CONFIG_MAPS, namespace: 'ns', name: 'a' }),
      'Grant the verb "get" on "configmaps" of the API group "", in a Role in namespace ns',
    );
  });
});
