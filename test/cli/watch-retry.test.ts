import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeError, type KubeErrorCode } from '#shared/kube/kube-error.ts';
import { isTransient } from '../../cli/watch-retry.ts';

const is = (code: KubeErrorCode): boolean => isTransient(new KubeError(code, 'cannot list nodes'));

describe('a command that watches', () => {
  it('goes on where the next look may be answered, by shorter pages as well', () => {
    for (const code of ['KUBE_UNREACHABLE', 'KUBE_THROTTLED', 'KUBE_GARBLED', 'KUBE_TOO_LONG'] as const)
      assert.ok(is(code), code);
  });

  it('ends where it may not look', () => {
    for (const code of ['KUBE_FORBIDDEN', 'KUBE_NOT_FOUND'] as const) assert.ok(!is(code), code);
    assert.ok(!isTransient(new Error('no')));
  });
});
