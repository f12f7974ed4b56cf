import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClusterView } from '#reconciler/cluster/cluster-view.ts';
import { createOverlay } from '#reconciler/cluster/written/overlay.ts';
import { WRITTEN_MARKS, WRITTEN_NODES, WRITTEN_POOLS } from '#reconciler/cluster/written/rules.ts';
import { startApiServer } from '#sandbox/api-server/server.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { until } from '../../support/until.ts';

const NAMESPACE = 'kubelet-gitops';

describe('the view of the cluster that reads anew what another reconciler wrote', () => {
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
    const view = createClusterView({
      kube,
      namespace: NAMESPACE,
      written: createOverlay(systemClock, WRITTEN_NODES),
      writtenPools: createOverlay(systemClock, WRITTEN_POOLS),
      marks: createOverlay(systemClock, WRITTEN_MARKS),
      onChange: () => undefined,
      onFault: () => undefined,
      clock: systemClock,
      random: () => 0.5,
    });
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
