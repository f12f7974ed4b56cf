import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ALL_NODES,
  pageAddress,
  parsePageRequest,
  type PageRequest,
} from '#reconciler/reporting/status-page/page-request.ts';

const asked = (address: string): PageRequest | null => {
  const { pathname, searchParams } = new URL(address, 'http://page/');
  return parsePageRequest(pathname, searchParams);
};

describe('the address of a page', () => {
  const filters = [
    ALL_NODES,
    { ...ALL_NODES, state: 'waiting' },
    { ...ALL_NODES, name: 'n-1.example' },
    { name: 'n', state: 'failed', page: 7 },
  ] as const;
  for (const question of [
    { page: 'overview' },
    ...filters.flatMap((filter) => [
      { page: 'nodes', filter } as const,
      { page: 'pool', pool: 'web.a-1', filter } as const,
    ]),
  ] satisfies PageRequest[]) {
    it(`${pageAddress(question)} leads to what was asked for`, () => {
      assert.deepEqual(asked(pageAddress(question)), question);
    });
  }

  it('leaves out what is usual', () => {
    assert.equal(pageAddress({ page: 'nodes', filter: ALL_NODES }), 'nodes');
    assert.equal(pageAddress({ page: 'nodes', filter: { ...ALL_NODES, page: 2 } }), 'nodes?page=2');
  });

  it('takes what makes no sense for not said', () => {
    for (const query of [
      'node=%3Cb%3E',
      `node=${'n'.repeat(254)}`,
      'state=odd',
      'page=0',
      'page=-1',
      'page=1e3',
      'page=1234567',
    ]) {
      assert.deepEqual(asked(`/nodes?${query}`), { page: 'nodes', filter: ALL_NODES }, query);
    }
    assert.deepEqual(asked('/nodes?node=%20N-1%20'), { page: 'nodes', filter: { ...ALL_NODES, name: 'n-1' } });
  });

  it('leads nowhere without the name of a pool, or elsewhere', () => {
    for (const address of ['/pool', '/pool?name=', '/pool?name=%2F', `/pool?name=${'n'.repeat(254)}`, '/other']) {
      assert.equal(asked(address), null, address);
    }
  });
});
