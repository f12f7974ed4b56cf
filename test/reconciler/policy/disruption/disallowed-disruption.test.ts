import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { disallowedDisruption } from '#reconciler/policy/disruption/disallowed-disruption.ts';
import type { DisruptionSpec } from '#shared/contract/api/kubelet-pool.ts';

type Allowed = DisruptionSpec['allow'];

describe('a change', () => {
  const rows: readonly (readonly [
    Parameters<typeof disallowedDisruption>[0]['class'],
    Allowed | undefined,
    boolean,
  ])[] = [
    ['restart', undefined, true],
    ['restart', ['drain'], true],
    ['drain', undefined, false],
    ['drain', ['restart', 'reboot'], false],
    ['drain', ['restart', 'drain'], true],
    ['reboot', ['restart', 'drain'], false],
    ['reboot', ['restart', 'reboot'], true],
    ['never', ['restart', 'drain', 'reboot'], false],
  ];
  for (const [needed, allow, isMade] of rows) {
    it(`that needs ${needed} is ${isMade ? '' : 'not '}made where ${allow?.join(' and ') ?? 'nothing'} is allowed`, () => {
      const bar = disallowedDisruption({ class: needed, fields: ['a'] }, allow === undefined ? undefined : { allow });
      assert.equal(bar === null, isMade);
    });
  }

  it('is answered by what would let it: another list, or another node', () => {
    assert.match(
      disallowedDisruption({ class: 'drain', fields: ['a'] }) ?? '',
      /disruption\.allow: \[restart, drain\]/,
    );
    assert.match(disallowedDisruption({ class: 'never', fields: ['a'] }) ?? '', /replace the node instead/);
  });

  it('is named by its first three fields, and by all that would have to be allowed', () => {
    const bar = disallowedDisruption(
      { class: 'reboot', fields: ['a', 'b', 'c', 'd'] },
      { allow: ['restart', 'drain'] },
    );
    assert.match(bar ?? '', /\ba, b, c\b(?!, d)/);
    assert.match(bar ?? '', /\[restart, drain, reboot\]/);
  });
});
