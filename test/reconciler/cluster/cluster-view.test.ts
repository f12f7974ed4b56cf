import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClusterView } from '#reconciler/cluster/cluster-view.ts';
import { createWriteOverlay } from '#reconciler/cluster/write-cache/write-overlay.ts';
import { WRITTEN_MARKS, WRITTEN_NODES, WRITTEN_POOLS } from '#reconciler/cluster/write-cache/write-overlay-rules.ts';
import { startApiServer } from '#sandbox/api-server/server.ts';
import { createEventQueue } from '#sandbox/api-server/watch/event-queue.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Kube, Selection } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { until } from '../../support/until.ts';

const NAMESPACE = 'kubelet-gitops';

const viewOf = (kube: Kube) =>
  createClusterView({
    kube,
    namespace: NAMESPACE,
    written: createWriteOverlay(systemClock, WRITTEN_NODES),
    writtenPools: createWriteOverlay(systemClock, WRITTEN_POOLS),
    marks: createWriteOverlay(systemClock, WRITTEN_MARKS),
    onChange: () => undefined,
    onFault: () => undefined,
    clock: systemClock,
    random: () => 0.5,
  });

/** An API server of these objects, in which nothing happens. */
const quietKube = (list: (selection: Selection, trim?: (object: KubeObject) => KubeObject) => readonly KubeObject[]) =>
  ({
    list: (selection: Selection, _: unknown, trim?: (object: KubeObject) => KubeObject) =>
      Promise.resolve({ resourceVersion: '1', items: list(selection, trim) }),
    watch: (_: unknown, __: unknown, signal: AbortSignal) => createEventQueue<never>(signal).items(),
  }) as unknown as Kube;

describe('the view of the cluster that reads again what another reconciler wrote', () => {
  it('reads the Nodes as well until it knows that no pool has any drained', async (t) => {
    const api = await startApiServer({ tokens: [] });
    const stop = new AbortController();
    t.after(() => {
      stop.abort();
      return api.stop();
    });
    const pools = Promise.withResolvers<void>();
    const listed: string[] = [];
    const kube: Kube = {
      ...api.direct,
      async list(selection, signal, trim) {
        listed.push(selection.resource.plural);
        if (selection.resource.plural === 'kubeletpools') await pools.promise;
        return api.direct.list(selection, signal, trim);
      },
    };
    const view = viewOf(kube);
    const lists = (plural: string): number => listed.filter((each) => each === plural).length;
    const running = view.run(stop.signal);
    await until('both are listed', () => lists('nodes') === 1 && lists('kubeletpools') === 1);

    view.refresh();
    await until('Nodes are listed again', () => lists('nodes') === 2);
    pools.resolve();
    await until('everything is seen', () => view.fleet() !== null);

    const before = lists('kubeletnodes');
    view.refresh();
    await until('KubeletNodes are listed again', () => lists('kubeletnodes') > before && view.fleet() !== null);
    assert.equal(lists('nodes'), 2, 'there is no pool that drains');
    stop.abort();
    await running;
  });
});

describe('the view of a large cluster', () => {
  it('has the bookkeeping of the API server dropped from the lists of Nodes and of our own kinds, page by page', async (t) => {
    const whole = (name: string): KubeObject => ({
      metadata: { name, uid: 'u', managedFields: [{ manager: 'kubelet' }] } as KubeObject['metadata'],
    });
    const trimmed = new Map<string, KubeObject | undefined>();
    const stop = new AbortController();
    const kube = quietKube(({ resource }, trim) => {
      trimmed.set(resource.plural, trim?.(whole('a')));
      return [];
    });
    const view = viewOf(kube);
    t.after(() => stop.abort());
    const running = view.run(stop.signal);
    await until('everything is seen', () => view.fleet() !== null);
    for (const plural of ['nodes', 'kubeletnodes', 'kubeletpools']) {
      assert.deepEqual(trimmed.get(plural)?.metadata, { name: 'a', uid: 'u' }, plural);
    }
    stop.abort();
    await running;
  });
});

describe('the view of a cluster in which objects cannot be read', () => {
  it('names them, with the kind that is held for each, and shows all others', async () => {
    const broken = (name: string, part: string): KubeObject =>
      Object.defineProperty({ metadata: { name, namespace: NAMESPACE, uid: `uid of ${name}` } }, part, {
        enumerable: true,
        get(): never {
          throw new RangeError(`no ${part}`);
        },
      });
    const good = (name: string): KubeObject => ({ metadata: { name, namespace: '', uid: `uid of ${name}` } });
    const items: Readonly<Record<string, readonly KubeObject[]>> = {
      nodes: [good('a'), good('b'), broken('c', 'status')],
      kubeletnodes: [good('a'), broken('b', 'status')],
      kubeletpools: [{ ...good('p'), spec: { disruption: {} } } as KubeObject, broken('q', 'spec')],
      configmaps: [broken('q-1', 'data')],
    };
    const stop = new AbortController();
    const kube = quietKube(({ resource }, trim = (object) => object) => (items[resource.plural] ?? []).map(trim));
    const view = viewOf(kube);
    const running = view.run(stop.signal);
    await until('everything is seen', () => view.fleet() !== null);
    const fleet = view.fleet();
    assert.deepEqual(
      fleet?.unreadable?.map(({ of: kind, name, uid, error }) => [kind, name, uid, String(error)]),
      [
        ['node', 'c', 'uid of c', 'RangeError: no status'],
        ['node', 'b', 'uid of b', 'RangeError: no status'],
        ['pool', 'q', 'uid of q', 'RangeError: no spec'],
        ['config-source', 'q-1', 'uid of q-1', 'RangeError: no data'],
      ],
    );
    assert.deepEqual([[...(fleet?.nodes.keys() ?? [])], [...(fleet?.pools.keys() ?? [])]], [['a', 'b'], ['p']]);
    // A pool of which nobody knows whether its nodes are drained: they are looked at again.
    view.refresh();
    await until('everything is seen again', () => view.fleet() !== null);
    stop.abort();
    await running;
  });
});
