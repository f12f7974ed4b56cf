import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { sourceObject } from '../../../support/source-object.ts';
import { SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { type Clock, toTimestamp } from '#shared/runtime/clock.ts';
import { type Log, silentLog } from '#shared/runtime/log.ts';
import { buildModel } from '#reconciler/reporting/status-page/build-model.ts';
import { createStandbyView } from '#reconciler/reporting/status-page/standby-view.ts';
import { toText } from '#reconciler/reporting/status-page/html.ts';
import type { WorkingModel } from '#reconciler/reporting/status-page/model.ts';
import { createPageCache } from '#reconciler/reporting/status-page/page-cache.ts';
import { renderPage } from '#reconciler/reporting/status-page/render/render-page.ts';
import { passResultFromCluster } from '#reconciler/reporting/pass-result-from-cluster.ts';
import type { FleetSimulation } from '../../../support/fleet-simulation.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { steeredClock } from '../../../support/steered-clock.ts';
import { rollingFleet, passResultIn, settledFleet, SOURCE } from './pass-results.ts';

const ABOUT = { cluster: 'prod', version: '1.2.3', forge: undefined } as const;

const shownBy = ({ fleet, now }: FleetSimulation, leader: string | null = 'reconciler-a_1'): WorkingModel =>
  buildModel(passResultFromCluster(fleet, SOURCE, 'kubelet-gitops', now), ABOUT, now, leader);

describe('a reconciler that waits', () => {
  for (const [name, make] of Object.entries({ rolling: rollingFleet, settled: () => settledFleet(4) })) {
    it(`shows of a ${name} fleet what the one that leads shows`, () => {
      const simulation = make();
      const [own, other] = [buildModel(passResultIn(simulation), ABOUT, simulation.now), shownBy(simulation)];
      const stands = ({ pools, nodes, commits, git }: WorkingModel) => ({
        pools: pools.map(({ name: pool, state, says, target, counts, states }) => [
          pool,
          state,
          says,
          target,
          counts,
          states,
        ]),
        nodes,
        commits,
        git,
      });
      assert.deepEqual(stands(other), stands(own));
      assert.equal(other.leader, 'reconciler-a_1');
      assert.deepEqual(other.banners, own.banners);
    });
  }

  it('has the findings of a pool from its status, because it does not read the commit', () => {
    const simulation = settledFleet(4);
    const pool = simulation.fleet.pools.get('workers');
    assert.ok(pool !== undefined);
    const message = 'pools/workers/kubelet.yaml:4:1: error unknown-field: maxPod\nand 3 more';
    const type = 'ConfigValid';
    const conditions = [
      { type, status: 'False' as const, reason: 'Refused', message, lastTransitionTime: toTimestamp(simulation.now) },
    ];
    const pools = new Map([
      ...simulation.fleet.pools,
      ['workers', { ...pool, status: { ...pool.status, conditions } }] as const,
    ]);
    const round = passResultFromCluster({ ...simulation.fleet, pools }, SOURCE, 'kubelet-gitops', simulation.now);
    const model = buildModel(round, ABOUT, simulation.now, 'other');
    assert.deepEqual(model.pools.find(({ name }) => name === 'workers')?.findings, message.split('\n'));
    assert.match(model.banners[0]?.title ?? '', /findings in pool workers/);
  });

  it('says who leads, on every page, and calls for help where nobody does', () => {
    const draw = (leader: string | null): string => {
      const page = renderPage(shownBy(settledFleet(4), leader), { page: 'overview' });
      return page === null ? '' : toText(page);
    };
    assert.match(draw('reconciler-a_1'), /waits for its turn[\s\S]* <code>reconciler-a<\/code> leads;[\s\S]*<h1>/);
    assert.doesNotMatch(draw('reconciler-a_1'), /No reconciler leads/);
    assert.match(draw(''), /No reconciler leads/);
    assert.doesNotMatch(draw(null), /waits for its turn|No reconciler leads/);
  });
});

/** The cluster of a waiting process, whose record can be out of reach. */
function waiting(t: TestContext, own?: Clock) {
  const simulation = settledFleet(4);
  const clock = { ...steeredClock(), now: () => simulation.now };
  const stop = new AbortController();
  const state = { leads: false, away: false, known: true };
  const warnings: string[] = [];
  const warn = (_: object, message: string): void => void warnings.push(message);
  let looks = 0;
  const get = (_: unknown, name: string) => {
    looks += 1;
    if (state.away) return Promise.reject(new KubeError('KUBE_UNREACHABLE', 'away'));
    return Promise.resolve(name === SOURCE_NAME ? sourceObject(SOURCE) : null);
  };
  let heard = Promise.withResolvers<void>();
  const bystander = createStandbyView({
    kube: { get } as unknown as Kube,
    namespace: 'kubelet-gitops',
    fleet: () => (state.known ? simulation.fleet : null),
    leads: () => state.leads,
    onLook: () => heard.resolve(),
    clock: own ?? clock,
    log: { ...silentLog, warn } as Log,
  });
  const running = bystander.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  return {
    simulation,
    state,
    bystander,
    clock,
    warnings,
    looks: () => looks,
    async look() {
      await heard.promise;
      heard = Promise.withResolvers();
    },
  };
}

describe('what a waiting reconciler knows', () => {
  it('is nothing before it looked, and then as old as its last look that went through', async (t) => {
    const { bystander, simulation, state, clock, look, looks, warnings } = waiting(t);
    await look();
    const first = bystander.round();
    assert.equal(first?.at, simulation.now);
    state.away = true;
    simulation.now += 120_000;
    const before = looks();
    clock.skip(60_000);
    while (looks() === before) await new Promise((resolve) => setImmediate(resolve));
    const model = buildModel(bystander.round() ?? assert.fail(), ABOUT, simulation.now, 'other');
    assert.equal(model.banners[0]?.title, 'This picture is old');
    const again = looks();
    clock.skip(60_000);
    while (looks() === again) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(warnings, ['the record of the leading reconciler cannot be read'], 'once, however long it lasts');
    state.known = false;
    assert.equal(bystander.round(), null);
  });

  it('is read again every ten seconds', async (t) => {
    const clock = createManualClock();
    const { looks } = waiting(t, clock);
    for (const read of [1, 2, 3]) {
      await clock.advance(0);
      assert.equal(looks(), read);
      await clock.advance(9_999);
      assert.equal(looks(), read);
      await clock.advance(1);
    }
  });

  it('is not asked for by the one that leads, which shows its own rounds', async (t) => {
    const { bystander, simulation, state, clock, look, looks } = waiting(t);
    await look();
    const leadership = () => ({ leads: state.leads, holder: 'reconciler-a_1' });
    const picture = createPageCache(ABOUT, leadership, clock, () => bystander.round());
    const overview = (): string => picture.page({ page: 'overview' })?.body ?? '';
    assert.match(overview(), /waits for its turn[\s\S]*workers/);
    state.leads = true;
    picture.show(passResultIn(simulation));
    assert.doesNotMatch(overview(), /waits for its turn/);
    const before = looks();
    clock.skip(60_000);
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.equal(looks(), before);
  });
});
