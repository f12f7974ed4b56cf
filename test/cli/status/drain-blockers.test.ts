import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withDrainBlockers } from '#cli/status/drain-blockers.ts';
import type { NodeReason } from '#reconciler/policy/pool-status/explain-nodes.ts';
import { POD_DISRUPTION_BUDGETS } from '#sandbox/api-server/resources/built-in.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { type Kube, PODS } from '#shared/kube/kube.ts';
import { fleetOf, nodeView, NOW } from '../../support/fleet.ts';
import { aSandbox, type ApiServerSandbox } from '../../sandbox/api-server/support/sandbox.ts';

const reason = (node: string): NodeReason => ({
  node,
  pool: 'workers',
  standing: 'outdated',
  now: 'drain',
  because: 'its pods are told to leave',
});
const FLEET = fleetOf({
  nodes: [nodeView('a', 'workers', { drain: { config: 'workers-1', at: NOW } }), nodeView('b', 'workers')],
});

function seedPod(
  { server: { store } }: ApiServerSandbox,
  name: string,
  app: string,
  more: Partial<KubeObject['metadata']> = {},
) {
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const metadata = { name, namespace: 'shop', labels: { app }, ...more };
  store.seed(PODS, { metadata, spec: { nodeName: name.startsWith('b-') ? 'b' : 'a' }, status } as KubeObject);
}

function seedBudget(
  { server: { store } }: ApiServerSandbox,
  name: string,
  app: string,
  allowed = 0,
  namespace = 'shop',
) {
  const spec = { selector: { matchLabels: { app } } };
  const status = { disruptionsAllowed: allowed, currentHealthy: 2, desiredHealthy: 2 };
  store.seed(POD_DISRUPTION_BUDGETS, { metadata: { name, namespace }, spec, status } as KubeObject);
}

const said = async (kube: Kube): Promise<readonly string[]> =>
  (await withDrainBlockers(kube, [reason('a'), reason('b')], FLEET)).map(({ because }) => because);

const KEPT = 'is kept by the PodDisruptionBudget web, which needs 2 healthy pods and has 2';
const TOLD = 'its pods are told to leave';

describe('what holds a drain up', () => {
  it('is the pod and the budget that keeps it, on the node that is being drained', async () => {
    await using sandbox = await aSandbox({ namespaces: ['shop', 'other'] });
    seedPod(sandbox, 'web-1', 'web');
    seedPod(sandbox, 'b-web', 'web');
    seedPod(sandbox, 'free', 'free');
    seedPod(sandbox, 'agent', 'web', {
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'x', uid: 'x', controller: true }],
    });
    assert.deepEqual(await said(sandbox.kube), [TOLD, TOLD]);
    seedBudget(sandbox, 'web', 'web');
    seedBudget(sandbox, 'elsewhere', 'free', 0, 'other');
    seedBudget(sandbox, 'generous', 'free', 1);
    assert.deepEqual(await said(sandbox.kube), [`${TOLD}; shop/web-1 ${KEPT}`, TOLD]);
    for (const name of ['web-2', 'web-3', 'web-4', 'web-5']) seedPod(sandbox, name, 'web');
    const [many = ''] = await said(sandbox.kube);
    assert.match(many, /shop\/web-3 is kept by .*; and 2 more pods are kept$/);
  });

  it('is two budgets that select the same pod, forever', async () => {
    await using sandbox = await aSandbox({ namespaces: ['shop'] });
    seedPod(sandbox, 'web-1', 'web');
    seedBudget(sandbox, 'one', 'web', 1);
    seedBudget(sandbox, 'two', 'web', 1);
    assert.match((await said(sandbox.kube))[0] ?? '', /kept by the PodDisruptionBudgets one and two: no pod that two/);
  });

  it('is read from API servers before 1.21, where a budget without a selector keeps no pod', async () => {
    await using sandbox = await aSandbox({ namespaces: ['shop'] });
    seedPod(sandbox, 'web-1', 'web');
    const asked: string[] = [];
    const older: Kube = {
      ...sandbox.kube,
      list: async (options, signal) => {
        const { resource } = options;
        if (resource.group !== 'policy') return sandbox.kube.list(options, signal);
        asked.push(resource.version);
        if (resource.version === 'v1') throw new KubeError('KUBE_NOT_FOUND', 'no such resource');
        return sandbox.kube.list({ ...options, resource: POD_DISRUPTION_BUDGETS }, signal);
      },
    };
    const empty = { metadata: { name: 'empty', namespace: 'shop' }, spec: { selector: {} }, status: {} };
    sandbox.server.store.seed(POD_DISRUPTION_BUDGETS, empty);
    assert.deepEqual(await said(older), [TOLD, TOLD]);
    seedBudget(sandbox, 'web', 'web');
    assert.deepEqual(await said(older), [`${TOLD}; shop/web-1 ${KEPT}`, TOLD]);
    assert.deepEqual(asked, ['v1', 'v1beta1', 'v1', 'v1beta1']);
  });

  it('is not named where nobody may look, and is an error where the API server is away', async () => {
    await using sandbox = await aSandbox({ namespaces: ['shop'] });
    const failing = (code: 'KUBE_FORBIDDEN' | 'KUBE_UNREACHABLE'): Kube => ({
      ...sandbox.kube,
      list: () => Promise.reject(new KubeError(code, 'no')),
    });
    assert.deepEqual(await said(failing('KUBE_FORBIDDEN')), [TOLD, TOLD]);
    await assert.rejects(said(failing('KUBE_UNREACHABLE')), /no/);
  });
});
