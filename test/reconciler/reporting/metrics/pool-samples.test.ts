import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { commit, COMMIT_A, nodeView, validPool } from '../../../support/fleet.ts';
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
