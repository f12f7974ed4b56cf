import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { restartUnit } from '#agent/kubelet/restart-unit.ts';
import type { BusConnection, MethodCall } from '#agent/host/dbus/connection.ts';
import type { BusLink } from '#agent/host/dbus/link.ts';

const { signal } = new AbortController();

describe('an order to the kubelet’s unit', () => {
  for (const member of ['RestartUnit', 'StartUnit'] as const) {
    it(`clears its start limit before it: ${member}`, async () => {
      const calls: MethodCall[] = [];
      const call: BusConnection['call'] = async (each) => {
        calls.push(each);
        return [];
      };
      const link = { connection: async () => ({ call }) } as unknown as BusLink;
      await restartUnit(link, 'kubelet.service', signal, member);
      assert.deepEqual(
        calls.map((each) => [each.member, each.body]),
        [
          ['ResetFailedUnit', ['kubelet.service']],
          [member, ['kubelet.service', 'replace']],
        ],
      );
    });
  }
});
