import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { it } from 'node:test';

it('the demo says what to install where git is missing, and ends with 1', () => {
  const { status, stderr } = spawnSync(process.execPath, ['sandbox/demo/main.ts'], {
    env: { PATH: '/nonexistent' },
    encoding: 'utf8',
    timeout: 120_000,
  });
  assert.match(stderr, /^demo: git is not installed/m);
  assert.doesNotMatch(stderr, /^ +at /m);
  assert.equal(status, 1);
});
