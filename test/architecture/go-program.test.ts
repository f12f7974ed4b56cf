import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runInSubprocess } from '#sandbox/git-server/subprocess/run-in-subprocess.ts';

const HELPER = pathToFileURL(join(import.meta.dirname, '../support/go-program.ts')).href;

describe('a program that tests need, on a machine where none is built and Go is too old', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kubelet-gitops-go-program-'));
  after(() => rmSync(directory, { recursive: true }));
  const install = (name: string, mode: number): void =>
    writeFileSync(join(directory, name), '#!/bin/sh\necho go1.21.0\n', { mode });
  install('go', 0o755);
  install('helm', 0o755);
  install('actionlint', 0o644);

  const find = async (program: string, CI: string, options = '{ anyVersion: true }') => {
    const asked = `goProgram('${program}', '${program}', 'nothing proves it', ${options})`;
    const { code, out, err } = await runInSubprocess({
      file: process.execPath,
      args: ['--input-type=module'],
      env: { PATH: `${directory}:${process.env['PATH'] ?? ''}`, KUBELET_GITOPS_CACHE: join(directory, 'cache'), CI },
      input: `import { goProgram } from '${HELPER}';\nconsole.log(JSON.stringify(${asked}));`,
      timeoutMs: 60_000,
    });
    return code === 0 ? { found: JSON.parse(out.toString()) as unknown, error: '' } : { error: err.toString() };
  };

  for (const CI of ['true', '']) {
    it(`is that in PATH where any version will do, with CI=${CI}`, async () => {
      const { found } = await find('helm', CI);
      assert.deepEqual(found, { path: join(directory, 'helm'), skip: false });
    });
  }

  it('is named with what it takes in CI, where no suite may be skipped', async () => {
    const [any, pinned] = [await find('actionlint', 'true'), await find('helm', 'true', '{}')];
    assert.match(any.error, /CI has no actionlint in PATH; .*Go 1\.26: nothing proves it/);
    assert.match(pinned.error, /CI has no helm; .*Go 1\.26: nothing proves it/);
  });

  it('is a reason to skip elsewhere', async () => {
    const how = 'test/support/go-programs/build.sh actionlint actionlint makes one with Go 1.26';
    const skip = `SKIPPED: no actionlint in PATH; ${how}: nothing proves it`;
    assert.deepEqual((await find('actionlint', '')).found, { skip });
  });
});
