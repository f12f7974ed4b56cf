import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import { NODES_PATH, nodeBody, refusalOf } from '../../conformance/support/bench.ts';
import { aSandbox, nodeNamed } from './support/sandbox.ts';

const AT_NODES = { resource: KUBELET_NODES };

describe('faults of the sandbox API server', () => {
  it('strike as often as they are told to', async () => {
    await using sandbox = await aSandbox();
    const { kube, server } = sandbox;
    server.faults.set({ answer: 500, times: 2 });
    for (let turn = 0; turn < 2; turn += 1) {
      assert.equal((await refusalOf(kube.get(AT_NODES, 'a'))).code, 'KUBE_SERVER_ERROR');
    }
    assert.equal(await kube.get(AT_NODES, 'a'), null);
    assert.equal(server.faults.struck(), 2);
  });

  it('answer as the client has to tell them apart', async () => {
    await using sandbox = await aSandbox();
    const { kube, server } = sandbox;
    const codes = [
      [409, 'KUBE_CONFLICT'],
      [410, 'KUBE_GONE'],
      [429, 'KUBE_THROTTLED'],
      [500, 'KUBE_SERVER_ERROR'],
      [503, 'KUBE_SERVER_ERROR'],
      ['reset', 'KUBE_UNREACHABLE'],
    ] as const;
    for (const [answer, code] of codes) {
      server.faults.set({ answer });
      assert.equal((await refusalOf(kube.create(AT_NODES, nodeBody('a')))).code, code, String(answer));
    }
    server.faults.clear();
    assert.equal(await kube.get(AT_NODES, 'a'), null);
  });

  it('can be silent', async () => {
    await using sandbox = await aSandbox({}, { callMs: 100 });
    sandbox.server.faults.set({ answer: 'hang' });
    assert.equal((await refusalOf(sandbox.kube.create(AT_NODES, nodeBody('a')))).code, 'KUBE_TIMEOUT');
  });

  it('ask for time when they are told to', async () => {
    await using sandbox = await aSandbox();
    sandbox.server.faults.set({ answer: 429, retryAfter: 7 });
    const refused = await refusalOf(sandbox.kube.get(AT_NODES, 'a'));
    assert.deepEqual(refused.disposition, { kind: 'wait', ms: 7_000 });
  });

  it('meet only the requests that they match, the first of several', async () => {
    await using sandbox = await aSandbox();
    const { kube, server } = sandbox;
    server.store.seed(NODES, nodeNamed('a'));
    server.faults.set(
      { match: ({ of }) => of?.resource === 'kubeletnodes' && of.verb === 'create', answer: 503 },
      { match: ({ of }) => of?.resource === 'kubeletnodes', answer: 'reset' },
    );
    assert.equal((await refusalOf(kube.create(AT_NODES, nodeBody('a')))).status, 503);
    assert.equal((await refusalOf(kube.get(AT_NODES, 'a'))).code, 'KUBE_UNREACHABLE');
    assert.notEqual(await kube.get({ resource: NODES }, 'a'), null);
  });

  it('can lose the answer to a write that was carried out', async () => {
    await using sandbox = await aSandbox();
    const { kube, server } = sandbox;
    server.faults.set({ answer: 'lost-answer', times: 1 });
    assert.equal((await refusalOf(kube.create(AT_NODES, nodeBody('a')))).code, 'KUBE_UNREACHABLE');
    assert.notEqual(server.store.get(KUBELET_NODES, 'a'), undefined);
    assert.equal((await refusalOf(kube.create(AT_NODES, nodeBody('a')))).code, 'KUBE_ALREADY_EXISTS');
  });

  it('can be slow and right', async () => {
    await using sandbox = await aSandbox();
    sandbox.server.faults.set({ latencyMs: 60 });
    const began = performance.now();
    assert.equal((await sandbox.raw.call({ path: NODES_PATH })).status, 200);
    assert.ok(performance.now() - began >= 59);
  });
});
