import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Clone } from './forge-repository.ts';

const SCRIPT = 'ci/post-plan.mjs';

/**
 * The step of the template's pipeline that comments, as Gitea's runner runs it: on what the clone has checked out.
 *
 * @param env what the runner says of the pull request
 * @returns what the script said
 */
export async function postPlanOf({ directory }: Clone, env: Readonly<Record<string, string>>): Promise<string> {
  const revisions = ['--base', 'origin/main', '--head', 'HEAD'];
  const args = ['cli/bin.js', 'plan', '--repo', directory, '--cluster', 'demo', ...revisions, '-o', 'markdown'];
  const plan = await promisify(execFile)(process.execPath, args).then(
    ({ stdout }) => stdout,
    // 1: something changes.
    (error: { readonly code?: unknown; readonly stdout: string; readonly stderr: string }) => {
      assert.equal(error.code, 1, error.stderr);
      return error.stdout;
    },
  );
  const file = `${directory}-plan.md`;
  await writeFile(file, plan);
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, file], {
    env: { GITEA_ACTIONS: 'true', ...env },
    timeout: 120_000,
  });
  await rm(file);
  return stdout;
}
