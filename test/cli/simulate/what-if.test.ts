import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plain } from '#cli/paint.ts';
import { whatIfAsText } from '#cli/simulate/render-text.ts';
import { seededRandom } from '#cli/seeded-random.ts';
import { simulate, type SimulationQuestion } from '#cli/simulate/simulate.ts';
import { timesWith, whatIf } from '#cli/simulate/what-if.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_A, COMMIT_B, NOW, poolSpec, validPool } from '../../support/fleet.ts';
import { inventoryNodes } from '../support/inventory-node.ts';

const { probation: _, ...USUAL } = poolSpec().rollout;

function question(nodes: number, more: Partial<RolloutSpec> = {}, duration = '10m'): SimulationQuestion {
  const spec = {
    rollout: { ...USUAL, ...more },
    trial: { duration, startTimeout: '2m', maxRestarts: 2 },
  };
  return {
    base: commit(COMMIT_A, validPool('workers', 100, spec)).repo,
    head: commit(COMMIT_B, validPool('workers', 120, spec)).repo,
    nodes: inventoryNodes(nodes),
    manners: { failureRate: 0.5, restartMs: 10_000, random: seededRandom(1) },
    start: NOW,
    horizonMs: 7 * 86_400_000,
  };
}

describe('what a simulation says of a config that kills kubelets', () => {
  const reachOf = (found: ReturnType<typeof whatIf>) =>
    found.map(({ seen, failed, stopped }) => [seen, failed, stopped]);

  it('is that the canary alone sees it, at once or after eight minutes', () => {
    assert.deepEqual(reachOf(whatIf(question(60, { maxUnavailable: 5 }))).slice(0, 2), [
      [1, 1, 1],
      [1, 1, 1],
    ]);
  });

  it('is that the canary alone sees what kills at once, however short the trial', () => {
    assert.deepEqual(reachOf(whatIf(question(60, { maxUnavailable: 5 }, '1s')))[0], [1, 1, 1]);
  });

  it('is that as many see it as may be unavailable where nobody waits for the canary', () => {
    assert.deepEqual(reachOf(whatIf(question(60, { maxUnavailable: 5, probation: 'full' }))).slice(0, 2), [
      [5, 5, 1],
      [5, 5, 1],
    ]);
  });

  it('is the worst of some runs where it fails on one node in 30, by chance', () => {
    const [, , found] = whatIf(question(60));
    assert.equal(found?.runs, 20);
    // In one of eight runs, it fails on none of 60.
    assert.ok(found.stopped > 10 && found.stopped < 20, JSON.stringify(found));
    assert.ok(found.failed >= 1 && found.failed <= found.seen && found.seen <= 60, JSON.stringify(found));
  });

  it('comes with the time that it takes with quick and with slow restarts', () => {
    const asked = question(10);
    const [quick, slow] = timesWith(asked);
    const { end } = simulate({ ...asked, manners: { ...asked.manners, failureRate: 0 } });
    assert.deepEqual([quick.restartMs, slow.restartMs], [5_000, 30_000]);
    assert.ok(quick.tookMs < end - NOW && end - NOW < slow.tookMs, `${quick.tookMs} ${end - NOW} ${slow.tookMs}`);
  });

  it('reads well', () => {
    const text = whatIfAsText(
      {
        whatIf: [
          { fault: 'kills every kubelet at once', runs: 1, stopped: 1, seen: 1, failed: 1 },
          { fault: 'kills one kubelet in 30 at once', runs: 20, stopped: 19, seen: 12, failed: 2 },
        ],
        spread: [
          { restartMs: 5_000, tookMs: 6_300_000 },
          { restartMs: 30_000, tookMs: 7_500_000 },
        ],
      },
      plain,
    );
    assert.equal(
      text,
      `
A config that
  kills every kubelet at once      is told to 1 node and fails on 1
  kills one kubelet in 30 at once  is told to at most 12 nodes and fails on at most 2; halted in 19 of 20 runs

It takes 1h45m with restarts of 5s, 2h5m with restarts of 30s.
`,
    );
  });
});
