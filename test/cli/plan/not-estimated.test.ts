import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { notEstimatedIn } from '#cli/plan/not-estimated.ts';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { validPool } from '../../support/fleet.ts';
import { createPlanBench, type PlanBench } from '../support/plan-bench.ts';
import { layer, pool } from '../support/repository.ts';

const NIGHTLY = { allow: [{ cron: '0 2 * * *', duration: '3h' }], deny: [], overrun: 'stop' } as const;
const { spec: USUAL } = validPool('w', 100);
const allow = (...classes: NonNullable<KubeletPoolSpec['disruption']>['allow']) => ({
  disruption: { allow: classes, drainTimeout: '10m' },
});

/** Name, what differs from a usual pool, what the change does to its nodes, windows of the cluster, what adds to the time. */
const ROWS: readonly (readonly [
  string,
  Partial<KubeletPoolSpec>,
  Parameters<typeof notEstimatedIn>[2],
  typeof NIGHTLY | null,
  readonly string[],
])[] = [
  ['nothing to a restart', {}, ['restart', 'restart'], null, []],
  ['its windows', { rollout: { ...USUAL.rollout, windows: NIGHTLY } }, ['restart'], null, ['closed windows']],
  ['those of the cluster', {}, ['restart'], NIGHTLY, ['closed windows']],
  [
    'no window to an emergency',
    { rollout: { ...USUAL.rollout, windows: NIGHTLY, emergency: 'CVE' } },
    ['restart'],
    NIGHTLY,
    [],
  ],
  ['its blockers', { blockers: {} }, ['restart'], null, ['blockers']],
  ['the drain of one node', allow('restart', 'drain'), ['restart', 'drain'], null, ['drains']],
  ['reboots, each after a drain', allow('restart', 'drain', 'reboot'), ['reboot'], null, ['drains', 'reboots']],
  ['reboots of nodes that keep their pods', allow('restart', 'reboot'), ['reboot'], null, ['reboots']],
  [
    'the comparison of its canaries',
    { rollout: { ...USUAL.rollout, analysis: { timeout: '30m' } } },
    ['restart'],
    null,
    ['the comparison of canaries'],
  ],
  [
    'a person after its canaries',
    { rollout: { ...USUAL.rollout, canary: { nodes: 1, pause: true } } },
    ['restart'],
    null,
    ['approvals'],
  ],
  [
    'a person after a step',
    { rollout: { ...USUAL.rollout, steps: [{ nodes: 1 }, { nodes: 2, pause: true }] } },
    ['restart'],
    null,
    ['approvals'],
  ],
];

describe('what adds to the time of a plan', () => {
  let bench: PlanBench;
  before(async () => {
    bench = await createPlanBench();
  });
  after(() => bench.remove());

  for (const [name, spec, classes, windows, expected] of ROWS) {
    it(`is ${name}`, () => {
      const { spec: usual, ...rest } = validPool('w', 100);
      assert.deepEqual(notEstimatedIn({ ...rest, spec: { ...usual, ...spec } }, { windows }, classes), expected);
    });
  }

  it('is said beside it, of the pool and of all', async () => {
    const rollout = 'rollout: {windows: {allow: [{cron: "0 2 * * *", duration: 3h}]}}';
    const change = {
      'pools/a/pool.yaml': pool('a', 'a', rollout),
      'pools/a/kubelet.yaml': layer('maxPods: 110', 'kubeReserved: {cpu: 200m, memory: 512Mi}'),
      'pools/b/kubelet.yaml': layer('maxPods: 51'),
    };
    const { out } = await bench.planned(change);
    assert.match(
      out,
      /2 pools, 4 nodes: 4 kubelets restart, 0 reboots; about .* if all goes well, plus closed windows$/m,
    );
    assert.match(out, /^ {2}3 nodes, 1 at a time, in 3 steps; about .* if all goes well, plus closed windows$/m);
    assert.match(out, /^ {2}1 node, 1 at a time, in 1 step; about .* if all goes well$/m);
    const { pools, summary } = await bench.planOf(change);
    assert.deepEqual(
      [summary.untimed, ...pools.map(({ rollout: of }) => of?.untimed)],
      [['closed windows'], ['closed windows'], []],
    );
  });
});
