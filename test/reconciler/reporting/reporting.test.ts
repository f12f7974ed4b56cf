import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import type { PassResult } from '#reconciler/reporting/pass-result.ts';
import { createReporting } from '#reconciler/reporting/reporting.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { type Kube, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { aSandbox } from '../../sandbox/api-server/support/sandbox.ts';
import { COMMIT_A } from '../../support/fleet.ts';
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
    path: 'clusters/prod',
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
  const tip = { oid: COMMIT_A, raw: Buffer.of() } as unknown as PassResult['tip'];
  return { kube, metrics, observer, round: { ...passResultIn(simulation), tip } };
}
const within = { withinMs: 60_000 };
const sourceIn = (kube: Kube): Promise<KubeletSource | null> => kube.get({ resource: KUBELET_SOURCES }, SOURCE_NAME);

it('a pass is told by every way: the KubeletSource, its Events, metrics and the page', async (t) => {
  const shown: PassResult[] = [];
  const { kube, metrics, observer, round } = await reporting(t, { show: (each) => shown.push(each) });
  observer.woken();
  observer.round(round);
  observer.passed('made', 5);
  await until('the KubeletSource', async () => (await sourceIn(kube))?.status?.commit === COMMIT_A, within);
  assert.equal((await sourceIn(kube))?.status?.path, 'clusters/prod');
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
  await until('the KubeletSource', async () => (await sourceIn(kube))?.status?.commit === COMMIT_A, within);
});
