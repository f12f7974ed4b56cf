import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CommitInForce, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_B, failedNode, invalidPool, NOW, poolInCluster } from '../../../support/fleet.ts';
import { SETTINGS, fleetWith, statusOf, settled, old, next, a } from './support/pool-of-three.ts';

describe('a pool that does not get what the newest commit wants of it', () => {
  const told = (fleet: Fleet, inForce: CommitInForce, refused?: string): readonly string[] => {
    const desired = { ...desiredState(inForce, fleet, () => []), ...(refused === undefined ? {} : { refused }) };
    const { conditions = [], ...status } = plan(desired, fleet, SETTINGS, NOW).pools.get('workers') ?? {};
    const of = (type: string): string => {
      const found = conditions.find((each) => each.type === type);
      return `${type}=${found?.status} ${found?.reason}: ${found?.message}`;
    };
    return [`${status.phase} ${status.message}`, of('Ready'), of('Reconciling'), of('Stalled')];
  };
  const running = `Settled 3 of 3 nodes run ${old.configName}`;

  it('is not Ready where the commit is wrong about it, and says where; that its nodes are well stays said', () => {
    const where = 'ConfigRefused: pools/workers/kubelet.yaml:3:1: error unknown-field: no such field';
    const [phase, ready, reconciling, stalled] = told(fleetWith(settled), commit(COMMIT_B, invalidPool('workers')));
    assert.deepEqual([phase, ready, stalled], [running, `Ready=False ${where}`, `Stalled=True ${where}`]);
    assert.match(reconciling ?? '', /^Reconciling=False ConfigRefused/);
  });

  it('is not Ready where the commit is refused as a whole', () => {
    const why = 'CommitRefused: the newest commit is refused: nobody trusts its signature';
    const [phase, ready, , stalled] = told(fleetWith(settled), commit(COMMIT_B, old), 'nobody trusts its signature');
    assert.deepEqual([phase, ready, stalled], [running, `Ready=False ${why}`, `Stalled=True ${why}`]);
  });

  it('is not on its way either, though its nodes go on to the commit before', () => {
    const [phase, , reconciling] = told(fleetWith(settled), commit(COMMIT_B, next), 'nobody trusts its signature');
    assert.match(phase ?? '', /^Progressing/);
    assert.match(reconciling ?? '', /^Reconciling=False CommitRefused/);
  });

  it('says what failed first, where it is halted as well', () => {
    const halted = fleetWith([failedNode(a, next), ...settled.slice(1)]);
    assert.match(
      told(halted, commit(COMMIT_B, next), 'nobody trusts it')[3] ?? '',
      /^Stalled=True Halted: workers-\w+ failed on a/,
    );
  });

  it('is Ready with a warning', () => {
    const warned = { ...old, findings: [{ code: 'w', severity: 'warning', message: 'm' } as const] };
    assert.match(told(fleetWith(settled), commit(COMMIT_B, warned))[1] ?? '', /^Ready=True Settled/);
  });
});

describe('a condition', () => {
  const ready = (status: KubeletPoolStatus | undefined) => status?.conditions?.find(({ type }) => type === 'Ready');
  const past = '2026-01-01T00:00:00Z';
  const before = (status: 'True' | 'False') => {
    const now = statusOf(commit(COMMIT_B, old), fleetWith(settled));
    const conditions = now?.conditions?.map((each) => ({
      ...each,
      lastTransitionTime: past,
      ...(each.type === 'Ready' ? { status } : {}),
    }));
    return fleetWith(settled, poolInCluster(old, { ...now, conditions } as never));
  };

  it('keeps the time since when it is so, and has the present one where it was otherwise', () => {
    const found = (fleet: Fleet) => ready(statusOf(commit(COMMIT_B, old), fleet));
    assert.deepEqual([found(before('True'))?.lastTransitionTime, found(before('True'))?.observedGeneration], [past, 1]);
    const kept = statusOf(commit(COMMIT_B, old), before('False'))?.conditions ?? [];
    assert.deepEqual(
      kept.filter(({ lastTransitionTime }) => lastTransitionTime !== past).map(({ type }) => type),
      ['Ready'],
      'each condition has a time of its own',
    );
    assert.equal(found(before('False'))?.lastTransitionTime, '2026-11-21T12:00:00Z');
    assert.equal(found(fleetWith(settled))?.lastTransitionTime, '2026-11-21T12:00:00Z');
    const fresh = found({ ...fleetWith(settled), pools: new Map() });
    assert.ok(fresh !== undefined && !('observedGeneration' in fresh));
  });
});
