import assert from 'node:assert/strict';
import { it } from 'node:test';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';

it('a pool’s folder that became a symbolic link is a broken pool, not one that was taken away', () => {
  const link = { code: 'symlink', severity: 'error', message: 'not followed', file: 'pools/gpu' } as const;
  const { pools } = loadRepo(new Map(), { cluster: 'demo', gitFindings: [link] });
  assert.deepEqual(
    pools.map(({ name, status, findings: [finding] }) => [name, status, finding?.message]),
    [['gpu', 'invalid', 'pools/gpu/pool.yaml cannot be used: not followed']],
  );
});
