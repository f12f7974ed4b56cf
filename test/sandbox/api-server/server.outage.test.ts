import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { changesOf, nodeBody, NODES_PATH, refusalOf, take } from '../../conformance/support/bench.ts';
import { until } from '../../support/until.ts';
import { aSandbox, nodeNamed } from './support/sandbox.ts';

const AT_NODES = { resource: KUBELET_NODES };

describe('an outage of the sandbox API server', () => {
  it('keeps all objects, their versions and the address', async () => {
    await using sandbox = await aSandbox();
    const { kube, server } = sandbox;
    const made = await kube.create(AT_NODES, nodeBody('a', { pool: 'a' }));
    await server.stop();
    assert.equal((await refusalOf(kube.get(AT_NODES, 'a'))).code, 'KUBE_UNREACHABLE');
    await server.start();
    assert.deepEqual(await kube.get(AT_NODES, 'a'), made);
  });

  it('loses nothing that a watch could go on from', async () => {
    await using sandbox = await aSandbox();
    const { kube, server } = sandbox;
    const { resourceVersion } = await kube.list(AT_NODES);
    await kube.create(AT_NODES, nodeBody('a'));
    await server.restart();
    const [event] = await take(1, changesOf(kube, AT_NODES, resourceVersion));
    assert.equal(event?.object.metadata.name, 'a');
  });

  it('breaks the watches that are open, and leaves none behind', async () => {
    await using sandbox = await aSandbox();
    const { kube, server } = sandbox;
    const { resourceVersion } = await kube.list(AT_NODES);
    const broken = refusalOf(take(1, changesOf(kube, AT_NODES, resourceVersion)));
    await until('the watch is open', () => server.watches() === 1);
    await server.stop();
    assert.equal((await broken).code, 'KUBE_UNREACHABLE');
    await until('no watch is left', () => server.watches() === 0);
  });

  it('may be stopped twice', async () => {
    await using sandbox = await aSandbox();
    await sandbox.server.stop();
    await sandbox.server.stop();
  });
});

describe('watches of the sandbox API server', () => {
  it('can be ended in order or by a broken connection', async () => {
    await using sandbox = await aSandbox();
    const { raw, server } = sandbox;
    for (const [how, outcome] of [
      ['closed', 'ended'],
      ['reset', 'broke'],
    ] as const) {
      const events = await raw.watch({ path: NODES_PATH, query: { resourceVersion: String(server.store.version()) } });
      const heard = (async () => {
        for await (const event of events) assert.fail(JSON.stringify(event));
        return 'ended';
      })().catch(() => 'broke');
      assert.equal(server.watches(), 1);
      server.dropWatches(how);
      server.store.seed(KUBELET_NODES, nodeNamed(`unheard-${how}`));
      assert.equal(await heard, outcome);
    }
  });

  it('hear of the newest version by bookmarks, where they asked and something changed', async () => {
    await using sandbox = await aSandbox();
    const { raw, server } = sandbox;
    server.store.seed(KUBELET_NODES, nodeNamed('a'));
    const query = { fieldSelector: 'metadata.name=b', allowWatchBookmarks: 'true', timeoutSeconds: '120' };
    const resourceVersion = String(server.store.version());
    const events = await raw.watch({ path: NODES_PATH, query: { ...query, resourceVersion } });
    server.sendBookmarks();
    const newest = server.store.patch(KUBELET_NODES, 'a', { spec: { pool: 'x' } });
    server.sendBookmarks();
    server.sendBookmarks();
    server.store.seed(KUBELET_NODES, nodeNamed('b'));
    const [bookmark, added] = await take(2, events);
    assert.equal(bookmark.type, 'BOOKMARK');
    assert.equal(bookmark.object.kind, 'KubeletNode');
    assert.equal(bookmark.object.metadata.resourceVersion, newest.metadata.resourceVersion);
    assert.equal(added.type, 'ADDED');
  });

  it('get bookmarks by themselves after a while', async () => {
    await using sandbox = await aSandbox({ bookmarkEveryMs: 20 });
    const { raw, server } = sandbox;
    const query = {
      labelSelector: 'a=b',
      allowWatchBookmarks: 'true',
      resourceVersion: String(server.store.version()),
    };
    const events = await raw.watch({ path: NODES_PATH, query });
    server.store.seed(KUBELET_NODES, nodeNamed('a'));
    const [bookmark] = await take(1, events);
    assert.equal(bookmark.type, 'BOOKMARK');
  });

  it('go on from what is remembered, and no further back', async () => {
    await using sandbox = await aSandbox({ historyLimit: 10 });
    const { kube, server } = sandbox;
    const { resourceVersion: old } = await kube.list(AT_NODES);
    for (let index = 0; index < 10; index += 1) server.store.seed(KUBELET_NODES, nodeNamed(`early-${index}`));
    assert.equal((await take(10, changesOf(kube, AT_NODES, old))).length, 10);
    const { resourceVersion: recent } = await kube.list(AT_NODES);
    for (let index = 0; index < 10; index += 1) server.store.seed(KUBELET_NODES, nodeNamed(`late-${index}`));
    assert.equal((await take(10, changesOf(kube, AT_NODES, recent))).length, 10);
    assert.equal((await refusalOf(take(1, changesOf(kube, AT_NODES, old)))).code, 'KUBE_GONE');
  });
});

describe('pages of the sandbox API server', () => {
  it('expire with the history', async () => {
    await using sandbox = await aSandbox();
    const { raw, server } = sandbox;
    for (const name of ['a', 'b', 'c']) server.store.seed(KUBELET_NODES, nodeNamed(name));
    const first = (await raw.call({ path: NODES_PATH, query: { limit: '1' } })).json();
    server.store.seed(KUBELET_NODES, nodeNamed('d'));
    server.compact();
    const next = await raw.call({ path: NODES_PATH, query: { limit: '1', continue: first.metadata.continue } });
    assert.equal(next.status, 410);
    assert.equal(next.json().reason, 'Expired');
    const listed = await sandbox.kube.list(AT_NODES);
    assert.equal(listed.items.length, 4);
  });
});
