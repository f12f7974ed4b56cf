import assert from 'node:assert/strict';
import type { Behaviours } from '../suite.ts';
import { mapBody, MAPS_PATH, nodeBody, NODES_PATH, take } from '../support/bench.ts';

export const accessBehaviours: Behaviours = {
  async 'a token that nobody has is refused'({ raw }) {
    for (const path of [NODES_PATH, '/version', '/apis/nowhere/v1/nothing']) {
      const answer = await raw.call({ path, token: 'nonsense' });
      assert.equal(answer.status, 401, path);
      assert.equal(answer.json().reason, 'Unauthorized');
      assert.equal(answer.json().message, 'Unauthorized');
    }
  },
  async 'nobody in particular may do nothing but look whether the server lives'({ raw }) {
    const answer = await raw.call({ path: NODES_PATH, token: null });
    assert.equal(answer.status, 403);
    assert.equal(answer.json().reason, 'Forbidden');
    const message =
      'kubeletnodes.kubelet-gitops.dev is forbidden: User "system:anonymous" cannot list resource "kubeletnodes" in API group "kubelet-gitops.dev" at the cluster scope';
    assert.equal(answer.json().message, message);
    assert.equal((await raw.call({ path: '/readyz', token: null })).status, 200);
  },
  async "the agent's rights are what it needs: its assignment, its status, its config, its Node"({
    raw,
    connection,
    aNode,
    aMap,
    fresh,
  }) {
    const token = connection.agentToken;
    const { name } = (await aNode()).metadata;
    const own = { fieldSelector: `metadata.name=${name}` };
    assert.equal((await raw.call({ path: NODES_PATH, query: own, token })).status, 200);
    await take(1, await raw.watch({ path: NODES_PATH, query: own, token }));
    const patch = { method: 'PATCH', path: `${NODES_PATH}/${name}/status`, body: { status: { phase: 'Idle' } } };
    assert.equal((await raw.call({ ...patch, token })).status, 200);
    const map = await aMap({ kubelet: '{}' }, true);
    assert.equal((await raw.call({ path: `${MAPS_PATH}/${map.metadata.name}`, token })).status, 200);
    assert.equal((await raw.call({ path: `/api/v1/nodes/${fresh()}`, token })).status, 404);
    const lease = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${fresh()}`;
    assert.equal((await raw.call({ path: lease, token })).status, 404);
  },
  async 'the kubelet of a Node that is not there cannot be asked'({ raw, fresh }) {
    const name = fresh();
    const answer = await raw.call({ path: `/api/v1/nodes/${name}/proxy/configz` });
    assert.equal(answer.status, 404);
    assert.equal(answer.json().message, `nodes "${name}" not found`);
  },
  async "the agent's rights are no more than that"({ raw, connection, aNode, aMap, fresh }) {
    const token = connection.agentToken;
    const { name } = (await aNode()).metadata;
    const map = await aMap({ kubelet: '{}' }, true);
    const attempts = [
      { method: 'PATCH', path: `${NODES_PATH}/${name}`, body: { spec: { pool: 'a' } } },
      { method: 'POST', path: NODES_PATH, body: nodeBody(fresh()) },
      { method: 'DELETE', path: `${NODES_PATH}/${name}` },
      { method: 'GET', path: MAPS_PATH },
      { method: 'POST', path: MAPS_PATH, body: mapBody(fresh(), {}) },
      { method: 'DELETE', path: `${MAPS_PATH}/${map.metadata.name}` },
      { method: 'GET', path: '/api/v1/namespaces/default/configmaps/a' },
      { method: 'GET', path: '/api/v1/nodes' },
      { method: 'PATCH', path: `/api/v1/nodes/${name}/status`, body: { status: {} } },
      { method: 'GET', path: `/api/v1/nodes/${name}/proxy/configz` },
      { method: 'GET', path: '/apis/kubelet-gitops.dev/v1alpha1/kubeletpools' },
      { method: 'GET', path: '/apis/coordination.k8s.io/v1/namespaces/kubelet-gitops/leases' },
      {
        method: 'PATCH',
        path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a',
        body: { spec: {} },
      },
    ];
    for (const attempt of attempts) {
      const answer = await raw.call({ ...attempt, token });
      assert.equal(answer.status, 403, `${attempt.method} ${attempt.path}: ${answer.text}`);
      assert.equal(answer.json().reason, 'Forbidden');
      assert.match(
        answer.json().message,
        /^\S+( "\S+")? is forbidden: User "system:serviceaccount:kubelet-gitops:kubelet-gitops-agent" cannot \w+ resource "/,
      );
    }
  },
  async 'whoever asks is told what somebody else may do, and nothing is stored'({ raw }) {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const ask = async (user: string, resourceAttributes: object): Promise<unknown> => {
      const spec = { user, groups: ['system:authenticated'], resourceAttributes };
      const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
      const answer = await raw.call({ method: 'POST', path, body });
      assert.equal(answer.status, 201, answer.text);
      return answer.json().status.allowed;
    };
    const agent = 'system:serviceaccount:kubelet-gitops:kubelet-gitops-agent';
    const group = 'kubelet-gitops.dev';
    const status = { group, resource: 'kubeletnodes', subresource: 'status', verb: 'patch' };
    assert.equal(await ask(agent, status), true);
    assert.equal(await ask(agent, { ...status, subresource: '' }), false);
    const maps = { group: '', resource: 'configmaps', verb: 'get', namespace: 'kubelet-gitops', name: 'a' };
    assert.equal(await ask(agent, maps), true);
    assert.equal(await ask(agent, { ...maps, namespace: 'default' }), false);
    assert.equal(await ask('nobody', status), false);
  },
  async 'a path that leads nowhere says so'({ raw }) {
    for (const path of ['/apis/nowhere.example.com/v1/nothing', '/apis/kubelet-gitops.dev/v1alpha1/kubeletmoons']) {
      const answer = await raw.call({ path });
      assert.equal(answer.status, 404);
      assert.equal(answer.text.trim(), '404 page not found');
    }
    const core = await raw.call({ path: '/api/v1/nothing' });
    assert.equal(core.status, 404);
    assert.equal(core.json().reason, 'NotFound');
  },
  async 'a method that a resource does not have is refused'({ raw, fresh }) {
    const body = mapBody(fresh(), {});
    assert.equal((await raw.call({ method: 'POST', path: '/api/v1/configmaps', body })).status, 405);
  },
};
