import assert from 'node:assert/strict';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Behaviours } from '../suite.ts';
import { AT_NODES, fieldsOf, identityOf, nodeBody, NODES_PATH, refusalOf } from '../support/bench.ts';

const SHA = 'a'.repeat(64);
const SOURCE = { namespace: 'ns', name: 'a', uid: 'u', resourceVersion: '1', key: 'kubelet', sha256: SHA };

export const patchingBehaviours: Behaviours = {
  async 'a merge patch merges objects, replaces the rest, and removes what is null'({ kube, aNode }) {
    const made = await aNode({ pool: 'a', apply: 'overlay', configSource: SOURCE }, { one: '1', two: '2' });
    const patched = await kube.mergePatch<KubeletNode>(AT_NODES, made.metadata.name, {
      metadata: { labels: { one: null, three: '3' } },
      spec: { pool: 'b', apply: null, configSource: { name: 'c' } },
    });
    assert.deepEqual(patched.spec, { pool: 'b', configSource: { ...SOURCE, name: 'c' } });
    assert.deepEqual(patched.metadata.labels, { two: '2', three: '3' });
  },
  async 'a patch with the present version is taken, and makes a newer one'({ kube, aNode }) {
    const made = await aNode();
    const { resourceVersion } = identityOf(made);
    const patch = { metadata: { resourceVersion }, spec: { pool: 'a' } };
    const patched = await kube.mergePatch<KubeletNode>(AT_NODES, made.metadata.name, patch);
    assert.equal(patched.spec?.pool, 'a');
    assert.ok(Number(identityOf(patched).resourceVersion) > Number(resourceVersion));
  },
  async 'a patch with a stale version is refused and changes nothing'({ kube, raw, aNode }) {
    const made = await aNode({ pool: 'a' });
    const { name, resourceVersion } = made.metadata;
    const newer = await kube.mergePatch(AT_NODES, name, { spec: { pool: 'b' } });
    const body = { metadata: { resourceVersion }, spec: { pool: 'c' } };
    assert.equal((await refusalOf(kube.mergePatch(AT_NODES, name, body))).code, 'KUBE_CONFLICT');
    const answer = await raw.call({ method: 'PATCH', path: `${NODES_PATH}/${name}`, body });
    assert.equal(answer.status, 409);
    const { message, ...status } = answer.json();
    assert.match(
      message,
      /^Operation cannot be fulfilled on kubeletnodes\.kubelet-gitops\.dev ".*": the object has been modified/,
    );
    assert.equal(status.reason, 'Conflict');
    assert.deepEqual(status.details, { name, group: 'kubelet-gitops.dev', kind: 'kubeletnodes' });
    assert.deepEqual(await kube.get(AT_NODES, name), newer);
  },
  async 'a version from the future is stale as well'({ kube, aNode }) {
    const { name } = (await aNode()).metadata;
    const patch = { metadata: { resourceVersion: '999999999' }, spec: { pool: 'a' } };
    assert.equal((await refusalOf(kube.mergePatch(AT_NODES, name, patch))).code, 'KUBE_CONFLICT');
  },
  async 'a patch without a version applies to whatever is there'({ kube, aNode }) {
    const { name } = (await aNode()).metadata;
    await kube.mergePatch(AT_NODES, name, { spec: { pool: 'a' } });
    const patched = await kube.mergePatch<KubeletNode>(AT_NODES, name, { spec: { apply: 'replace' } });
    assert.deepEqual(patched.spec, { pool: 'a', apply: 'replace' });
  },
  async 'a patch that changes nothing is no write'({ kube, aNode }) {
    const made = await aNode({ pool: 'a' });
    assert.deepEqual(await kube.mergePatch(AT_NODES, made.metadata.name, { spec: { pool: 'a', apply: null } }), made);
  },
  async 'a patch of what is not there is refused'({ kube, fresh }) {
    assert.equal((await refusalOf(kube.mergePatch(AT_NODES, fresh(), { spec: {} }))).code, 'KUBE_NOT_FOUND');
  },
  async 'a patch for another uid is refused'({ raw, aNode }) {
    const { name } = (await aNode()).metadata;
    const body = { metadata: { uid: 'another' }, spec: { pool: 'a' } };
    const answer = await raw.call({ method: 'PATCH', path: `${NODES_PATH}/${name}`, body });
    assert.equal(answer.status, 422);
    assert.deepEqual(fieldsOf(answer.json()), ['metadata.uid']);
  },
  async 'a patch cannot rename, nor change what the server decides'({ kube, aNode }) {
    const made = await aNode();
    const { name, creationTimestamp } = made.metadata;
    assert.equal((await refusalOf(kube.mergePatch(AT_NODES, name, { metadata: { name: 'b' } }))).code, 'KUBE_INVALID');
    const patch = { metadata: { generation: 77, creationTimestamp: '2001-01-01T00:00:00Z', labels: { a: 'b' } } };
    const patched = await kube.mergePatch(AT_NODES, name, patch);
    assert.equal(patched.metadata.generation, 1);
    assert.equal(patched.metadata.creationTimestamp, creationTimestamp);
  },
  async 'a strategic merge patch of a custom object is refused'({ raw, aNode }) {
    const { name } = (await aNode()).metadata;
    const contentType = 'application/strategic-merge-patch+json';
    const answer = await raw.call({ method: 'PATCH', path: `${NODES_PATH}/${name}`, body: {}, contentType });
    assert.equal(answer.status, 415);
    assert.equal(answer.json().reason, 'UnsupportedMediaType');
  },
  async 'a PUT of a custom object needs the present version'({ raw, aNode }) {
    const made = await aNode({ pool: 'a' });
    const path = `${NODES_PATH}/${made.metadata.name}`;
    const put = (metadata: object) =>
      raw.call({ method: 'PUT', path, body: { ...nodeBody(made.metadata.name), metadata } });
    const { name, resourceVersion } = made.metadata;
    assert.equal((await put({ name })).status, 422);
    assert.equal((await put({ name, resourceVersion: '1' })).status, 409);
    assert.equal((await put({ name, resourceVersion, uid: 'another' })).status, 409);
    assert.equal((await put({ name: 'another', resourceVersion })).status, 400);
    const replaced = await put({ name, resourceVersion });
    assert.equal(replaced.status, 200);
    assert.equal(replaced.json().spec, undefined);
  },
  async 'a PUT to a name that is not there makes nothing'({ raw, fresh }) {
    const name = fresh();
    assert.equal((await raw.call({ method: 'PUT', path: `${NODES_PATH}/${name}`, body: nodeBody(name) })).status, 404);
  },
};
