import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, systemClock, toTimestamp } from '#shared/runtime/clock.ts';
import { configSource, fleetOf, nodeView, NOW, poolInCluster, settledNode, validPool } from '../../support/fleet.ts';
import { pageOf, POOL_PAGE, SCREENS, type Shown, shownAfterPass } from './support/screens.ts';

const AT = '2026-11-21T10:00:00Z';
const old = validPool('workers', 110);
const next = validPool('workers', 120, { rollout: { ...old.spec.rollout, canary: { nodes: 1, pause: true } } });
const LINE = `${next.configName} waits after wave canary for a person since ${AT}: approve it with kubelet-gitops approve workers`;

/** A pool of three, one of which has proven the config, by what its status remembers of that wave. */
function worldOf(canary: Partial<Record<keyof WaveStatus, unknown>>, wanted = next, reports: KubeletNodeStatus = {}) {
  const waves: readonly WaveStatus[] = [
    { name: 'canary', nodes: 1, state: 'done', startedAt: AT, doneAt: AT, ...canary } as WaveStatus,
    { name: 'rest', nodes: 3, state: 'waiting' },
  ];
  const rollout = { configName: next.configName, sha256: next.sha256, startedAt: AT, waves };
  const nodes = ['a', 'b', 'c'].map((name) => nodeView(name, 'workers'));
  const fleet = fleetOf({
    nodes,
    kubeletNodes: nodes.map((node, index) =>
      index === 0 ? settledNode(node, wanted, reports) : settledNode(node, old),
    ),
    configSources: [old, next].map((each) => configSource(each)),
    pools: [poolInCluster(wanted, { rollout })],
  });
  return shownAfterPass(fleet, wanted);
}

/** Beside the places where people look, what programs read of the object. */
const TOLD: typeof SCREENS = {
  ...SCREENS,
  condition: ({ status }) =>
    status.conditions?.find(({ type, status: is }) => type === 'WaitsForApproval' && is === 'True')?.message ?? '',
  message: ({ status }) => status.message ?? '',
};

/** Those that also tell who approved what. */
const TELLING = ['Events', 'note', 'status page', 'page of the pool', 'status'];

const metricsOf = async ({ round }: Shown): Promise<string> => {
  const metrics = createMetrics({ clock: systemClock, ofProcess: false });
  metrics.watch({ isLeader: () => true, fleet: () => round.fleet, pageListeners: () => 0 });
  return metrics.text();
};
const METRIC = /^kubelet_gitops_pool_waits_for_approval_since_timestamp_seconds\{(.*)\} (\S+)$/m;

describe('a pool that waits for a person', () => {
  const world = worldOf({ pausedAt: AT });
  for (const [name, screen] of Object.entries(TOLD)) {
    it(`says what waits, since when, and what to type, in the same words: ${name}`, () => {
      const text = screen(world);
      assert.ok(text.includes(LINE), `${LINE}\nis not in\n${text}`);
    });
  }

  it('is counted from when it waits', async () => {
    const [, labels, value] = METRIC.exec(await metricsOf(world)) ?? [];
    assert.equal(labels, `pool="workers",config="${next.configName}"`);
    assert.equal(Number(value), (fromTimestamp(AT) ?? 0) / 1000);
  });

  it('has no time of its end, for nobody knows that', () => {
    assert.match(pageOf(world, POOL_PAGE), /Time left is not known: \S+ waits/);
  });
});

describe('a pool that a person let go on', () => {
  const world = worldOf({ pausedAt: AT, approvedAt: '2026-11-21T11:00:00Z', approvedBy: 'ada' });
  for (const [name, screen] of Object.entries(TOLD)) {
    it(`says that nothing waits for one any more: ${name}`, () => assert.ok(!screen(world).includes('for a person')));
  }
  for (const name of TELLING) {
    it(`says who it was: ${name}`, () => assert.match(SCREENS[name]?.(world) ?? '', /[Aa]pproved.*\bada\b/));
  }

  it('is counted no more', async () => assert.equal(METRIC.exec(await metricsOf(world)), null));
});

describe('a pool that is to come to a pause', () => {
  it('says how long it takes until then, and no more', () => {
    const soaks = validPool('workers', 120, {
      rollout: { ...old.spec.rollout, canary: { nodes: 1, soak: '20m', pause: true } },
    });
    const promoted = { promotedAt: toTimestamp(NOW - 5 * 60_000) };
    const world = worldOf({ state: 'soaking', doneAt: undefined }, soaks, promoted);
    const text = pageOf(world, POOL_PAGE);
    assert.match(text, /About 15 min until it waits for a person after wave canary, if all goes well/);
  });
});
