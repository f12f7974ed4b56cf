import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isFormerLimits, limitsOf } from '#reconciler/policy/commit-limits.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';

const { maxUnavailable, maxUnassign, windows } = limitsOf(DEFAULT_CLUSTER);
const WHOLE = { maxUnavailable, maxUnassign, windows };

describe('limits in a record', () => {
  const rows: readonly (readonly [string, unknown, boolean])[] = [
    ['can be used where they are whole', WHOLE, true],
    [
      'can be used with counts, shares and windows',
      { maxUnavailable: 3, maxUnassign: '5%', windows: { allow: [], deny: [] } },
      true,
    ],
    ['cannot without a bound of nodes that are away', { maxUnassign, windows }, false],
    ['cannot with a bound of nodes that are away which is no amount', { ...WHOLE, maxUnavailable: true }, false],
    ['cannot without a bound of nodes that lose their configs', { maxUnavailable, windows }, false],
    ['cannot with none at all of those', { ...WHOLE, maxUnassign: null }, false],
    ['cannot without windows', { maxUnavailable, maxUnassign }, false],
    ['cannot with windows that only allow', { ...WHOLE, windows: { allow: [] } }, false],
    ['cannot with windows that only deny', { ...WHOLE, windows: { deny: [] } }, false],
    ['cannot where there are none', null, false],
    ['cannot where nobody recorded any', undefined, false],
  ];
  for (const [name, value, can] of rows) {
    it(name, () => assert.equal(isFormerLimits(value as Parameters<typeof isFormerLimits>[0]), can));
  }
});
