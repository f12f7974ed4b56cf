import assert from 'node:assert/strict';
import type { Behaviours } from '../suite.ts';
import { AT_NODES, nodeBody, NODES_PATH, take } from '../support/bench.ts';
import type { Loose } from '../support/raw.ts';

const ONE = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const MANY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

export const formBehaviours: Behaviours = {
  async 'metadata alone, of one object and of many'({ raw, aNode }) {
    const { name, uid } = (await aNode({ pool: 'a' }, { a: 'b' })).metadata;
    const one = (await raw.call({ path: `${NODES_PATH}/${name}`, accept: ONE })).json();
    assert.deepEqual(Object.keys(one).sort(), ['apiVersion', 'kind', 'metadata']);
    assert.equal(one.kind, 'PartialObjectMetadata');
    assert.equal(one.apiVersion, 'meta.k8s.io/v1');
    assert.equal(one.metadata.uid, uid);
    const query = { fieldSelector: `metadata.name=${name}` };
    const many = (await raw.call({ path: NODES_PATH, query, accept: MANY })).json();
    assert.equal(many.kind, 'PartialObjectMetadataList');
    assert.deepEqual(many.items, [one]);
    assert.match(many.metadata.resourceVersion, /^\d+$/);
  },
  async 'metadata alone, of what is watched'({ raw, aNode }) {
    const { name } = (await aNode({ pool: 'a' })).metadata;
    const query = { fieldSelector: `metadata.name=${name}`, timeoutSeconds: '120' };
    const [event] = await take(1, await raw.watch({ path: NODES_PATH, query, accept: ONE }));
    assert.equal(event.type, 'ADDED');
    assert.equal(event.object.kind, 'PartialObjectMetadata');
    assert.equal(event.object.spec, undefined);
  },
  async 'one is not many'({ raw, aNode }) {
    const { name } = (await aNode()).metadata;
    assert.equal((await raw.call({ path: NODES_PATH, accept: ONE })).status, 406);
    // 406 from newer servers, 500 from 1.20.
    assert.ok((await raw.call({ path: `${NODES_PATH}/${name}`, accept: MANY })).status >= 406);
  },
  async 'a form that nobody knows is refused, the first that is known is taken'({ raw }) {
    const refused = await raw.call({ path: NODES_PATH, accept: 'application/msword' });
    assert.equal(refused.status, 406);
    assert.equal(refused.json().reason, 'NotAcceptable');
    const taken = await raw.call({ path: NODES_PATH, accept: 'application/msword, application/json' });
    assert.equal(taken.json().kind, 'KubeletNodeList');
  },
  async 'a table, with the columns of the definition'({ kube, raw, fresh }) {
    const name = fresh();
    await kube.create(AT_NODES, nodeBody(name, { pool: 'workers' }));
    const heartbeat = new Date(Date.now() - 90_000).toISOString();
    const status = { phase: 'Idle', active: { name: 'workers-2gmf6b4k8c' }, heartbeat };
    await kube.mergePatch(AT_NODES, name, { status }, { subresource: 'status' });
    const query = { fieldSelector: `metadata.name=${name}` };
    const table = (await raw.call({ path: NODES_PATH, query, accept: TABLE })).json();
    assert.equal(table.kind, 'Table');
    assert.deepEqual(
      table.columnDefinitions.map(({ name, type, priority }: Loose) => `${name} ${type} ${priority}`),
      [
        'Name string 0',
        'Pool string 0',
        'Phase string 0',
        'Assigned string 0',
        'Active string 0',
        'Good string 0',
        'Error string 0',
        'Kubelet string 0',
        'Seen date 0',
        'Message string 1',
        'Commit string 1',
      ],
    );
    const [{ cells, object }] = table.rows;
    const seen = cells.splice(8, 1);
    assert.match(String(seen), /^(9\d|1[01]\d)s$|^\d+m(\d+s)?$/, 'a minute and a half, and what has passed since');
    assert.deepEqual(cells, [name, 'workers', 'Idle', null, 'workers-2gmf6b4k8c', null, null, null, null, null]);
    assert.equal(object.kind, 'PartialObjectMetadata');
    assert.equal(object.metadata.name, name);
  },
  async 'version, health and readiness'({ raw }) {
    assert.match((await raw.call({ path: '/version' })).json().gitVersion, /^v1\.\d+\.\d+/);
    for (const path of ['/healthz', '/readyz', '/livez']) assert.equal((await raw.call({ path })).text, 'ok');
  },
};
