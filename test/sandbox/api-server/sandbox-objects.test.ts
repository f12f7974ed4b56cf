import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import { NAMESPACES } from '#sandbox/api-server/resources/built-in.ts';
import { changesOf, mapBody, nodeBody, NODES_PATH, take } from '../../conformance/support/bench.ts';
import { aSandbox, nodeNamed } from './support/sandbox.ts';

describe('objects from inside the sandbox', () => {
  it('are made whole, status included, and heard of outside', async () => {
    await using sandbox = await aSandbox();
    const { kube, server } = sandbox;
    const { resourceVersion } = await kube.list({ resource: KUBELET_NODES });
    const seeded = server.store.seed(KUBELET_NODES, { ...nodeNamed('a', { pool: 'x' }), status: { phase: 'Idle' } });
    assert.deepEqual(seeded.status, { phase: 'Idle' });
    assert.deepEqual(await kube.get({ resource: KUBELET_NODES }, 'a'), seeded);
    const [added] = await take(1, changesOf(kube, { resource: KUBELET_NODES }, resourceVersion));
    assert.equal(added?.object.metadata.name, 'a');
  });

  it('keep to the rules that hold outside', async () => {
    await using sandbox = await aSandbox();
    const { store } = sandbox.server;
    assert.throws(() => store.seed(KUBELET_NODES, nodeNamed('Upper')), /metadata\.name: Invalid value/);
    assert.throws(() => store.remove(NODES, 'a'), /nodes "a" not found/);
    const wrong = { status: { phase: 'Asleep' } };
    store.seed(KUBELET_NODES, nodeNamed('a'));
    assert.throws(() => store.patch(KUBELET_NODES, 'a', wrong), /status\.phase: Unsupported value/);
  });

  it('are patched through both doors at once', async () => {
    await using sandbox = await aSandbox();
    const { store } = sandbox.server;
    store.seed(NODES, { ...nodeNamed('a'), status: {} } as KubeObject);
    const patched = store.patch(NODES, 'a', { spec: { unschedulable: true }, status: { phase: 'Running' } });
    assert.deepEqual(patched['spec'], { unschedulable: true });
    assert.deepEqual(patched['status'], { phase: 'Running' });
  });

  it('are listed by namespace or all', async () => {
    await using sandbox = await aSandbox();
    const { store } = sandbox.server;
    store.seed(CONFIG_MAPS, mapBody('a', {}));
    store.seed(CONFIG_MAPS, { metadata: { name: 'b', namespace: 'default' } });
    const names = (namespace?: string): readonly string[] =>
      store.list(CONFIG_MAPS, namespace).map(({ metadata }) => metadata.name);
    assert.deepEqual(names(), ['b', 'a']);
    assert.deepEqual(names('kubelet-gitops'), ['a']);
  });
});

describe('what the controllers of a cluster would do', () => {
  it('takes what a deleted Node owned with it', async () => {
    await using sandbox = await aSandbox();
    const { kube, server } = sandbox;
    const { uid } = server.store.seed(NODES, nodeNamed('a')).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid }];
    const owned: KubeletNode = { ...nodeBody('a'), metadata: { name: 'a', ownerReferences } };
    server.store.seed(KUBELET_NODES, owned);
    server.store.seed(KUBELET_NODES, nodeNamed('b'));
    const { resourceVersion } = await kube.list({ resource: KUBELET_NODES });
    server.store.remove(NODES, 'a');
    assert.deepEqual(
      server.store.list(KUBELET_NODES).map(({ metadata }) => metadata.name),
      ['b'],
    );
    const [event] = await take(1, changesOf(kube, { resource: KUBELET_NODES }, resourceVersion));
    assert.equal(event?.type, 'DELETED');
  });

  it('empties a namespace that is deleted', async () => {
    await using sandbox = await aSandbox();
    const { store } = sandbox.server;
    store.seed(CONFIG_MAPS, mapBody('a', {}));
    store.seed(CONFIG_MAPS, { metadata: { name: 'b', namespace: 'default' } });
    store.remove(NAMESPACES, 'kubelet-gitops');
    assert.deepEqual(
      store.list(CONFIG_MAPS).map(({ metadata }) => metadata.name),
      ['b'],
    );
  });
});

describe('what the sandbox leaves out', () => {
  it('refuses patches other than merge patches, and says what it takes', async () => {
    await using sandbox = await aSandbox();
    sandbox.server.store.seed(KUBELET_NODES, nodeNamed('a'));
    for (const contentType of ['application/json-patch+json', 'application/apply-patch+yaml', 'application/yaml']) {
      const answer = await sandbox.raw.call({ method: 'PATCH', path: `${NODES_PATH}/a`, body: {}, contentType });
      assert.equal(answer.status, 415, contentType);
      assert.match(answer.json().message, /accepted media types include: application\/merge-patch\+json$/);
    }
  });

  it('takes a strategic merge patch of a built-in type only as far as conditions', async () => {
    await using sandbox = await aSandbox();
    const { raw, server } = sandbox;
    server.store.seed(NODES, nodeNamed('a'));
    const contentType = 'application/strategic-merge-patch+json';
    const patch = (body: unknown) => raw.call({ method: 'PATCH', path: '/api/v1/nodes/a', body, contentType });
    const labelled = await patch({ metadata: { labels: { a: 'b' } } });
    assert.deepEqual(labelled.json().metadata.labels, { a: 'b' });
    assert.equal((await patch({ spec: { taints: [] } })).status, 415);
    assert.equal((await patch({ spec: { $patch: 'replace' } })).status, 415);
  });

  it('deletes no collections', async () => {
    await using sandbox = await aSandbox();
    assert.equal((await sandbox.raw.call({ method: 'DELETE', path: NODES_PATH })).status, 405);
  });
});

describe('newer rules that 1.20 does not have yet', () => {
  it('two conditions of one type are refused', async () => {
    await using sandbox = await aSandbox();
    const { store } = sandbox.server;
    store.seed(KUBELET_NODES, nodeNamed('a'));
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const condition = { type: 'A', status: 'True', reason: 'R', message: 'm', lastTransitionTime };
    assert.throws(
      () => store.patch(KUBELET_NODES, 'a', { status: { conditions: [condition, { ...condition, status: 'False' }] } }),
      /status\.conditions\[1\]: Duplicate value: \{"type":"A"\}/,
    );
  });
});
