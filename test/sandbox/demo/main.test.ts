import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { it } from 'node:test';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory();

it('the demo says what to install where git is missing, and ends with 2', () => {
  const { status, stderr } = spawnSync(process.execPath, [resolve('cli/bin.js'), 'demo'], {
    cwd: directory,
    env: { PATH: '/nonexistent', HOME: directory },
    encoding: 'utf8',
    timeout: 120_000,
  });
  assert.match(stderr, /^kubelet-gitops: git is not installed/m);
  assert.doesNotMatch(stderr, /^ +at /m);
  assert.equal(status, 2);
});
