import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { NO_CONFIG } from '#reconciler/policy/payload-classes.ts';
import { configNameFor, membershipOf, targetFor, targetOf } from '#reconciler/policy/rollout/membership.ts';
import { commit, COMMIT_A, fleetOf, NOW } from '../../../support/fleet.ts';
import { given, LARGE, computedPool, poolFor, SMALL } from '../../../support/rollout/separate-classes.ts';
import { sizedPool } from '../../../support/rollout/sized-pool.ts';

describe('the target of a node', () => {
  it('is that of its class, and no config at all where that has none or nobody sorted the node', () => {
    const pool = poolFor([LARGE, SMALL]);
    assert.deepEqual(targetFor(pool, 'large'), { sha256: given(LARGE).sha256, apply: 'overlay' });
    for (const name of ['small', 'unknown'])
      assert.deepEqual(targetFor(pool, name), { sha256: NO_CONFIG, apply: 'overlay' });
    const { classes: _, ...plain } = pool;
    assert.deepEqual(targetFor(plain, 'small'), targetOf(plain));
    assert.equal(targetFor({ ...pool, config: null }, 'large'), null);
    for (const none of [null, undefined]) assert.equal(targetFor(none, 'large'), null);
  });

  it('is applied as its pool says', () => {
    const replacing = sizedPool(
      "computed: {systemReserved: {memory: 'memory * 0.1'}}\n",
      undefined,
      '  apply: replace\n',
    );
    const fleet = fleetOf({ nodes: [LARGE] });
    const { groups } = membershipOf(
      desiredState(commit(COMMIT_A, replacing), fleet, () => []),
      fleet,
      NOW,
    );
    assert.equal(groups[0]?.members[0]?.target?.apply, 'replace');
  });

  it('has the name of the config of its class, or of the pool', () => {
    const pool = poolFor([LARGE, SMALL]);
    assert.equal(configNameFor(pool, 'large'), given(LARGE).configName);
    for (const name of ['small', 'unknown']) assert.equal(configNameFor(pool, name), computedPool().configName);
    assert.equal(configNameFor(null, 'small'), undefined);
    const { classes: _, ...plain } = pool;
    assert.equal(configNameFor({ ...plain, config: null }, 'large'), undefined);
  });

  it('is known to its group, with the reason why there is none', () => {
    const fleet = fleetOf({ nodes: [LARGE, SMALL] });
    const desired = desiredState(commit(COMMIT_A, computedPool()), fleet, () => []);
    const members = membershipOf(desired, fleet, NOW).groups[0]?.members.map(({ node, target, unrendered }) => [
      node.name,
      target?.sha256,
      unrendered?.replace(/:.*/, ''),
    ]);
    assert.deepEqual(members, [
      ['large', given(LARGE).sha256, undefined],
      ['small', NO_CONFIG, 'systemReserved.memory cannot be computed'],
    ]);
    const unsorted = { ...desired, pools: new Map([[computedPool().name, poolFor([LARGE])]]) };
    const [, small] = membershipOf(unsorted, fleet, NOW).groups[0]?.members ?? [];
    assert.match(small?.unrendered ?? '', /^only a commit says/);
  });
});
