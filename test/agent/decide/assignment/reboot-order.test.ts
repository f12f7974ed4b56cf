import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rebootFrom, rebootToOrder } from '#agent/decide/assignment/reboot-order.ts';

const ORDER = { by: 'systemd', boot: '6f1c-4D', timeout: '30m' } as const;

describe('a reboot order', () => {
  it('is read and written with the same meaning', () => {
    const read = rebootFrom(ORDER);
    assert.deepEqual(read, { by: 'systemd', boot: '6f1c-4D', timeoutMs: 1_800_000 });
    assert.ok(read !== null);
    assert.deepEqual(rebootToOrder(read), ORDER);
  });

  const readable: readonly (readonly [string, unknown])[] = [
    ['leaves the reboot to a daemon', { ...ORDER, by: 'sentinel' }],
    ['names a boot by one character', { ...ORDER, boot: 'a' }],
    ['names a boot by 64 characters', { ...ORDER, boot: 'a'.repeat(64) }],
    ['allows a millisecond', { ...ORDER, timeout: '1ms' }],
  ];
  for (const [what, value] of readable) it(`is read where it ${what}`, () => assert.notEqual(rebootFrom(value), null));

  const unreadable: readonly (readonly [string, unknown])[] = [
    ['is not there', undefined],
    ['is null', null],
    ['is a word', 'systemd'],
    ['is to be carried out by somebody unknown', { ...ORDER, by: 'kured' }],
    ['names no boot', { ...ORDER, boot: undefined }],
    ['names a boot by a number', { ...ORDER, boot: 7 }],
    ['names an empty boot', { ...ORDER, boot: '' }],
    ['names a boot by 65 characters', { ...ORDER, boot: 'a'.repeat(65) }],
    ['begins the boot with what a shell reads', { ...ORDER, boot: '$boot' }],
    ['ends the boot with what a shell reads', { ...ORDER, boot: 'boot;' }],
    ['has no timeout', { by: 'systemd', boot: 'b' }],
    ['counts its timeout', { ...ORDER, timeout: 30 }],
    ['lists timeouts', { ...ORDER, timeout: ['30m'] }],
    ['has a timeout in words', { ...ORDER, timeout: 'soon' }],
    ['allows no time', { ...ORDER, timeout: '0s' }],
  ];
  for (const [what, value] of unreadable)
    it(`is refused where it ${what}`, () => assert.equal(rebootFrom(value), null));
});
