import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diffPayloads } from '#shared/contract/kubelet-config/field-diff.ts';

type Fields = Readonly<Record<string, unknown>>;

describe('what a change of a field costs', () => {
  const sysctls = (...allowedUnsafeSysctls: readonly string[]): Fields => ({ allowedUnsafeSysctls });
  const rows: readonly (readonly [
    what: string,
    before: Fields,
    after: Fields,
    minor: number | undefined,
    cost: string,
  ])[] = [
    ['a field that kubelets read', { hairpinMode: 'none' }, { hairpinMode: 'hairpin-veth' }, 23, 'drain'],
    ['and no longer do anything with', { hairpinMode: 'none' }, { hairpinMode: 'hairpin-veth' }, 24, 'restart'],
    ['which may be', { hairpinMode: 'none' }, { hairpinMode: 'hairpin-veth' }, undefined, 'drain'],
    ['a list that grows', sysctls('net.a'), sysctls('net.b', 'net.a'), 34, 'restart'],
    ['a list that loses something', sysctls('net.a', 'net.b'), sysctls('net.b', 'net.c'), 34, 'drain'],
    ['a list that is taken back', sysctls('net.a'), {}, 34, 'drain'],
    ['a list that is taken from the node', sysctls('net.a'), { allowedUnsafeSysctls: null }, 34, 'drain'],
    ['a list that comes', {}, sysctls('net.a'), 34, 'restart'],
  ];
  for (const [what, before, after, minor, cost] of rows) {
    it(`${what}: ${cost}`, () =>
      assert.deepEqual(
        diffPayloads(before, after, minor).map((change) => change.cost),
        [cost],
      ));
  }
});
