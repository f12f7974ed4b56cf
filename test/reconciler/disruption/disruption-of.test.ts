import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { disruptionOf } from '#reconciler/disruption/disruption-of.ts';

const NOTHING = {};

describe('the disruption of a change', () => {
  const cases: readonly (readonly [string, object, object, string, readonly string[]])[] = [
    ['nothing', { maxPods: 110 }, { maxPods: 110 }, 'restart', []],
    ['a field that a restart is enough for', { maxPods: 110 }, { maxPods: 120 }, 'restart', []],
    ['a policy with a state file', NOTHING, { cpuManagerPolicy: 'static' }, 'restart', []],
    ['a field that pods of before do not follow', NOTHING, { podLogsDir: '/var/log/other' }, 'drain', ['podLogsDir']],
    ['cgroups of another layout', { cgroupRoot: '/a' }, { cgroupRoot: '/b', maxPods: 3 }, 'reboot', ['cgroupRoot']],
    ['the identity of the node', { podCIDR: '10.0.0.0/24' }, NOTHING, 'never', ['podCIDR']],
    ['the worst of several', { podLogsDir: '/a' }, { podLogsDir: '/b', cgroupRoot: '/c' }, 'reboot', ['cgroupRoot']],
  ];
  for (const [name, before, after, expected, fields] of cases) {
    it(`of ${name} is ${expected}`, () => {
      const found = disruptionOf({ ...before }, { ...after });
      assert.deepEqual(found, { class: expected, fields });
    });
  }
});
