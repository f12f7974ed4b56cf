import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOwnRecords } from '#reconciler/policy/proof/own-records.ts';
import type { KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';

const AT = '2026-11-21T12:00:00Z';
const status = (sha256: string, onTrial = 0): KubeletPoolStatus => ({
  settled: { configName: 'x', sha256, apply: 'overlay', at: AT },
  rollout: { configName: 'x', sha256, startedAt: AT, waves: [], onTrial },
});
const pool = (of: KubeletPoolStatus | undefined, uid = 'u'): KubeletPool => ({
  metadata: { name: 'a', uid },
  ...(of && { status: of }),
});
const pools = (each: KubeletPool) => new Map([['a', each]]);

const IN_GIT = { pools: new Map([['a', { config: {} }]]) };

describe('the records that a leader goes by', () => {
  it('are what the API server answered its writes with', () => {
    const records = createOwnRecords();
    const present = pool(status('a'));
    records.adopt(IN_GIT, pools(present), new Map());
    const answer = pool(status('c'));
    records.answered({ step: 'write-pool-status', pool: present, status: status('b') }, answer);
    assert.deepEqual(records.all().get('a'), { uid: 'u', status: status('c') });
    records.answered({ step: 'write-pool', pool: present, spec: {} as never }, pool(status('d')));
    assert.deepEqual(records.all().get('a')?.status, status('c'));
  });

  it('are those of the leader before that it would write as they are, counts aside', () => {
    const records = createOwnRecords();
    records.adopt(IN_GIT, pools(pool(status('a', 3))), new Map([['a', status('b', 3)]]));
    assert.equal(records.all().size, 0);
    records.adopt(IN_GIT, pools(pool(undefined)), new Map([['a', status('a')]]));
    assert.equal(records.all().size, 0);
    records.adopt(IN_GIT, pools(pool(status('a', 3))), new Map([['a', status('a', 4)]]));
    assert.deepEqual(records.all().get('a')?.status, status('a', 3));
  });

  it('are none that only the pool itself says, nor of a pool that leaves git', () => {
    const records = createOwnRecords();
    for (const desired of [
      { ...IN_GIT, unverified: true as const },
      { pools: new Map([['a', { config: {}, unverified: true as const }]]) },
      { pools: new Map([['a', { config: null }]]) },
      { pools: new Map() },
    ]) {
      const present = pool(status('a'));
      records.adopt(desired, pools(present), new Map([['a', status('a')]]));
      records.answered({ step: 'write-pool-status', pool: present, status: status('a') }, present);
    }
    assert.equal(records.all().size, 0);
  });

  it('stay, whatever somebody else writes there, also while that cannot be read', () => {
    const records = createOwnRecords();
    records.adopt(IN_GIT, pools(pool(status('a'))), new Map([['a', status('a')]]));
    records.adopt(IN_GIT, pools(pool(status('f'))), new Map([['a', status('a')]]));
    records.adopt(IN_GIT, new Map(), new Map());
    assert.deepEqual(records.all().get('a')?.status, status('a'));
  });

  it('go with their pool', () => {
    const records = createOwnRecords();
    records.adopt(IN_GIT, pools(pool(status('a'))), new Map([['a', status('a')]]));
    records.adopt(IN_GIT, pools(pool(status('f'), 'another')), new Map([['a', status('f')]]));
    assert.deepEqual(records.all().get('a'), { uid: 'another', status: status('f') });
  });
});
