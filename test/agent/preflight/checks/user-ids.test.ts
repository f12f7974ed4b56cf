import { describe } from 'node:test';
import { checkRows, type Fields } from '../support/on-host.ts';

const ids = (idsPerPod: number, more: Fields = {}): Fields => ({ userNamespaces: { idsPerPod }, ...more });
const UNIT = 65_536;
const FEW = ['error too-few-user-ids userNamespaces.idsPerPod'];

describe('preflight of user ids', () => {
  checkRows([
    ['110 shares of a range', {}, { subordinateIds: { first: UNIT, length: 110 * UNIT } }, []],
    ['109 of them', {}, { subordinateIds: { first: UNIT, length: 109 * UNIT } }, ['error too-few-user-ids maxPods']],
    ['as few pods', { maxPods: 109 }, { subordinateIds: { first: UNIT, length: 109 * UNIT } }, []],
    [
      'a range that begins between',
      ids(2 * UNIT),
      { subordinateIds: { first: 3 * UNIT, length: 300 * UNIT } },
      FEW,
      35,
    ],
    ['one that ends between', ids(2 * UNIT), { subordinateIds: { first: 2 * UNIT, length: 301 * UNIT } }, FEW, 35],
    ['one below the first share', ids(2 * UNIT), { subordinateIds: { first: 0, length: 300 * UNIT } }, FEW, 35],
    ['one that fits', ids(3 * UNIT), { subordinateIds: { first: 3 * UNIT, length: 330 * UNIT } }, [], 37],
    ['all ids of a node, with a rest', ids(3 * UNIT), { subordinateIds: 'none' }, FEW, 37],
    ['all ids of a node, without', ids(4 * UNIT), { subordinateIds: 'none' }, [], 37],
    ['all ids of a node, for too many', ids(2 ** 25, { maxPods: 128 }), { subordinateIds: 'none' }, FEW, 37],
    ['and for one less', ids(2 ** 25, { maxPods: 127 }), { subordinateIds: 'none' }, [], 37],
    ['a field that 1.34 reads too late', ids(3 * UNIT), { subordinateIds: 'none' }, [], 34],
    ['a range that 1.32 does not use', {}, { subordinateIds: { first: UNIT, length: UNIT } }, [], 32],
    [
      'a range that 1.29 did not know of',
      { featureGates: { UserNamespacesSupport: true } },
      { subordinateIds: { first: UNIT, length: UNIT } },
      [],
      29,
    ],
    ['ids that could not be seen', ids(3 * UNIT), {}, [], 37],
    [
      'pods with other ids',
      ids(2 * UNIT),
      { idsOfPods: [2 * UNIT, UNIT, UNIT] },
      ['error pods-keep-user-ids userNamespaces.idsPerPod'],
      35,
    ],
    ['pods with the same', ids(2 * UNIT), { idsOfPods: [2 * UNIT] }, [], 37],
    ['pods with what is usual', {}, { idsOfPods: [UNIT] }, [], 37],
    [
      'pods from before the field went',
      {},
      { idsOfPods: [2 * UNIT] },
      ['error pods-keep-user-ids userNamespaces.idsPerPod'],
      37,
    ],
    ['pods to a kubelet that reads the field too late', ids(2 * UNIT), { idsOfPods: [2 * UNIT] }, [], 34],
    ['pods to a kubelet that gives no ids', {}, { idsOfPods: [2 * UNIT] }, [], 32],
  ]);
});
