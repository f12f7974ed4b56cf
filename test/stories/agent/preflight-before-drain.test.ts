import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NODE, payloadOf } from '../../support/agent/whole-node.ts';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';
import type { Preflight } from '#agent/ports/preflight.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';

const NAMESPACE = 'kubelet-gitops';

let podsRun = true;
const refuses666: Preflight = (effective) =>
  effective['maxPods'] === 555 && podsRun
    ? [
        {
          code: 'pods-keep-user-ids',
          severity: 'error',
          field: 'userNamespaces.idsPerPod',
          message: 'pods have others',
        },
      ]
    : effective['maxPods'] === 50
      ? [{ code: 'too-many-pods', severity: 'error', field: 'maxPods', message: '60 pods run on this node' }]
      : effective['maxPods'] === 666
        ? [
            {
              code: 'cgroup-missing',
              severity: 'error',
              field: 'systemReservedCgroup',
              message: 'there is no such cgroup',
            },
          ]
        : [];

/** A node at rest whose reconciler asks about a config. */
async function askedNode(maxPods: number) {
  const { node, good } = await settledNode({ guard: true, preflight: refuses666 });
  const payload = payloadOf({ maxPods });
  const [name, sha256] = [configMapName('general', payload), payloadSha256(payload)];
  const configMap = { metadata: { name, namespace: NAMESPACE, uid: `uid-${name}` }, data: { kubelet: payload } };
  node.kube.put('configmaps', configMap);
  const source = { namespace: NAMESPACE, name, uid: `uid-${name}`, resourceVersion: '7', key: 'kubelet', sha256 };
  const ask = (retry?: string) =>
    node.kube.assign(NODE, {
      ...node.kube.spec(NODE),
      preflight: { configSource: source, apply: 'overlay', ...(retry === undefined ? {} : { retry }) },
    });
  ask();
  return { node, good, ask, sha256 };
}

describe('an agent that is asked about a config before the pods of its node leave', () => {
  it('says yes, and leaves files, kubelet and assignment alone', async () => {
    const { node, good, sha256 } = await askedNode(150);
    const starts = node.kubelet.starts();
    await node.until('the answer', () => node.status().preflight?.outcome === 'passed');
    assert.equal(node.status().preflight?.sha256, sha256);
    await node.pass(600_000);
    assert.ok(isIdleOn(node, good)());
    assert.deepEqual([node.kubelet.starts(), node.maxPods()], [starts, 100]);
    node.assign({ maxPods: 150 });
    await node.until('on trial', () => node.maxPods() === 150);
    assert.equal(node.status().preflight?.outcome, 'ready');
  });

  it('says no, with the reason, and rejects nothing', async () => {
    const { node, good, ask } = await askedNode(666);
    await node.until('the answer', () => node.status().preflight?.outcome === 'refused');
    const { reason, message, at } = node.status().preflight ?? {};
    assert.equal(reason, 'PreflightFailed');
    assert.match(message ?? '', /there is no such cgroup/);
    assert.deepEqual([node.status().rejected, node.status().error], [undefined, undefined]);
    assert.ok(isIdleOn(node, good)());

    await node.stop();
    node.start();
    await node.pass(120_000);
    assert.equal(node.status().preflight?.at, at, 'another agent finds the same, since the same time');
    ask(at);
    await node.until('another answer', () => node.status().preflight?.retry === at);
    assert.notEqual(node.status().preflight?.at, at);
  });

  it('lets its node be drained for fewer pods than run there', async () => {
    const { node } = await askedNode(50);
    await node.until('the answer', () => node.status().preflight?.outcome === 'passed');
  });

  it('minds no pods that the drain ends, and waits for those that it leaves', async () => {
    const { node } = await askedNode(555);
    const starts = node.kubelet.starts();
    await node.until('the answer', () => node.status().preflight?.outcome === 'passed');
    node.assign({ maxPods: 555 });
    await node.until('the reason', () => node.status().error?.reason === 'PreflightFailed');
    await node.pass(600_000);
    assert.deepEqual([node.kubelet.starts(), node.maxPods(), node.status().rejected], [starts, 100, undefined]);
    podsRun = false;
    await node.until('on trial', () => node.maxPods() === 555);
  });
});
