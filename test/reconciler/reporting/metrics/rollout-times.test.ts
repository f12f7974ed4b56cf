import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Commit } from '#reconciler/policy/commit-snapshot.ts';
import { createRolloutTimes, type RolloutTimes } from '#reconciler/reporting/metrics/rollout-times.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { COMMIT_A, COMMIT_B, fleetOf, NOW } from '../../../support/fleet.ts';

const COUNTS = { nodes: 2, updated: 0, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 };
const [OLD, NEW] = ['0'.repeat(64), '1'.repeat(64)];

const commitOf = (oid: string, seconds: number): Commit => {
  const raw = Buffer.from(`tree ${oid}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> ${seconds} +0000\n\nsubject\n`);
  return { oid, raw } as unknown as Commit;
};
const TIP = commitOf(COMMIT_B, NOW / 1000 - 60);

const rolling = (more: KubeletPoolStatus = {}): KubeletPoolStatus => ({
  sha256: NEW,
  commit: COMMIT_B,
  phase: 'Progressing',
  counts: COUNTS,
  ...more,
});
const settled = (more: KubeletPoolStatus = {}): KubeletPoolStatus => rolling({ phase: 'Settled', ...more });

interface Round {
  /** Statuses by pool as they are planned. */
  readonly planned: Readonly<Record<string, KubeletPoolStatus>>;
  /** The pools' statuses as the cluster has them. */
  readonly present?: Readonly<Record<string, KubeletPoolStatus>>;
  /** Digests of what nodes run. */
  readonly active?: readonly string[];
  readonly tip?: Commit | null;
  /** Seconds after the first round. */
  readonly after?: number;
}

/** What each round measures. */
function measured(...rounds: readonly Round[]): readonly (readonly string[])[] {
  const times = createRolloutTimes();
  return rounds.map(({ planned, present = {}, active = [], tip = TIP, after = 0 }) => {
    const pools = Object.entries(present).map(([name, status]) => ({ metadata: { name }, status }));
    const kubeletNodes = active.map(
      (sha256, n) => ({ metadata: { name: `n${n}` }, status: { active: { sha256 } } }) as KubeletNode,
    );
    const round = {
      fleet: fleetOf({ pools, kubeletNodes }),
      planned: { pools: new Map(Object.entries(planned)) },
      tip,
      at: NOW + after * 1000,
    } as unknown as Parameters<RolloutTimes>[0];
    return times(round).map(({ pool, reached, seconds }) => `${pool} ${reached} ${seconds}`);
  });
}

describe('the time that a commit takes through a pool', () => {
  it('is measured once at the first node, and once when all have proven it', () => {
    const rounds = [
      { planned: { web: rolling() }, active: [OLD] },
      { planned: { web: rolling() }, active: [OLD, NEW], after: 30 },
      { planned: { web: rolling() }, active: [NEW, NEW], after: 40 },
      { planned: { web: settled() }, active: [NEW, NEW], after: 90 },
      { planned: { web: settled() }, active: [NEW, NEW], after: 95 },
    ];
    assert.deepEqual(measured(...rounds), [[], ['web first 90'], [], ['web last 150'], []]);
  });

  it('is that of each commit by itself', () => {
    const next = settled({ sha256: OLD, commit: COMMIT_A });
    const rounds = [{ planned: { web: settled() } }, { planned: { web: next }, tip: commitOf(COMMIT_A, NOW / 1000) }];
    assert.deepEqual(measured(...rounds), [
      ['web first 60', 'web last 60'],
      ['web first 0', 'web last 0'],
    ]);
  });

  it('is kept through a rollout, whatever the branch gets meanwhile', () => {
    const rounds = [
      { planned: { web: rolling() } },
      { planned: { web: settled() }, tip: commitOf(COMMIT_A, NOW / 1000), after: 10 },
    ];
    assert.deepEqual(measured(...rounds), [[], ['web first 70', 'web last 70']]);
  });

  it('is never less than nothing, where the committer’s clock is ahead', () => {
    const rounds = [{ planned: { web: settled() }, tip: commitOf(COMMIT_B, NOW / 1000 + 500) }];
    assert.deepEqual(measured(...rounds), [['web first 0', 'web last 0']]);
  });

  it('counts the nodes of each class of machines', () => {
    const classes = [{ name: 'cpu=4', nodes: 2, sha256: OLD }] as unknown as NonNullable<KubeletPoolStatus['classes']>;
    assert.deepEqual(measured({ planned: { web: rolling({ classes }) }, active: [OLD] }), [['web first 60']]);
  });

  for (const [what, round] of [
    ['of a pool without nodes', { planned: { web: settled({ counts: { ...COUNTS, nodes: 0 } }) }, active: [NEW] }],
    ['where nodes run no config', { planned: { web: rolling() }, active: [''] }],
    ['of a commit that nobody knows any more', { planned: { web: settled() }, tip: null }],
    ['of a commit that is not the one in the pool', { planned: { web: settled() }, tip: commitOf(COMMIT_A, 1) }],
    ['of a commit that cannot be read', { planned: { web: settled() }, tip: { ...TIP, raw: Buffer.from('?') } }],
    ['that began before this process', { planned: { web: settled() }, present: { web: rolling() } }],
  ] as const) {
    it(`is not measured ${what}`, () => assert.deepEqual(measured(round), [[]]));
  }

  it('is measured again in a pool that was deleted and comes back: of those that are gone nothing is kept', () => {
    const rounds = [{ planned: { web: settled() } }, { planned: {} }, { planned: { web: settled() }, after: 5 }];
    assert.deepEqual(measured(...rounds), [['web first 60', 'web last 60'], [], ['web first 65', 'web last 65']]);
  });
});
