import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeCache } from '#reconciler/policy/config-repo/decode-cache.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { filesOf, KUBELET, POOL } from './support/load.ts';

describe('files that did not change', () => {
  it('are not read again', () => {
    const files = filesOf({ 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': `${KUBELET}maxPods: 5\n` });
    const cache = decodeCache();
    const first = loadRepo(files, { cluster: 'prod', cache });
    // Bytes that would not parse: whoever looks at them again is found out.
    const unreadable = new Map(
      [...files].map(([path, file]) => [path, { ...file, bytes: Buffer.from('a: [') }] as const),
    );
    const second = loadRepo(unreadable, { cluster: 'prod', cache });
    assert.deepEqual(
      second.pools.map(({ status }) => status),
      ['valid'],
    );
    assert.deepEqual(JSON.stringify(second), JSON.stringify(first));
  });

  it('are forgotten when a load does not ask for them', () => {
    const files = filesOf({ 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': KUBELET });
    const cache = decodeCache();
    loadRepo(files, { cluster: 'prod', cache });
    loadRepo(new Map(), { cluster: 'prod', cache });
    const unreadable = new Map(
      [...files].map(([path, file]) => [path, { ...file, bytes: Buffer.from('a: [') }] as const),
    );
    assert.deepEqual(
      loadRepo(unreadable, { cluster: 'prod', cache }).pools.map(({ status }) => status),
      ['invalid'],
    );
  });
});
