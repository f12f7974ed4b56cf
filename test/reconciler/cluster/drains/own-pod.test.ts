import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { POD_DISRUPTION_BUDGETS } from '#sandbox/api-server/resources/built-in.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { type Kube, LEASES, NODES, PODS, type Selection } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createDrains, type Drains } from '#reconciler/cluster/drains/drains.ts';
import { hasOtherNode } from '#reconciler/cluster/drains/own-pod.ts';
import { holdLease, type LeaseHold } from '#reconciler/cluster/leader/hold-lease.ts';
import type { Lease } from '#reconciler/cluster/leader/lease.ts';
import { aSandbox } from '../../../sandbox/api-server/support/sandbox.ts';
import { until } from '../../../support/until.ts';

const NAMESPACE = 'kubelet-gitops';
const OWN = 'kubelet-gitops-reconciler-abc';
const LEASE = 'kubelet-gitops-reconciler';
const WITHIN_MS = 60_000;
const never = new AbortController().signal;

interface Cluster {
  readonly kube: Kube;
  readonly hold: LeaseHold;
  readonly drains: Drains;
  /** What was written that counts here, in order; pods that were evicted by name. */
  readonly effects: string[];
  pod(name: string, more?: { readonly labels?: Readonly<Record<string, string>> }): Promise<void>;
  left(): Promise<readonly string[]>;
  /** A pass's step. @returns whether the node is drained */
  evict(): Promise<boolean>;
}

/** A node with pods, among them that of a reconciler that leads. */
async function cluster(t: TestContext, others: readonly KubeObject[] = [readyNode('n2')]): Promise<Cluster> {
  const sandbox = await aSandbox();
  t.after(() => sandbox.server.stop());
  const effects: string[] = [];
  const kube = recording(sandbox.kube, effects);
  for (const node of [readyNode('n1'), ...others]) await kube.create({ resource: NODES }, node);
  const stop = new AbortController();
  const hold = holdLease({
    kube,
    namespace: NAMESPACE,
    name: LEASE,
    identity: OWN,
    clock: systemClock,
    random: () => 0,
    log: silentLog,
    signal: stop.signal,
  });
  t.after(async () => {
    stop.abort();
    await hold.ended;
  });
  await until('the lead', () => Promise.resolve(hold.isLeader()), { withinMs: WITHIN_MS });
  const drains = createDrains(kube, { namespace: NAMESPACE, name: OWN, handOver: () => hold.handOver() });
  const at = { resource: PODS, namespace: NAMESPACE };
  return {
    kube,
    hold,
    drains,
    effects,
    async pod(name, { labels = {} } = {}) {
      const containers = [{ name: 'main', image: 'example.test/none' }];
      await kube.create(at, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: NAMESPACE, labels },
        spec: { nodeName: 'n1', containers },
      } as KubeObject);
      await kube.mergePatch(
        at,
        name,
        { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
        { subresource: 'status' },
      );
    },
    left: async () => (await kube.list(at)).items.map(({ metadata }) => metadata.name).sort(),
    async evict() {
      await drains.evict('n1', 1, never);
      return drains.views().get('n1')?.drained === true;
    },
  };
}

const readyNode = (name: string, spec = {}, status = 'True'): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec,
    status: { conditions: [{ type: 'Ready', status }] },
  }) as KubeObject;

/** Evictions that were made, and what became of the lead. */
function recording(kube: Kube, effects: string[]): Kube {
  return {
    ...kube,
    async create(place, object, signal) {
      const made = await kube.create(place, object, signal);
      const { deleteOptions } = object as { readonly deleteOptions?: { readonly dryRun?: unknown } };
      if (place.subresource === 'eviction' && deleteOptions?.dryRun === undefined) {
        effects.push(`evicted ${object.metadata.name}`);
      }
      return made;
    },
    async mergePatch<T extends KubeObject>(...args: Parameters<Kube['mergePatch']>): Promise<T> {
      const written = await kube.mergePatch<T>(...args);
      const [place] = args;
      const holder = (written as Lease).spec?.holderIdentity;
      if (place.resource === LEASES && holder !== OWN) effects.push(`lead given to "${holder ?? ''}"`);
      return written;
    },
  };
}

async function budgetFor(kube: Kube, disruptionsAllowed: number): Promise<void> {
  const status = { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
  const at = { resource: POD_DISRUPTION_BUDGETS, namespace: NAMESPACE };
  const metadata = { name: 'own', namespace: NAMESPACE };
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'reconciler' } } };
  await kube.create(at, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec } as KubeObject);
  await kube.mergePatch(at, 'own', { status }, { subresource: 'status' });
}

describe('the drain of the node that the reconciler runs on', () => {
  it('moves every other pod, then gives the lead back, and only then moves its own', async (t) => {
    const world = await cluster(t);
    for (const name of ['z-app', OWN, 'a-app']) await world.pod(name);
    assert.equal(await world.evict(), false);
    assert.deepEqual(world.effects, ['evicted a-app', 'evicted z-app']);
    assert.deepEqual(await world.left(), [OWN]);
    assert.ok(world.hold.isLeader(), 'it leads for as long as there is something to do');
    await world.evict();
    assert.deepEqual(world.effects.slice(2), ['lead given to ""', `evicted ${OWN}`]);
    assert.equal(world.hold.isLeader(), false);
    assert.deepEqual(await world.left(), []);
    const lease = await world.kube.get<Lease>({ resource: LEASES, namespace: NAMESPACE }, LEASE);
    assert.equal(lease?.spec?.holderIdentity, '', 'whoever comes next takes it at once');
  });

  it('waits for pods that have not gone yet', async (t) => {
    const world = await cluster(t);
    await world.pod(OWN);
    const { kube } = world;
    const leaving = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'app', deletionTimestamp: '2026-11-21T12:00:00Z' },
    };
    const list: Kube['list'] = async <T extends KubeObject>(selection: Selection, signal?: AbortSignal) => {
      const listed = await kube.list<T>(selection, signal);
      return selection.resource === PODS ? { ...listed, items: [leaving as unknown as T, ...listed.items] } : listed;
    };
    const drains = createDrains(
      { ...kube, list },
      { namespace: NAMESPACE, name: OWN, handOver: () => world.hold.handOver() },
    );
    await drains.evict('n1', 1, never);
    assert.ok(!world.effects.includes(`evicted ${OWN}`));
    assert.ok(world.hold.isLeader());
  });

  it('keeps the lead where a budget keeps its own pod, and says so', async (t) => {
    const world = await cluster(t);
    await world.pod(OWN, { labels: { app: 'reconciler' } });
    await budgetFor(world.kube, 0);
    for (let pass = 0; pass < 3; pass += 1) assert.equal(await world.evict(), false);
    assert.deepEqual(world.effects, []);
    assert.ok(world.hold.isLeader());
    assert.match(world.drains.views().get('n1')?.because ?? '', /disruption budget own needs 1 healthy/);
  });

  for (const [what, others] of [
    ['it is the only node', []],
    ['the others take no pods', [readyNode('n2', { unschedulable: true }), readyNode('n3', {}, 'False')]],
  ] as const) {
    it(`is done without its own pod where ${what}: nobody would open the node again`, async (t) => {
      const world = await cluster(t, others);
      for (const name of ['app', OWN]) await world.pod(name);
      assert.equal(await world.evict(), false);
      assert.equal(await world.evict(), true);
      assert.deepEqual(world.effects, ['evicted app']);
      assert.ok(world.hold.isLeader());
    });
  }

  it('treats a pod of that name elsewhere like any other', async (t) => {
    const world = await cluster(t);
    const drains = createDrains(world.kube, { namespace: 'other', name: OWN, handOver: () => world.hold.handOver() });
    for (const name of ['z-app', OWN]) await world.pod(name);
    await drains.evict('n1', 1, never);
    assert.deepEqual(world.effects, [`evicted ${OWN}`, 'evicted z-app']);
    assert.ok(world.hold.isLeader());
  });

  it('keeps next to nothing of the Nodes that it looks through: ten thousand with their images fill the heap', async () => {
    const images = [{ names: ['example.test/none'], sizeBytes: 1 }];
    const full = { ...readyNode('n2'), status: { images, conditions: [{ type: 'Ready', status: 'True' }] } };
    const kept: unknown[] = [];
    const list = (_: unknown, __: unknown, trim: (node: KubeObject) => KubeObject = (node) => node) => {
      kept.push(trim(full));
      return Promise.resolve({ resourceVersion: '1', items: kept });
    };
    assert.equal(await hasOtherNode({ list } as unknown as Kube, 'n1', never), true);
    assert.doesNotMatch(JSON.stringify(kept), /images/);
  });
});
