import { isKubeError } from '#shared/kube/kube-error.ts';
import assert from 'node:assert/strict';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { PODS } from '#shared/kube/kube.ts';
import { createDrains } from '#reconciler/cluster/drains/drains.ts';
import type { Behaviours } from '../suite.ts';
import type { Bench } from '../support/bench.ts';

const NAMESPACE = 'kubelet-gitops';
const AT_PODS = { resource: PODS, namespace: NAMESPACE };

/** A Running pod on a node of its own, so that draining that node drains nothing else. */
async function runningPod(
  { kube, raw, fresh }: Bench,
  guarded: string,
  ready = true,
): Promise<KubeObject & { node: string }> {
  const [name, node] = [fresh('pod'), fresh('node')];
  const made = await kube.create(AT_PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, labels: { guarded } },
    spec: {
      nodeName: node,
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: 'example.test/none' }],
    },
  } as KubeObject);
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${name}/status`;
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  const answer = await raw.call({ method: 'PATCH', path, body: { status: { phase: 'Running', conditions } } });
  assert.equal(answer.status, 200, answer.text);
  return { ...made, node };
}

/** A budget for pods with the label, and what its controller would have computed. @returns sets how many may go now */
async function budget({ raw, fresh }: Bench, guarded: string): Promise<(allowed: number) => Promise<void>> {
  // Servers before 1.21 have it as v1beta1, those from 1.25 on as v1 alone.
  const known = await raw.call({ path: '/apis/policy/v1' });
  const version = known.status === 200 ? 'policy/v1' : 'policy/v1beta1';
  const path = `/apis/${version}/namespaces/${NAMESPACE}/poddisruptionbudgets`;
  const name = fresh('budget');
  const body = {
    apiVersion: version,
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: NAMESPACE },
    spec: { minAvailable: 1, selector: { matchLabels: { guarded } } },
  };
  const made = await raw.call({ method: 'POST', path, body });
  assert.equal(made.status, 201, made.text);
  return async (disruptionsAllowed) => {
    const status = {
      observedGeneration: 1,
      disruptionsAllowed,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    };
    const written = await raw.call({ method: 'PATCH', path: `${path}/${name}/status`, body: { status } });
    assert.equal(written.status, 200, written.text);
  };
}

/** A pod on a node without a kubelet stays in a real server's list, told to go; in the sandbox it is gone at once. */
async function isTold({ kube }: Bench, { metadata }: KubeObject): Promise<boolean> {
  const pod = await kube.get(AT_PODS, metadata.name);
  return pod === null || pod.metadata.deletionTimestamp !== undefined;
}

const never = new AbortController().signal;

export const evictingBehaviours: Behaviours = {
  async 'pods are selected by the node that they run on'(bench) {
    const pod = await runningPod(bench, bench.fresh('label'));
    await runningPod(bench, bench.fresh('label'));
    const { items } = await bench.kube.list({ resource: PODS, fieldSelector: `spec.nodeName=${pod.node}` });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      [pod.metadata.name],
    );
  },
  async 'pods are selected by whether they have ended'(bench) {
    const label = bench.fresh('label');
    await runningPod(bench, label);
    const running = { ...AT_PODS, labelSelector: `guarded=${label}` };
    const counted = async (fieldSelector: string): Promise<number> =>
      (await bench.kube.list({ ...running, fieldSelector })).items.length;
    assert.equal(await counted('status.phase!=Succeeded,status.phase!=Failed'), 1);
    assert.equal(await counted('status.phase!=Running'), 0);
  },
  async 'a pod without a budget is evicted, and its node is then drained'(bench) {
    const pod = await runningPod(bench, bench.fresh('label'));
    const drains = createDrains(bench.kube);
    await drains.evict(pod.node, 1, never);
    assert.ok(await isTold(bench, pod));
    assert.match(drains.views().get(pod.node)?.because ?? '', /^1 pods have to leave \([^;]*\)$/);
  },
  async 'a budget that is used up refuses, in words that say so, and then lets go'(bench) {
    const label = bench.fresh('label');
    const allow = await budget(bench, label);
    const pod = await runningPod(bench, label);
    await allow(0);
    const drains = createDrains(bench.kube);
    await drains.evict(pod.node, 1, never);
    assert.equal(await isTold(bench, pod), false);
    const view = drains.views().get(pod.node);
    assert.equal(view?.drained, false);
    assert.match(view.because, /would violate the pod's disruption budget\. The disruption budget budget-\w+ needs 1 /);
    await allow(1);
    await drains.evict(pod.node, 1, never);
    assert.ok(await isTold(bench, pod));
  },
  async 'a pod that is not ready goes past a budget whose other pods are healthy enough'(bench) {
    const label = bench.fresh('label');
    const allow = await budget(bench, label);
    const pod = await runningPod(bench, label, false);
    await allow(0);
    await createDrains(bench.kube).evict(pod.node, 1, never);
    assert.ok(await isTold(bench, pod));
  },
  async 'an eviction that is only tried is refused as a real one would be, and moves and spends nothing'(bench) {
    const label = bench.fresh('label');
    const allow = await budget(bench, label);
    const pod = await runningPod(bench, label);
    const attempt = (apiVersion: string): Promise<unknown> => {
      const metadata = { name: pod.metadata.name, namespace: NAMESPACE };
      const body = { apiVersion, kind: 'Eviction', metadata, deleteOptions: { dryRun: ['All'] } } as KubeObject;
      return bench.kube.create({ ...AT_PODS, subresource: 'eviction' }, body);
    };
    // Before 1.22 there is no other than the beta.
    const attemptAnyway = (): Promise<unknown> =>
      attempt('policy/v1').catch((error: unknown) => {
        if (!isKubeError(error, 'KUBE_INVALID')) throw error;
        return attempt('policy/v1beta1');
      });
    await allow(0);
    await assert.rejects(attemptAnyway(), /would violate the pod's disruption budget/);
    await allow(1);
    for (let time = 0; time < 2; time += 1) await attemptAnyway();
    assert.equal(await isTold(bench, pod), false);
  },
  async 'a disruption that a budget allows is spent by one eviction'(bench) {
    const label = bench.fresh('label');
    const allow = await budget(bench, label);
    const pods = [await runningPod(bench, label), await runningPod(bench, label)];
    await allow(1);
    const drains = createDrains(bench.kube);
    for (const { node } of pods) await drains.evict(node, 1, never);
    const told = await Promise.all(pods.map((pod) => isTold(bench, pod)));
    assert.deepEqual(told, [true, false]);
  },
};
