import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_A, fleetOf, nodeView, validPool } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';
import { passResultIn } from '../status-page/pass-results.ts';
import { scrapeOfWaiting } from '../../../support/waiting-scrape.ts';

/** Which nodes a scrape says that the pool waits for, where so many of its 20 nodes are cordoned in each of these passes. */
async function scraped(isLeader: boolean, ...cordoned: readonly number[]): Promise<readonly string[]> {
  const metrics = createMetrics({ clock: systemClock, ofProcess: false });
  let text = '';
  for (const count of cordoned) {
    const fleet = new FleetSimulation();
    for (let index = 0; index < 20; index += 1) {
      fleet.addNode(nodeView(`n${index}`, 'workers', { cordoned: index < count }));
    }
    fleet.inForce = commit(COMMIT_A, validPool('workers', 100));
    fleet.rounds(2);
    metrics.watch({ isLeader: () => isLeader, fleet: () => fleet.fleet, pageListeners: () => 0 });
    metrics.round(passResultIn(fleet));
    text = await metrics.text();
  }
  return [...text.matchAll(/^kubelet_gitops_pool_blocking_node\{pool="workers",node="(\w+)"\} 1$/gm)].map(
    ([, node = '']) => node,
  );
}

describe('the metric pool_blocking_node', () => {
  it('names the nodes that a pool waits for, ten at most', async () => {
    assert.deepEqual(await scraped(true, 1), ['n0']);
    assert.equal((await scraped(true, 15)).length, 10);
  });

  it('names nobody any more when they are back, nor where this process does not lead', async () => {
    assert.deepEqual(await scraped(true, 1, 0), []);
    assert.deepEqual(await scraped(false, 1), []);
  });
});

describe('the metrics of a halted pool', () => {
  const failures = Array.from({ length: 15 }, (_, index) => ({
    node: `n${index}`,
    config: 'web-1',
    reason: index === 0 ? 'a"} 1\n' : 'CrashLoop',
    message: '',
    at: '',
  }));
  const by = { commit: COMMIT_A, author: 'Ada' };
  const cause = { since: 'web-0', changed: [{ field: 'maxPods', before: '114', after: '120' }], more: 2, by };
  const halt = { config: 'web-1', sha256: 'x', at: '', message: '', action: 'halt', cause } as const;
  const scrapeOf = async (status: KubeletPoolStatus, kubeletNodes: readonly KubeletNode[] = []): Promise<string> => {
    const metrics = createMetrics({ clock: systemClock, ofProcess: false });
    const fleet = fleetOf({ pools: [{ metadata: { name: 'web' }, status }], kubeletNodes });
    metrics.watch({ isLeader: () => true, fleet: () => fleet, pageListeners: () => 0 });
    return (await metrics.text()).replaceAll('kubelet_gitops_', '');
  };

  it('say what changed, by which commit, on which nodes it failed, ten at most, and whether users are at risk', async () => {
    for (const [risk, value] of [
      ['users', 1],
      ['none', 0],
    ] as const) {
      const text = await scrapeOf({ halt, failures, impact: { risk, message: '' } });
      const info =
        'pool="web",config="web-1",commit="aaaaaaaaaaaa",author="Ada",changed="maxPods: 114 → 120 and 2 more"';
      assert.ok(text.includes(`\npool_halt_info{${info}} 1\n`), text);
      assert.match(text, new RegExp(`^pool_at_risk\\{pool="web"\\} ${value}$`, 'm'));
      const failed = [
        ...text.matchAll(/^pool_failed_node\{pool="web",node="n\d+",reason="(\w+)",commit="a{12}"\} 1$/gm),
      ];
      assert.deepEqual([failed.length, failed[0]?.[1], failed[1]?.[1]], [10, 'Other', 'CrashLoop']);
    }
  });

  it('name nodes that broke by themselves, ten at most, and none that is a failure already', async () => {
    const broken = (index: number): KubeletNode => ({
      metadata: { name: `n${index}` },
      spec: { pool: index === 99 ? 'other' : 'web', commit: COMMIT_A },
      status: { phase: 'Broken' },
    });
    const nodes = [...Array(20).keys(), 99].map(broken);
    const named = (text: string) => [
      ...text.matchAll(/^pool_failed_node\{pool="web",node="(\w+)",reason="KubeletBroken"/gm),
    ];
    assert.equal(named(await scrapeOf({ phase: 'Waiting' }, nodes)).length, 10);
    const one = await scrapeOf({ phase: 'Halted', failures: failures.slice(1, 2) }, [broken(1), broken(2)]);
    assert.deepEqual(
      named(one).map(([, node]) => node),
      ['n2'],
    );
  });

  it('are not there of one that is not halted, and where no node fails', async () => {
    const text = await scrapeOf({ phase: 'Settled', failures: [] });
    assert.doesNotMatch(text, /^pool_(halt_info|at_risk|failed_node)\{/m);
  });
});

const suspendedIn = (scrape: string): string | undefined =>
  /^kubelet_gitops_pool_suspended\{pool="web"\} (\d)$/m.exec(scrape)?.[1];

describe('the metric pool_suspended', () => {
  for (const [by, wanted] of [
    ['nobody', '0'],
    ['command', '1'],
    ['command without a reason', '1'],
    ['pool.yaml', '1'],
    ['cluster file', '1'],
  ] as const) {
    it(`is ${wanted} where the pool is suspended by ${by}`, async () => {
      assert.equal(suspendedIn(await scrapeOfWaiting(by)), wanted);
    });
  }

  it('follows the file of the cluster back', async () => {
    assert.equal(suspendedIn(await scrapeOfWaiting('cluster file', 'nobody')), '0');
  });
});
