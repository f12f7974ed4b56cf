import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createClusterView } from '#reconciler/cluster/cluster-view.ts';
import { createOverlay } from '#reconciler/cluster/written/overlay.ts';
import { WRITTEN_MARKS, WRITTEN_NODES, WRITTEN_POOLS } from '#reconciler/cluster/written/rules.ts';
import { startApiServer } from '#sandbox/api-server/server.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';

const NAMESPACE = 'kubelet-gitops';

/** Waits for what other turns of the event loop bring about. */
async function until(holds: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 120_000; !holds(); await turn()) {
    assert.ok(performance.now() < deadline, 'it never came about');
  }
}

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
    await until(() => lists('nodes') === 1 && lists('kubeletpools') === 1);

    view.refresh();
    await until(() => lists('nodes') === 2);
    pools.resolve();
    await until(() => view.fleet() !== null);

    const before = lists('kubeletnodes');
    view.refresh();
    await until(() => lists('kubeletnodes') > before && view.fleet() !== null);
    assert.equal(lists('nodes'), 2, 'there is no pool that drains');
    stop.abort();
    await running;
  });
});
