import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { readGuardScript } from '#agent/guard/host-guard.ts';
import { bundle } from '../../../scripts/build.ts';
import { without } from '../../support/required-tools.ts';
import { SCRIPT } from './support/guarded-host.ts';

describe('the text of the guard’s script', () => {
  it('is found beside the source', async () => {
    assert.deepEqual(await readGuardScript(), await readFile(SCRIPT));
  });

  it('is found beside the bundle, by the part that reads it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bundle-'));
    const { outputs } = await bundle('agent', directory);
    const reader = Object.entries(outputs).find(([, { inputs }]) => 'agent/guard/host-guard.ts' in inputs)?.[0] ?? '';
    assert.match(await readFile(reader, 'utf8'), /new URL\(["'`]\.\/guard\.sh["'`],\s*import\.meta\.url\)/);
    assert.deepEqual(await readFile(join(directory, 'guard.sh')), await readFile(SCRIPT));
    assert.equal(resolve(dirname(reader)), directory);
    await rm(directory, { recursive: true });
  });
});

const NO_SHELLCHECK = without('shellcheck', ['--version'], 'nothing checks the guard’s script');

it('the guard’s script gives shellcheck no reason to complain', { skip: NO_SHELLCHECK }, () => {
  const { stdout, status } = spawnSync('shellcheck', ['--shell=sh', SCRIPT], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});
