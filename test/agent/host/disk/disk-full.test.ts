import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isDiskFull } from '#agent/host/disk/disk-full.ts';
import { systemError } from '../../../support/agent/system-error.ts';

/** What so many others made of an error of the system. */
const wrapped = (times: number, cause: unknown): unknown =>
  times === 0 ? cause : wrapped(times - 1, new Error('it failed', { cause }));

it('a disk is full where that is what is at the bottom of it, four causes down', () => {
  for (const code of ['ENOSPC', 'EDQUOT']) {
    for (const times of [0, 1, 4]) assert.equal(isDiskFull(wrapped(times, systemError(code, 'write', '/a'))), true);
    assert.equal(isDiskFull(wrapped(5, systemError(code, 'write', '/a'))), false);
  }
  for (const thrown of [systemError('EROFS', 'open', '/a'), new Error('no'), 'ENOSPC', undefined]) {
    assert.equal(isDiskFull(thrown), false);
  }
});
