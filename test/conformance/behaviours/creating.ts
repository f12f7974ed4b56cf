import assert from 'node:assert/strict';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import type { Behaviours } from '../suite.ts';
import { AT_MAPS, AT_NODES, fieldsOf, identityOf, mapBody, nodeBody, NODES_PATH, refusalOf } from '../support/bench.ts';

export const creatingBehaviours: Behaviours = {
  async 'a new object comes back with what the server adds to it'({ kube, aNode }) {
    const made = await aNode({ pool: 'workers' }, { a: 'b' });
    const { uid, resourceVersion, creationTimestamp, generation, labels } = made.metadata;
    assert.match(uid ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    assert.match(resourceVersion ?? '', /^[1-9]\d*$/);
    assert.match(creationTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(generation, 1);
    assert.deepEqual(labels, { a: 'b' });
    assert.deepEqual(await kube.get(AT_NODES, made.metadata.name), made);
  },
  async 'what the server decides cannot be given by the client'({ kube, fresh }) {
    const body = nodeBody(fresh());
    const given = { uid: 'mine', generation: 7, creationTimestamp: '2001-01-01T00:00:00Z' };
    const { metadata } = await kube.create(AT_NODES, { ...body, metadata: { ...body.metadata, ...given } });
    assert.notEqual(metadata.uid, given.uid);
    assert.equal(metadata.generation, 1);
    assert.notEqual(metadata.creationTimestamp, given.creationTimestamp);
  },
  async 'fields that the schema does not know are dropped'({ kube, fresh }) {
    const body = { ...nodeBody(fresh()), spec: { pool: 'workers', colour: 'red' }, more: { a: 1 } };
    const made = await kube.create<KubeletNode>(AT_NODES, body);
    assert.deepEqual(made.spec, { pool: 'workers' });
    assert.equal('more' in made, false);
  },
  async 'fields that a built-in type does not know are dropped'({ kube, fresh }) {
    const made = await kube.create(AT_MAPS, { ...mapBody(fresh(), { a: 'b' }), colour: 'red' });
    assert.equal('colour' in made, false);
  },
  async 'a new custom object has no status, whatever was sent'({ kube, fresh }) {
    const body: KubeletNode = { ...nodeBody(fresh()), status: { phase: 'Idle' } };
    assert.equal((await kube.create(AT_NODES, body)).status, undefined);
  },
  async 'a new Node keeps the status that was sent'({ kube, fresh }) {
    const status = { nodeInfo: { kubeletVersion: 'v1.30.1' } };
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: fresh() }, status };
    const made: typeof body = await kube.create({ resource: NODES }, body);
    assert.equal(made.status.nodeInfo.kubeletVersion, 'v1.30.1');
  },
  async 'a name that is taken is refused'({ kube, raw, aNode }) {
    const { name } = (await aNode()).metadata;
    const refused = await refusalOf(kube.create(AT_NODES, nodeBody(name)));
    assert.equal(refused.code, 'KUBE_ALREADY_EXISTS');
    const status = (await raw.call({ method: 'POST', path: NODES_PATH, body: nodeBody(name) })).json();
    assert.equal(status.kind, 'Status');
    assert.equal(status.status, 'Failure');
    assert.equal(status.code, 409);
    assert.equal(status.reason, 'AlreadyExists');
    assert.equal(status.message, `kubeletnodes.kubelet-gitops.dev "${name}" already exists`);
    assert.deepEqual(status.details, { name, group: 'kubelet-gitops.dev', kind: 'kubeletnodes' });
  },
  async 'a resourceVersion cannot be set by creating'({ kube, fresh }) {
    const body = nodeBody(fresh());
    const { metadata } = body;
    const refused = await refusalOf(
      kube.create(AT_NODES, { ...body, metadata: { ...metadata, resourceVersion: '1' } }),
    );
    assert.match(refused.message, /resourceVersion should not be set/);
  },
  async 'a name that is not valid is refused, and so is none'({ raw }) {
    for (const name of ['Upper', 'under_score', '-dash', '']) {
      const answer = await raw.call({ method: 'POST', path: NODES_PATH, body: nodeBody(name) });
      assert.equal(answer.status, 422, name);
      assert.deepEqual(fieldsOf(answer.json()), ['metadata.name']);
    }
  },
  async 'a label that is no label is refused'({ raw, fresh }) {
    const body = nodeBody(fresh(), {}, { 'a b': 'c', d: 'e f' });
    const answer = await raw.call({ method: 'POST', path: NODES_PATH, body });
    assert.equal(answer.status, 422);
    assert.equal(answer.json().details.causes.length, 2);
    assert.deepEqual(fieldsOf(answer.json()), ['metadata.labels']);
  },
  async 'an object of another kind or version is refused'({ raw, fresh }) {
    const kind = await raw.call({
      method: 'POST',
      path: NODES_PATH,
      body: { ...nodeBody(fresh()), kind: 'KubeletPool' },
    });
    assert.equal(kind.status, 422);
    assert.deepEqual(fieldsOf(kind.json()), ['kind']);
    const apiVersion = 'kubelet-gitops.dev/v1';
    const version = await raw.call({ method: 'POST', path: NODES_PATH, body: { ...nodeBody(fresh()), apiVersion } });
    assert.equal(version.status, 400);
    assert.equal(version.json().reason, 'BadRequest');
  },
  async 'what is no JSON, or no object, is refused'({ raw }) {
    for (const text of ['{', '[]', '"x"', '{}']) {
      assert.equal((await raw.call({ method: 'POST', path: NODES_PATH, text })).status, 400, text);
    }
  },
  async 'nothing is made in a namespace that is not there'({ kube, fresh }) {
    const namespace = fresh('nowhere');
    const body = { ...mapBody(fresh(), {}), metadata: { name: fresh(), namespace } };
    const refused = await refusalOf(kube.create({ ...AT_MAPS, namespace }, body));
    assert.equal(refused.code, 'KUBE_NOT_FOUND');
    assert.match(refused.message, new RegExp(`namespaces "${namespace}" not found`));
  },
  async 'nothing is made in another namespace than it says'({ kube, fresh }) {
    const body = { ...mapBody(fresh(), {}), metadata: { name: fresh(), namespace: 'elsewhere' } };
    assert.equal((await refusalOf(kube.create(AT_MAPS, body))).code, 'KUBE_INVALID');
  },
  async 'an object that is not there is told from a resource that is not there'({ kube, fresh }) {
    assert.equal(await kube.get(AT_NODES, fresh()), null);
    const unknown = { resource: { ...KUBELET_NODES, plural: 'kubeletmoons' } };
    assert.equal((await refusalOf(kube.get(unknown, 'a'))).code, 'KUBE_NOT_FOUND');
    assert.equal((await refusalOf(kube.list(unknown))).code, 'KUBE_NOT_FOUND');
    const elsewhere = { resource: { ...KUBELET_NODES, group: 'nowhere.example.com' } };
    assert.equal((await refusalOf(kube.list(elsewhere))).code, 'KUBE_NOT_FOUND');
  },
  async 'every write has a newer version, whatever it is about'({ aNode, aMap }) {
    const versions = [await aNode(), await aMap({}), await aNode()].map((made) =>
      Number(identityOf(made).resourceVersion),
    );
    assert.deepEqual(
      versions,
      [...versions].sort((a, b) => a - b),
    );
    assert.equal(new Set(versions).size, 3);
  },
};
