import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ReservingField, reservedAmount } from '#shared/contract/kubelet-config/reserved-amount.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';

const GIB = 2 ** 30;

const rows: readonly (readonly [string, ReservingField, string, number])[] = [
  ['an amount', 'kubeReserved', '2Gi', 2 * GIB],
  ['a share of the node', 'systemReserved', '25%', 2 * GIB],
  ['all of it', 'kubeReserved', '100%', 8 * GIB],
  ['a threshold', 'evictionHard', '512Mi', GIB / 2],
  ['a threshold that is a share, in fractions too', 'evictionHard', '12.5%', GIB],
  ['more than any machine has, and a number', 'kubeReserved', '1e400', Number.MAX_SAFE_INTEGER],
  ['nothing, where the threshold is switched off', 'evictionHard', '100%', 0],
  ['nothing, where it is switched off in the other way', 'evictionHard', '0%', 0],
  ['nothing, where it cannot be read', 'kubeReserved', 'much', 0],
];

describe('what a field keeps back from pods', () => {
  for (const [what, field, amount, bytes] of rows) {
    it(`is ${what}: ${field} ${amount}`, () => {
      const name = field === 'evictionHard' ? 'memory.available' : 'memory';
      assert.equal(reservedAmount(viewOf({ [field]: { [name]: amount } }, 34, 'replace'), field, name, 8 * GIB), bytes);
    });
  }

  it('is nothing where it does not name the resource', () => {
    assert.equal(
      reservedAmount(viewOf({ kubeReserved: { cpu: '1' } }, 34, 'replace'), 'kubeReserved', 'memory', GIB),
      0,
    );
  });
});
