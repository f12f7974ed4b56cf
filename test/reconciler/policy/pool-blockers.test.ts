import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blocked, blockersQueries, NOT_BLOCKED } from '#reconciler/policy/pool-blockers.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_B, fleetOf, poolInCluster, validPool } from '../../support/fleet.ts';

const workers = validPool('workers', 110);
const accept = () => [];

describe('the blockers of a pool are asked', () => {
  const blockers = { prometheus: { url: 'http://p', query: 'up' } };
  const asked = (status: object | undefined, maxPods = 110, spec: object = { blockers }): readonly string[] => {
    const pool = validPool('workers', maxPods, spec);
    const present = { ...poolInCluster(workers), ...(status === undefined ? {} : { status }) } as KubeletPool;
    const fleet = fleetOf(status === undefined ? {} : { pools: [present] });
    return blockersQueries(desiredState(commit(COMMIT_B, pool), fleet, accept), fleet).map(({ name }) => name);
  };
  const { sha256 } = workers;
  const rows: readonly (readonly [string, Parameters<typeof asked>, number])[] = [
    ['where the pool is new', [undefined], 1],
    ['while it changes', [{ phase: 'Progressing', sha256 }], 1],
    ['not where it has settled', [{ phase: 'Settled', sha256 }], 0],
    ['where it has, and a node asks for a restart', [{ phase: 'Settled', sha256, holds: [{ reason: 'blocked' }] }], 1],
    ['not where it is empty', [{ phase: 'Empty', sha256 }], 0],
    ['where it had settled on another config', [{ phase: 'Settled', sha256 }, 120], 1],
    ['not where it has none', [{ phase: 'Progressing', sha256 }, 110, {}], 0],
  ];
  for (const [what, parts, expected] of rows) {
    it(what, () => assert.deepEqual(asked(...parts), Array(expected).fill('workers')));
  }

  it('are none of a pool that goes, and has come to rest', () => {
    const going = poolInCluster(validPool('workers', 110, { blockers }));
    const fleet = fleetOf({ pools: [{ ...going, status: { phase: 'Empty' } }] });
    assert.deepEqual(blockersQueries(desiredState(commit(COMMIT_B), fleet, accept), fleet), []);
  });

  it('and what is told of one that holds it up is why, and of those that hold up nothing that they do not', () => {
    assert.equal(NOT_BLOCKED.quiet, true);
    assert.deepEqual(blocked('alert A fires'), { quiet: false, because: 'alert A fires' });
  });
});
