import assert from 'node:assert/strict';
import type { Behaviours } from '../suite.ts';
import { AT_MAPS, AT_NODES, identityOf, MAPS_PATH, nodeBody, NODES_PATH, refusalOf } from '../support/bench.ts';

export const deletingBehaviours: Behaviours = {
  async 'an object with the uid asked for goes'({ kube, aNode }) {
    const made = await aNode();
    await kube.delete(AT_NODES, made.metadata.name, { uid: identityOf(made).uid });
    assert.equal(await kube.get(AT_NODES, made.metadata.name), null);
  },
  async 'an object with another uid stays'({ kube, aMap }) {
    const made = await aMap({ a: 'b' });
    const refused = await refusalOf(kube.delete(AT_MAPS, made.metadata.name, { uid: 'another' }));
    assert.equal(refused.code, 'KUBE_CONFLICT');
    assert.deepEqual(await kube.get(AT_MAPS, made.metadata.name), made);
  },
  async 'an object that was changed since stays'({ kube, aNode }) {
    const made = await aNode();
    const { name } = made.metadata;
    const changed = await kube.mergePatch(AT_NODES, name, { spec: { pool: 'a' } });
    assert.equal((await refusalOf(kube.delete(AT_NODES, name, identityOf(made)))).code, 'KUBE_CONFLICT');
    await kube.delete(AT_NODES, name, identityOf(changed));
    assert.equal(await kube.get(AT_NODES, name), null);
  },
  async 'what is gone already may be deleted'({ kube, fresh }) {
    await kube.delete(AT_NODES, fresh(), { uid: 'any' });
  },
  async 'an object of the same name that comes later is another one'({ kube, aNode }) {
    const made = await aNode();
    const { name } = made.metadata;
    await kube.delete(AT_NODES, name, identityOf(made));
    const later = await kube.create(AT_NODES, nodeBody(name));
    assert.notEqual(identityOf(later).uid, identityOf(made).uid);
    assert.equal((await refusalOf(kube.delete(AT_NODES, name, identityOf(made)))).code, 'KUBE_CONFLICT');
  },
  async 'the answer says what went, and a refusal why it did not'({ raw, aNode, aMap }) {
    const node = await aNode();
    const { name } = node.metadata;
    const wrong = { preconditions: { uid: 'another' } };
    const refused = await raw.call({ method: 'DELETE', path: `${NODES_PATH}/${name}`, body: wrong });
    assert.equal(refused.status, 409);
    assert.equal(refused.json().reason, 'Conflict');
    const uid = identityOf(node).uid;
    assert.match(
      refused.json().message,
      new RegExp(`the UID in the precondition \\(another\\) does not match the UID in record \\(${uid}\\)`),
    );
    const gone = await raw.call({ method: 'DELETE', path: `${NODES_PATH}/${name}` });
    assert.equal(gone.status, 200);
    assert.equal(gone.json().status, 'Success');
    assert.deepEqual(gone.json().details, { name, group: 'kubelet-gitops.dev', kind: 'kubeletnodes', uid });
    const map = await aMap({});
    const went = await raw.call({ method: 'DELETE', path: `${MAPS_PATH}/${map.metadata.name}` });
    assert.deepEqual(went.json().details, { name: map.metadata.name, kind: 'configmaps', uid: identityOf(map).uid });
  },
  async 'what is not there is said to be missing, with its name'({ raw, fresh }) {
    const name = fresh();
    const answer = await raw.call({ method: 'DELETE', path: `${NODES_PATH}/${name}` });
    assert.equal(answer.status, 404);
    assert.equal(answer.json().reason, 'NotFound');
    assert.equal(answer.json().message, `kubeletnodes.kubelet-gitops.dev "${name}" not found`);
    assert.equal(answer.json().details.name, name);
  },
};
