import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podAddresses } from '#cli/inventory/pod-addresses.ts';

describe('how many addresses a Node has for pods', () => {
  for (const [what, spec, wanted] of [
    ['of the usual range, all but the first and the last', { podCIDRs: ['10.0.1.0/24'] }, 254],
    ['of a small range', { podCIDRs: ['10.0.1.16/28'] }, 14],
    ['by the older field alone', { podCIDR: '10.0.0.0/23' }, 510],
    ['of two families, the fewest', { podCIDR: 'fd00::/64', podCIDRs: ['fd00::/64', '10.0.1.0/25'] }, 126],
    ['of IPv6 alone', { podCIDRs: ['fd00::/120'] }, 256],
    ['of a range without room', { podCIDRs: ['10.0.1.1/32'] }, 0],
    ['not known without a range', {}, undefined],
    ['not known of an empty one', { podCIDR: '', podCIDRs: [] }, undefined],
    ['not known of what is not a range', { podCIDRs: ['10.0.1.0', '10.0.1.0/33', 7] }, undefined],
  ] as const) {
    it(what, () => {
      assert.equal(podAddresses(spec), wanted);
    });
  }
});
