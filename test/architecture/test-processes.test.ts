import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { inProcesses } from '../../scripts/test-processes.ts';

const files = globSync(
  'test/{agent,architecture,cli,conformance,deploy,dkc,docs,reconciler,sandbox,security,shared,stories}/**/*.test.ts',
);
const processes = inProcesses(files.toSorted());

describe('the processes that npm test starts', () => {
  it('run every test file once', () => {
    assert.deepEqual(processes.flatMap((each) => each.files).toSorted(), files.toSorted());
    assert.equal(new Set(processes.map(({ name }) => name)).size, processes.length);
  });

  it('are shared by no file that changes its own', () => {
    // A hook outside of all suites is one for every test of the process.
    const CHANGES =
      /^beforeEach\(|\bprocess\.(?:chdir|umask|exit|setuid)\(|\bprocess\.(?:env\[[^\]]+\]|env\.\w+|exitCode|title) = |\bprocess\.argv\[1\]|\bmock\./m;
    const shared = processes.filter((each) => each.files.length > 1).flatMap((each) => each.files);
    assert.deepEqual(
      shared.filter((file) => CHANGES.test(readFileSync(file, 'utf8')) && !file.includes('test-processes')),
      [],
    );
  });
});
