import assert from 'node:assert/strict';
import type { Behaviours } from '../suite.ts';
import { AT_MAPS, fieldsOf, identityOf, mapBody, MAPS_PATH, refusalOf } from '../support/bench.ts';

export const configMapBehaviours: Behaviours = {
  async 'an immutable ConfigMap keeps its data and stays immutable'({ kube, raw, aMap }) {
    const made = await aMap({ kubelet: '{}' }, true);
    const path = `${MAPS_PATH}/${made.metadata.name}`;
    const attempts = [
      [{ data: { kubelet: '{"maxPods":1}' } }, 'data'],
      [{ data: null }, 'data'],
      [{ binaryData: { a: 'eA==' } }, 'binaryData'],
      [{ immutable: null }, 'immutable'],
      [{ immutable: false }, 'immutable'],
    ] as const;
    for (const [body, field] of attempts) {
      const answer = await raw.call({ method: 'PATCH', path, body });
      assert.equal(answer.status, 422, JSON.stringify(body));
      assert.deepEqual(fieldsOf(answer.json()), [field]);
      assert.match(answer.json().message, /field is immutable when `immutable` is set/);
    }
    assert.equal((await refusalOf(kube.mergePatch(AT_MAPS, made.metadata.name, { data: null }))).code, 'KUBE_INVALID');
    assert.deepEqual(await kube.get(AT_MAPS, made.metadata.name), made);
  },
  async 'an immutable ConfigMap can be labelled and deleted'({ kube, aMap }) {
    const made = await aMap({ kubelet: '{}' }, true);
    const labelled = await kube.mergePatch(AT_MAPS, made.metadata.name, { metadata: { labels: { a: 'b' } } });
    assert.deepEqual(labelled.metadata.labels, { a: 'b' });
    assert.equal(labelled.metadata.generation, undefined);
    await kube.delete(AT_MAPS, made.metadata.name, identityOf(labelled));
  },
  async 'any other ConfigMap can be changed, and made immutable'({ kube, aMap }) {
    const { name } = (await aMap({ a: 'b' })).metadata;
    await kube.mergePatch(AT_MAPS, name, { data: { c: 'd' }, immutable: true });
    assert.equal((await refusalOf(kube.mergePatch(AT_MAPS, name, { data: { a: null } }))).code, 'KUBE_INVALID');
  },
  async 'a payload of a million bytes fits, one beyond a mebibyte does not'({ kube, raw, fresh, aMap }) {
    const made = await aMap({ kubelet: 'x'.repeat(1_000_000) }, true);
    assert.ok(await kube.get(AT_MAPS, made.metadata.name));
    const body = mapBody(fresh(), { kubelet: 'x'.repeat(1024 * 1024 + 1) });
    const answer = await raw.call({ method: 'POST', path: MAPS_PATH, body });
    assert.equal(answer.status, 422);
    assert.equal(answer.json().details.causes[0].reason, 'FieldValueTooLong');
  },
  async 'keys and values are checked'({ raw, fresh }) {
    const key = await raw.call({ method: 'POST', path: MAPS_PATH, body: mapBody(fresh(), { 'a b': 'c' }) });
    assert.equal(key.status, 422);
    assert.equal(key.json().details.causes[0].field, 'data[a b]');
    const body = { ...mapBody(fresh(), {}), data: { a: 1 } };
    assert.equal((await raw.call({ method: 'POST', path: MAPS_PATH, body })).status, 400);
  },
  async 'text comes back as it was sent, byte by byte'({ kube, aMap }) {
    const text = '{"a": "ü€😀 \\u2028 <&>"}\r\n\ttail ';
    const made = await aMap({ kubelet: text }, true);
    const read = await kube.get<ReturnType<typeof mapBody>>(AT_MAPS, made.metadata.name);
    assert.equal(read?.data['kubelet'], text);
  },
};
