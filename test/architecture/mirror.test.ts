import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, it } from 'node:test';

/** The file or folder of the source that a test file is about, by its name alone: `a/b.test.ts` and `a/b.aspect.test.ts` test `a/b`. */
function isMirror(test: string): boolean {
  const folder = dirname(test).slice('test/'.length);
  const [name = ''] = basename(test).split('.');
  if (!existsSync(folder)) return false;
  return basename(folder) === name || ['ts', 'sh', 'js'].some((ending) => existsSync(`${folder}/${name}.${ending}`));
}

describe('a test file', () => {
  it('lies where its source does and has its name; what follows a behaviour through several files is in test/stories', () => {
    const tests = globSync('test/{agent,cli,reconciler,sandbox,shared}/**/*.test.ts');
    assert.ok(tests.length > 400);
    assert.deepEqual(
      tests.filter((test) => !isMirror(test)),
      [],
    );
  });

  it('would be found out under another name or in another folder', () => {
    assert.ok(isMirror('test/agent/decide/trial.restart.test.ts'));
    assert.ok(!isMirror('test/agent/decide/restart-of-trial.test.ts'));
    assert.ok(!isMirror('test/agent/trial.test.ts'));
  });
});
