import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../../../support/property.ts';
import { countCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import { didYouMean, editDistance, sameButCase } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { parseGoDuration } from '#shared/contract/kubelet-config/syntax/go-duration.ts';
import { isDnsLabel, isLabelValue, isQualifiedName } from '#shared/contract/kubelet-config/syntax/names.ts';
import { parsePercentage, parseWholePercentage } from '#shared/contract/kubelet-config/syntax/percentage.ts';
import { goUrlScheme } from '#shared/contract/kubelet-config/syntax/go-url.ts';
import { parseQuantity, valueOfQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';

function table<T>(title: string, read: (text: string) => T, rows: readonly (readonly [string, T])[]): void {
  describe(title, () => {
    for (const [text, expected] of rows)
      it(`${JSON.stringify(text)} is ${String(expected)}`, () => assert.equal(read(text), expected));
  });
}

table('the value of a quantity in 64 bits', valueOfQuantity, [
  ['0', 0n],
  ['k', 0n],
  ['1Gi', 2n ** 30n],
  ['1e18', 10n ** 18n],
  ['1e19', 0n],
  ['1e30', 0n],
  ['1e999999999', 0n],
  ['0.1', 1n],
  ['-0.1', -1n],
  ['1e-30', 1n],
  ['1e-999999999', 1n],
  ['8Ei', 2n ** 63n - 1n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['-9223372036854775808', 0n],
]);

table('the scheme of a URL', goUrlScheme, [
  ['unix:///run/a.sock', 'unix'],
  ['UNIX:x', 'unix'],
  ['/run/a.sock', ''],
  ['a/b:c', ''],
  ['', ''],
  ['a b:1', undefined],
  [':1', undefined],
  ['a%zz', undefined],
  ['unix://50%', undefined],
  ['http://[::1', undefined],
  ['dns://u@h:1/p?%zz', 'dns'],
]);

table('a Go duration', parseGoDuration, [
  ['10s', 10e9],
  ['1h30m', 5400e9],
  ['1.5h', 5400e9],
  ['5.s', 5e9],
  ['.5s', 0.5e9],
  ['100ms', 100e6],
  ['1µs', 1e3],
  ['1us', 1e3],
  ['-5m', -300e9],
  ['+5m', 300e9],
  ['0', 0],
  ['0s', 0],
  ['00s', 0],
  ['9223372036854775807ns', 2 ** 63],
  ['9223372036854775808ns', undefined],
  ['', undefined],
  ['10', undefined],
  ['1d', undefined],
  ['PT1M', undefined],
  ['10S', undefined],
  ['1h 30m', undefined],
  ['-', undefined],
  ['.s', undefined],
]);

table('a quantity', parseQuantity, [
  ['5', 5],
  ['100m', 0.1],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['1e3', 1000],
  ['1E3', 1000],
  ['5E', 5e18],
  ['-1Mi', -(2 ** 20)],
  ['+5', 5],
  ['.5', 0.5],
  ['100Mb', undefined],
  ['1 Gi', undefined],
  ['1Mi1', undefined],
  ['ki', undefined],
  ['5%', undefined],
  ['', undefined],
  ['.', 0],
  ['Ki', 0],
  ['Ei', undefined],
]);

table('a percentage of a threshold', parsePercentage, [
  ['10%', 10],
  ['5.5%', 5.5],
  ['-5%', -5],
  ['5 %', undefined],
  ['10', undefined],
  ['%', undefined],
]);

table('a percentage of a reservation', parseWholePercentage, [
  ['50%', 50],
  ['100%', 100],
  ['101%', undefined],
  ['5.5%', undefined],
  ['0', undefined],
]);

table('a list of CPUs', countCpus, [
  ['', 0],
  ['0', 1],
  ['0-3,7', 5],
  ['0,0-1', 2],
  ['0, 1', undefined],
  ['3-0', undefined],
  ['a', undefined],
  ['0-', undefined],
  ['0,', undefined],
  ['0-99999', undefined],
  ['9223372036854775807', 1],
  ['9223372036854775808', undefined],
  ['9223372036854775807,9223372036854775807,3', 2],
  ['4-9,0-5,5', 10],
]);

table('a label key', isQualifiedName, [
  ['app', true],
  ['example.com/app', true],
  ['node-role.kubernetes.io/worker', true],
  ['Example.com/app', false],
  ['a/b/c', false],
  ['-app', false],
  ['', false],
  ['x'.repeat(64), false],
]);

table('a label value', isLabelValue, [
  ['', true],
  ['a.b_c-1', true],
  ['a b', false],
  ['x'.repeat(64), false],
]);

table('a pool name', (text) => isDnsLabel(text, 52), [
  ['gpu-a100', true],
  ['GPU', false],
  ['a.b', false],
  ['x'.repeat(52), true],
  ['x'.repeat(53), false],
]);

describe('a guess at what was meant', () => {
  it('finds the nearest word', () => assert.equal(didYouMean('maxPod', ['maxPods', 'port']), 'maxPods'));
  it('counts swapped neighbours as one slip', () => assert.equal(editDistance('maxPdos', 'maxPods'), 1));
  it('keeps silent where nothing is near', () => assert.equal(didYouMean('colour', ['maxPods', 'port']), undefined));
  it('sees words that differ in case only', () => assert.equal(sameButCase('MAXPODS', ['port', 'maxPods']), 'maxPods'));
  it('measures the same in both directions', () => {
    forAll(fc.string(), fc.string(), (a, b) => editDistance(a, b) === editDistance(b, a));
  });
});
