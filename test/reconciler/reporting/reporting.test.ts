import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import type { PassResult } from '#reconciler/reporting/pass-result.ts';
import { createReporting } from '#reconciler/reporting/reporting.ts';
import { EVENTS_NAMESPACE, type EventObject } from '#reconciler/reporting/events/event-object.ts';
import { EVENTS, type Kube } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { aSandbox } from '../../sandbox/api-server/support/sandbox.ts';
import { AT, SETTLED } from './source/support/states.ts';
import { until } from '../../support/until.ts';
import { passResultIn, settledFleet } from './status-page/pass-results.ts';

/** A leader that reports into a cluster of its own. */
async function reporting(t: TestContext, page: { show(round: PassResult): void } | null = null) {
  const { kube, server } = await aSandbox();
  const stop = new AbortController();
  const simulation = settledFleet(2);
  const metrics = createMetrics({ clock: systemClock, ofProcess: false });
  const { observer, run } = createReporting({
    kube,
    metrics,
    page: page && { ...page, run: () => Promise.resolve(), listeners: () => 3 },
    identity: 'reconciler-0',
    isLeader: () => true,
    fleet: () => simulation.fleet,
    clock: systemClock,
    random: () => 0,
    log: silentLog,
  });
  const running = run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    await server.stop();
  });
  return {
    kube,
    metrics,
    observer,
    round: { ...passResultIn(simulation), kubeletSource: SETTLED, at: Date.parse(AT) },
  };
}
const within = { withinMs: 60_000 };
const isTold = async (kube: Kube): Promise<boolean> =>
  (await kube.list<EventObject>({ resource: EVENTS, namespace: EVENTS_NAMESPACE })).items.some(
    ({ reason, regarding }) => reason === 'CommitInForce' && regarding.kind === 'KubeletSource',
  );

it('a pass is told by every way: Events, metrics and the page', async (t) => {
  const shown: PassResult[] = [];
  const { kube, metrics, observer, round } = await reporting(t, { show: (each) => shown.push(each) });
  observer.woken();
  observer.round(round);
  observer.passed('made', 5);
  await until('the Event', () => isTold(kube), within);
  assert.deepEqual(shown, [round]);
  const text = await metrics.text();
  assert.match(text, /^kubelet_gitops_wakeups_total 1$/m);
  assert.match(text, /^kubelet_gitops_page_listeners 3$/m);
});

it('a way that fails keeps no other from telling, and the first failure is known', async (t) => {
  const error = new Error('the page cannot be drawn');
  const { kube, observer, round } = await reporting(t, {
    show() {
      throw error;
    },
  });
  const poisoned = { ...round, planned: null } as unknown as PassResult;
  assert.throws(() => observer.round(poisoned), TypeError);
  assert.throws(() => observer.round(round), error);
  await until('the Event', () => isTold(kube), within);
});
