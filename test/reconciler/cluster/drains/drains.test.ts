import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeError } from '#shared/kube/kube-error.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { createDrains } from '#reconciler/cluster/drains/drains.ts';

const never = new AbortController().signal;
const kubeWith = (list: () => Promise<unknown>): Kube => ({ list }) as unknown as Kube;
const NOTHING = { cpu: 0, memory: 0, 'ephemeral-storage': 0 };
const pod = (phase: string): object => ({ metadata: { name: phase }, status: { phase } });

describe('the pods of a node', () => {
  it('are counted as the kubelet counts them: those that have ended take nobody’s room', async () => {
    const items = ['Running', 'Pending', 'Succeeded', 'Failed', 'Running'].map(pod);
    const drains = createDrains(kubeWith(() => Promise.resolve({ resourceVersion: '1', items })));
    await drains.count('n1', 7, never);
    assert.deepEqual(drains.counts().get('n1'), { at: 7, pods: 3, vital: { count: 0, requests: NOTHING } });
  });

  it('tell what those request that the node cannot do without, and have not ended', async () => {
    const daemon = (name: string, phase: string): object => ({
      metadata: { name, ownerReferences: [{ kind: 'DaemonSet' }] },
      spec: { containers: [{ resources: { requests: { memory: '1Ki' } } }] },
      status: { phase },
    });
    const items = [pod('Running'), daemon('runs', 'Running'), daemon('ended', 'Failed')];
    const drains = createDrains(kubeWith(() => Promise.resolve({ resourceVersion: '1', items })));
    await drains.count('n1', 7, never);
    assert.deepEqual(drains.counts().get('n1')?.vital, { count: 1, requests: { ...NOTHING, memory: 1024 } });
  });

  it('tell which features they need, where they have not ended', async () => {
    const needing = (name: string, phase: string): object => ({
      metadata: { name, namespace: 'prod' },
      spec: { hostNetwork: true, hostUsers: false },
      status: { phase },
    });
    const items = [pod('Running'), needing('runs', 'Running'), needing('ended', 'Succeeded')];
    const drains = createDrains(kubeWith(() => Promise.resolve({ resourceVersion: '1', items })));
    await drains.count('n1', 7, never);
    const needs = [['UserNamespacesHostNetworkSupport', { names: ['prod/runs'], count: 1 }]];
    assert.deepEqual([...(drains.counts().get('n1')?.needs ?? [])], needs);
  });

  it('are not known where there is no right to see them: that is no failure', async () => {
    const drains = createDrains(kubeWith(() => Promise.reject(new KubeError('KUBE_FORBIDDEN', 'no'))));
    await drains.count('n1', 7, never);
    assert.deepEqual(drains.counts().get('n1'), { at: 7, pods: null });
  });

  it('are not asked for node by node where there is no right, and once more every ten minutes', async () => {
    let asked = 0;
    const drains = createDrains(
      kubeWith(() => {
        asked += 1;
        return Promise.reject(new KubeError('KUBE_FORBIDDEN', 'no'));
      }),
    );
    for (const [index, node] of ['n1', 'n2', 'n3'].entries()) await drains.count(node, 1_000 * index, never);
    assert.equal(asked, 1);
    assert.deepEqual(drains.counts().get('n3'), { at: 2_000, pods: null });
    await drains.count('n1', 600_000, never);
    assert.equal(asked, 2);
  });

  it('are forgotten with their node, so that nodes which come and go leave nothing behind', async () => {
    const drains = createDrains(kubeWith(() => Promise.resolve({ resourceVersion: '1', items: [] })));
    for (const node of ['n1', 'n2']) {
      await drains.count(node, 7, never);
      await drains.evict(node, 7, never);
    }
    drains.keepOnly(new Map([['n2', {}]]));
    assert.deepEqual([[...drains.counts().keys()], [...drains.views().keys()]], [['n2'], ['n2']]);
  });

  it('that cannot be read stay in the way of their own node, and the others leave', async () => {
    const unreadable = {
      metadata: { name: 'bad', namespace: 'x' },
      get status(): never {
        throw new RangeError('poison');
      },
    };
    const listed = Promise.resolve({ resourceVersion: '1', items: [pod('Running'), unreadable, pod('Pending')] });
    const gone: string[] = [];
    const kube = {
      list: () => listed,
      create(_: unknown, { metadata }: { readonly metadata: { readonly name: string } }) {
        gone.push(metadata.name);
        return metadata.name === 'bad'
          ? Promise.reject(new KubeError('KUBE_SERVER_ERROR', 'no'))
          : Promise.resolve({ metadata });
      },
    } as unknown as Kube;
    const drains = createDrains(kube);
    await drains.evict('n1', 7, never);
    await drains.count('n1', 7, never);
    assert.deepEqual(gone, ['Running', 'bad', 'Pending']);
    assert.equal(drains.views().get('n1')?.drained, false);
    assert.match(drains.views().get('n1')?.because ?? '', /x\/bad: no/);
    assert.equal(drains.counts().get('n1')?.pods, 3);
  });

  it('are evicted no further where the API server asks for time; where a budget refuses one, the others have their turn', async () => {
    const items = ['a', 'b', 'c'].map(pod);
    let evicted = 0;
    const listed = Promise.resolve({ resourceVersion: '1', items });
    const refusing = (error: KubeError): Kube => ({
      ...kubeWith(() => listed),
      create() {
        evicted += 1;
        return Promise.reject(error);
      },
    });
    const drains = createDrains(refusing(new KubeError('KUBE_THROTTLED', 'the budget')));
    await drains.evict('n1', 7, never);
    assert.equal(evicted, 3);
    const wait = { kind: 'wait', ms: 5_000 } as const;
    const waiting = createDrains(refusing(new KubeError('KUBE_THROTTLED', 'too much', { disposition: wait })));
    await assert.rejects(waiting.evict('n1', 7, never), { code: 'KUBE_THROTTLED' });
    assert.equal(evicted, 4);
  });

  it('are asked for again where the API server does not answer', async () => {
    const drains = createDrains(kubeWith(() => Promise.reject(new KubeError('KUBE_TIMEOUT', 'late'))));
    await assert.rejects(drains.count('n1', 7, never), { code: 'KUBE_TIMEOUT' });
    assert.equal(drains.counts().get('n1'), undefined);
  });
});
