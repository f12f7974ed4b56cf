import assert from 'node:assert/strict';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import type { Behaviours } from '../suite.ts';
import { AT_MAPS, AT_NODES, changesOf, identityOf, nodeBody, NODES_PATH, refusalOf, take } from '../support/bench.ts';
import { column } from '../../support/columns.ts';

const said = (event: { readonly type: string; readonly object: KubeObject }): string =>
  `${event.type} ${event.object.metadata.name}`;

export const watchingBehaviours: Behaviours = {
  async 'a list, and then a watch from its version, miss nothing and repeat nothing'({ kube, aNode, fresh }) {
    const run = fresh();
    const { name: early } = (await aNode({}, { run })).metadata;
    const selection = { ...AT_NODES, labelSelector: `run=${run}` };
    const { items, resourceVersion } = await kube.list(selection);
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      [early],
    );
    const { name } = (await aNode({ pool: 'a' }, { run })).metadata;
    const changed = await kube.mergePatch<KubeletNode>(AT_NODES, name, { spec: { pool: 'b' } });
    await kube.delete(AT_NODES, name, identityOf(changed));
    const events = await take(3, changesOf<KubeletNode>(kube, selection, resourceVersion));
    assert.deepEqual(events.map(said), [`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`]);
    assert.deepEqual(
      events.map(({ object }) => object.spec?.pool),
      ['a', 'b', 'b'],
    );
  },
  async 'every event has a newer version than the one before, a deletion too'({ kube, aNode, fresh }) {
    const run = fresh();
    const { resourceVersion } = await kube.list(AT_NODES);
    const made = await aNode({}, { run });
    await kube.delete(AT_NODES, made.metadata.name, identityOf(made));
    const events = await take(2, changesOf(kube, { ...AT_NODES, labelSelector: `run=${run}` }, resourceVersion));
    const versions = events.map(({ object }) => Number(identityOf(object).resourceVersion));
    const [added = 0, deleted = 0] = versions;
    assert.ok(Number(resourceVersion) < added && added < deleted, String(versions));
  },
  async 'what happens while the watch is open arrives'({ kube, fresh }) {
    const name = fresh();
    const { resourceVersion } = await kube.list(AT_NODES);
    const events = changesOf<KubeletNode>(
      kube,
      { ...AT_NODES, fieldSelector: `metadata.name=${name}` },
      resourceVersion,
    );
    const heard = events.next();
    await kube.create(AT_NODES, nodeBody(name, { pool: 'a' }));
    const { value } = await heard;
    assert.equal(value?.type, 'ADDED');
    await kube.mergePatch(AT_NODES, name, { status: { phase: 'Idle' } }, { subresource: 'status' });
    const next = await events.next();
    assert.equal(next.value?.object.status?.phase, 'Idle');
    await events.return();
  },
  async 'a watch of one name hears of no other'({ kube, aNode, aMap }) {
    const { name } = (await aNode()).metadata;
    const { resourceVersion } = await kube.list(AT_NODES);
    await aNode();
    await aMap({});
    await kube.mergePatch(AT_NODES, name, { spec: { pool: 'a' } });
    const fieldSelector = `metadata.name=${name}`;
    const events = await take(1, changesOf(kube, { ...AT_NODES, fieldSelector }, resourceVersion));
    assert.deepEqual(events.map(said), [`MODIFIED ${name}`]);
  },
  async 'what comes to match a selector is added, what ceases to is deleted as it last matched'({
    kube,
    aNode,
    fresh,
  }) {
    const run = fresh();
    const { name } = (await aNode({}, { a: 'b' })).metadata;
    const { resourceVersion } = await kube.list(AT_NODES);
    await kube.mergePatch(AT_NODES, name, { metadata: { labels: { run } } });
    const left = await kube.mergePatch(AT_NODES, name, { metadata: { labels: { run: null } } });
    await kube.mergePatch(AT_NODES, name, { metadata: { labels: { a: 'c' } } });
    await kube.mergePatch(AT_NODES, name, { metadata: { labels: { run } } });
    const events = await take(3, changesOf(kube, { ...AT_NODES, labelSelector: `run=${run}` }, resourceVersion));
    assert.deepEqual(column(events, 'type'), ['ADDED', 'DELETED', 'ADDED']);
    assert.deepEqual(events[1]?.object.metadata.labels, { a: 'b', run });
    assert.equal(events[1]?.object.metadata.resourceVersion, left.metadata.resourceVersion);
  },
  async 'a watch goes on from the version of any event'({ kube, aNode }) {
    const made = await aNode();
    const { name } = made.metadata;
    const second = await kube.mergePatch(AT_NODES, name, { spec: { pool: 'b' } });
    const third = await kube.mergePatch(AT_NODES, name, { spec: { pool: 'c' } });
    const fieldSelector = `metadata.name=${name}`;
    const from = identityOf(made).resourceVersion;
    const events = await take(2, changesOf(kube, { ...AT_NODES, fieldSelector }, from));
    assert.deepEqual(column(events, 'object'), [second, third]);
  },
  async 'a watch without a version, or from 0, begins with what is there'({ raw, aNode }) {
    const { name } = (await aNode({ pool: 'a' })).metadata;
    for (const from of [{}, { resourceVersion: '0' }]) {
      const query = { fieldSelector: `metadata.name=${name}`, timeoutSeconds: '120', ...from };
      const [event] = await take(1, await raw.watch({ path: NODES_PATH, query }));
      assert.equal(event.type, 'ADDED');
      assert.equal(event.object.spec.pool, 'a');
    }
  },
  async 'a watch from a version that is forgotten is told so, within a good answer'({ kube, raw }) {
    // Version 1 is older than the definition of the resource.
    const [event] = await take(1, await raw.watch({ path: NODES_PATH, query: { resourceVersion: '1' } }));
    assert.equal(event.type, 'ERROR');
    assert.equal(event.object.code, 410);
    assert.equal(event.object.reason, 'Expired');
    assert.match(event.object.message, /^too old resource version: 1 \(\d+\)$/);
    const refused = await refusalOf(take(1, changesOf(kube, AT_NODES, '1')));
    assert.equal(refused.code, 'KUBE_GONE');
  },
  async 'history can be lost: then older versions are refused and the newest still serves'({
    kube,
    aNode,
    connection,
  }) {
    const before = await kube.list(AT_NODES);
    await aNode();
    await connection.forgetHistory?.();
    // A server that begins again has its history from its first watch on: what is made before that may be older.
    if (connection.forgetHistory !== undefined) {
      const refused = await refusalOf(take(1, changesOf(kube, AT_NODES, before.resourceVersion)));
      assert.equal(refused.code, 'KUBE_GONE');
    }
    const made = await aNode();
    const { name, resourceVersion = '' } = made.metadata;
    const changed = await kube.mergePatch(AT_NODES, name, { spec: { pool: 'a' } });
    const [event] = await take(1, changesOf(kube, AT_NODES, resourceVersion));
    assert.deepEqual(event?.object, changed);
  },
  async 'a watch that cannot be is refused'({ kube, raw }) {
    const refused = await refusalOf(take(1, changesOf(kube, { ...AT_NODES, fieldSelector: 'spec.pool=a' }, '1')));
    assert.equal(refused.code, 'KUBE_INVALID');
    const timeout = await raw.call({ path: NODES_PATH, query: { watch: 'true', timeoutSeconds: 'x' } });
    assert.equal(timeout.status, 400);
    const version = await raw.call({ path: NODES_PATH, query: { watch: 'true', resourceVersion: 'x' } });
    assert.ok(version.status >= 400, String(version.status));
  },
  async 'ConfigMaps are watched in one namespace'({ kube, fresh, aMap }) {
    const { resourceVersion } = await kube.list(AT_MAPS);
    await kube.create(
      { ...AT_MAPS, namespace: 'default' },
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: fresh() },
      },
    );
    const made = await aMap({ a: 'b' });
    const [event] = await take(1, changesOf(kube, AT_MAPS, resourceVersion));
    assert.deepEqual(event, { type: 'ADDED', object: made });
  },
  async 'a watch ends when the caller does not want it any more'({ kube }) {
    const { resourceVersion } = await kube.list(AT_NODES);
    const over = new AbortController();
    setTimeout(() => over.abort(), 100);
    const ended: unknown = await (async () => {
      for await (const event of kube.watch(
        { ...AT_NODES, fieldSelector: 'metadata.name=nobody' },
        { version: resourceVersion, lastsMs: 300_000 },
        over.signal,
      )) {
        assert.equal(event.type, 'BOOKMARK');
      }
    })().catch((error: unknown) => error);
    assert.ok(ended === undefined || isKubeError(ended, 'KUBE_ABORTED'), String(ended));
  },
};
