import assert from 'node:assert/strict';
import type { Behaviours } from '../suite.ts';
import { AT_MAPS, AT_NODES, identityOf, nodeBody, refusalOf } from '../support/bench.ts';

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
};
