import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { haltLines } from '#reconciler/policy/pool-status/halt-lines.ts';
import type { CommitReference, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Finding } from '#shared/contract/finding.ts';
import {
  commit,
  COMMIT_A,
  COMMIT_B,
  configSource,
  failedNode,
  fleetOf,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';
import { SETTINGS } from '../pool-status/support/pool-of-three.ts';

const AT = '2026-11-21T10:00:00Z';
const [a, b] = [nodeView('a', 'workers'), nodeView('b', 'workers')];
const old = validPool('workers', 114);
const settledOn = { configName: old.configName, sha256: old.sha256, apply: 'overlay', at: AT } as const;
const ADA: CommitReference = { commit: COMMIT_B, subject: 'Tune', author: 'Ada' };

/** The status of the pool of which `a` failed with this config, after what it was before. */
function statusAfter(
  pool: ValidPool,
  before: KubeletPoolStatus = { settled: settledOn },
  by: CommitReference | undefined = ADA,
  sources: readonly ValidPool[] = [old, pool],
): KubeletPoolStatus {
  const reference = { name: old.configName, sha256: old.sha256, apply: 'overlay' } as const;
  const failed = failedNode(a, pool);
  const fleet = fleetOf({
    nodes: [a, b],
    kubeletNodes: [
      { ...failed, status: { ...failed.status, active: reference, lastKnownGood: reference } },
      settledNode(b, old),
    ],
    configSources: sources.map((each) => configSource(each)),
    pools: [poolInCluster(old, before)],
  });
  const desired = { ...desiredState(commit(by?.commit ?? COMMIT_B, pool), fleet, () => []), ...(by && { by }) };
  return plan(desired, fleet, SETTINGS, NOW).pools.get('workers') ?? assert.fail();
}
const causeAfter = (...given: Parameters<typeof statusAfter>) => statusAfter(...given).halt?.cause ?? assert.fail();

describe('what stopped a pool', () => {
  const warned: Finding = { code: 'too-few', severity: 'warning', message: 'too few for pods', field: 'maxOpenFiles' };
  const other: Finding = { code: 'wide', severity: 'warning', message: 'wide', field: 'registryBurst' };
  const next = { ...validPool('workers', 120, {}, { maxOpenFiles: 20 }), findings: [other, warned] };

  it('is named by its fields, its commit, and the finding that had named one of them', () => {
    const cause = causeAfter(next);
    assert.deepEqual(cause.changed, [
      { field: 'maxOpenFiles', before: 'not set (default 1000000)', after: '20' },
      { field: 'maxPods', before: '114', after: '120' },
    ]);
    assert.deepEqual([cause.since, cause.by], [old.configName, ADA]);
    assert.deepEqual(haltLines({ halt: { cause } }), [
      `changed since ${old.configName} (settled ${AT}): maxOpenFiles: not set (default 1000000) → 20, maxPods: 114 → 120`,
      'by commit bbbbbbbbbbbb "Tune" (Ada)',
      'warned before: -: warning too-few: maxOpenFiles: too few for pods',
    ]);
  });

  it('is five fields at most, and how many more', () => {
    const gates = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`Gate${index}`, true]));
    const cause = causeAfter(validPool('workers', 114, {}, { featureGates: gates }));
    assert.deepEqual([cause.changed.length, cause.more], [5, 2]);
    assert.match(haltLines({ halt: { cause } })[0] ?? '', /Gate4: not set → true and 2 more$/);
  });

  it('is found in a map or a key of it as well', () => {
    const about = (field: string) => ({
      ...validPool('workers', 114, {}, { evictionHard: { 'memory.available': '9Gi' } }),
      findings: [{ ...warned, field }],
    });
    for (const field of ['evictionHard', 'evictionHard.memory.available'])
      assert.equal(causeAfter(about(field)).warnings?.length, 1, field);
    for (const field of ['evictionHardly', 'eviction', 'evictionHard.nodefs.available'])
      assert.equal(causeAfter(about(field)).warnings, undefined, field);
  });

  it('is the commit that began the rollout, not a later one that leaves the payload as it is', () => {
    const began = { configName: next.configName, sha256: next.sha256, startedAt: AT, waves: [], by: ADA };
    const later = { commit: COMMIT_A, subject: 'Typo', author: 'Bob' };
    assert.deepEqual(causeAfter(next, { settled: settledOn, rollout: began }, later).by, ADA);
  });

  it('is remembered from the pass in which its rollout begins, before anything fails', () => {
    const pass = (status: KubeletPoolStatus, by: CommitReference): KubeletPoolStatus => {
      const nodes = [settledNode(a, old), settledNode(b, old)];
      const configSources = [configSource(old), configSource(next)];
      const fleet = fleetOf({ nodes: [a, b], kubeletNodes: nodes, configSources, pools: [poolInCluster(old, status)] });
      const desired = { ...desiredState(commit(by.commit, next), fleet, () => []), by };
      return plan(desired, fleet, SETTINGS, NOW).pools.get('workers') ?? assert.fail();
    };
    const begun = pass({ settled: settledOn }, ADA);
    assert.deepEqual(begun.rollout?.by, ADA);
    assert.deepEqual(pass(begun, { commit: COMMIT_A, author: 'Bob' }).rollout?.by, ADA);
  });

  it('stays as it was while the pool is halted, whatever is committed meanwhile', () => {
    const first = statusAfter(next);
    const again = statusAfter({ ...next, findings: [] }, first, { commit: COMMIT_A, author: 'Bob' }, [next]);
    assert.deepEqual(again.halt, first.halt);
  });

  it('claims nothing where what ran before cannot be read', () => {
    const cause = causeAfter(next, { settled: settledOn }, ADA, [next]);
    assert.deepEqual([cause.since, cause.changed], [undefined, []]);
    assert.match(haltLines({ halt: { cause } })[0] ?? '', /cannot be read/);
  });

  it('says how the config is applied where only that changes', () => {
    const cause = causeAfter(validPool('workers', 114, { apply: 'replace' }));
    assert.deepEqual(cause.changed, [{ field: 'apply', before: 'overlay', after: 'replace' }]);
  });

  it('shows no credential', () => {
    const secret = validPool('workers', 114, {}, { staticPodURLHeader: { Authorization: ['Bearer abc'] } });
    assert.doesNotMatch(JSON.stringify(causeAfter(secret)), /abc/);
  });
});
