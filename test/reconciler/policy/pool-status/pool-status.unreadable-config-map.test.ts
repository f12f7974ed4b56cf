import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { UnreadableObject } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import { commit, COMMIT_B, fleetOf, NOW, poolInCluster, validPool } from '../../../support/fleet.ts';

const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
const [ONE, TWO] = [validPool('one', 110), validPool('two', 120)];
const GONE = poolInCluster(validPool('gone', 1));

/** What the statuses of pools say of their config sources, where this was left out. */
function said(unreadable: readonly UnreadableObject[]): readonly string[] {
  const fleet = { ...fleetOf({ pools: [poolInCluster(ONE), poolInCluster(TWO), GONE] }), unreadable };
  const { pools } = plan(
    desiredState(commit(COMMIT_B, ONE, TWO), fleet, () => []),
    fleet,
    SETTINGS,
    NOW,
  );
  return [...pools].flatMap(([name, { conditions = [] }]) =>
    conditions
      .filter(({ type }) => type === 'ConfigSourceReadable')
      .map(({ status, reason, message }) => `${name}: ${status} ${reason} ${message}`),
  );
}

describe('a config source that cannot be read', () => {
  const left = (of: UnreadableObject['of'], name: string): UnreadableObject => ({
    of,
    name,
    uid: '',
    error: new Error('no text'),
  });

  it('is said of the pool whose config it is, and of no other', () => {
    const words = `nobody makes, fixes or deletes the ConfigMap ${TWO.configName}: no text`;
    assert.deepEqual(said([left('config-source', TWO.configName)]), [`two: False CannotBeRead ${words}`]);
  });

  it('is not said where something else cannot be read, or nothing', () => {
    assert.deepEqual(said([left('node', TWO.configName), left('config-source', 'another')]), []);
    assert.deepEqual(said([]), []);
  });
});
