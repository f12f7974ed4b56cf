import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isTransientDiskError } from '#agent/host/disk/transient-errors.ts';
import { systemError } from '../../../support/agent/system-error.ts';

it('room and handles come back without a person, and nothing else does', () => {
  const isTransient = (code: string): boolean => {
    const cause = systemError(code, 'open', '/a');
    const outer = new Error('not written', { cause });
    assert.equal(isTransientDiskError(cause), isTransientDiskError(outer), code);
    return isTransientDiskError(outer);
  };
  const codes = ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'EINTR'];
  assert.deepEqual(codes.filter(isTransient), codes);
  assert.deepEqual(['EROFS', 'EACCES', 'EPERM', 'EIO', 'ENOENT', 'EISDIR'].filter(isTransient), []);
});
