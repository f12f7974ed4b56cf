import assert from 'node:assert/strict';
import type { Behaviours } from '../suite.ts';
import { AT_NODES, nodeBody, NODES_PATH } from '../support/bench.ts';
import type { Loose } from '../support/raw.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

export const formBehaviours: Behaviours = {
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
