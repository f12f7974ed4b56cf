import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runInSubprocess } from '#sandbox/git-server/subprocess/run-in-subprocess.ts';

const HELPER = pathToFileURL(join(import.meta.dirname, '../support/describe-or-skip.ts')).href;

/** What the test runner says at its end of a file with this suite of three tests. */
async function totalsOf(options: string): Promise<Readonly<Record<string, number>>> {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-gitops-skipped-'));
  try {
    const file = join(directory, 'a.test.mjs');
    const tests = `for (const name of 'abc') it(name, () => {});`;
    writeFileSync(
      file,
      `import { it } from 'node:test';\nimport { describeOrSkip } from '${HELPER}';\ndescribeOrSkip('a suite', ${options}, () => { ${tests} });\n`,
    );
    const { out } = await runInSubprocess({
      file: process.execPath,
      args: ['--test', '--test-reporter=spec', file],
      env: { PATH: process.env['PATH'] },
      input: '',
      timeoutMs: 60_000,
    });
    const closing = out.toString().matchAll(/^ℹ (pass|fail|skipped) (\d+)$/gm);
    return Object.fromEntries([...closing].map(([, word = '', count]) => [word, Number(count)]));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe('a suite that is skipped', () => {
  it('is one skipped test in the closing lines, and none of its tests runs', async () => {
    assert.deepEqual(await totalsOf(`{ skip: 'SKIPPED: no git' }`), { pass: 0, fail: 0, skipped: 1 });
  });

  it('runs where nothing is missing', async () => {
    assert.deepEqual(await totalsOf('{ skip: false, concurrency: 1 }'), { pass: 3, fail: 0, skipped: 0 });
    assert.deepEqual(await totalsOf('{ skip: undefined }'), { pass: 3, fail: 0, skipped: 0 });
  });

  it('is none of the runner’s own, which would not count', () => {
    const skips = /\bdescribe\(\s*(?:'[^']*'|`[^`]*`|"[^"]*"|\w+),\s*\{[^{}]*\bskip\b/;
    const files = globSync('test/**/*.ts');
    assert.ok(files.some((file) => readFileSync(file, 'utf8').includes('describeOrSkip(')));
    assert.deepEqual(
      files.filter((file) => skips.test(readFileSync(file, 'utf8'))),
      [],
    );
  });
});
