import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { nativeGit, WITHOUT_GIT } from './support/native-git.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { started } from './support/started.ts';

const TEMPLATE = join(import.meta.dirname, '../../../config-repo-template');
const run = promisify(execFile);

async function templateFiles(): Promise<Record<string, string>> {
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = paths.map(async (path) => [path.slice(TEMPLATE.length + 1), await readFile(path, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(read));
}

describeOrSkip("the config repo's show-notes script", { skip: WITHOUT_GIT }, () => {
  it('makes git log show the notes of every cluster, now and after later fetches', async (t) => {
    const server = await started(t);
    const commit = await server.commit({ files: await templateFiles(), message: 'Start from the template' });
    const writer = nativeGit(temporaryDirectory(t));
    await writer('clone', server.url, '.');
    const annotate = async (cluster: string, text: string) => {
      const ref = `refs/notes/kubelet-gitops/${cluster}`;
      await writer('notes', `--ref=${ref}`, 'add', '-f', '-m', text, commit);
      await writer('push', 'origin', ref);
    };
    const reader = nativeGit(temporaryDirectory(t));
    await reader('clone', server.url, '.');
    // The sandbox commits plain files only; a team's copy of the template keeps the script executable.
    const script = () => run('sh', ['scripts/show-notes.sh'], { cwd: reader.directory, env: reader.environment });

    assert.match((await script()).stdout, /No notes yet/);
    await annotate('prod', 'general: 3/3 updated');
    await annotate('stage', 'general: halted');
    assert.equal((await script()).stdout, 'git log now shows the notes of these clusters:\n  prod\n  stage\n');
    const shown = await reader('log');
    assert.match(shown, /Notes \(kubelet-gitops\/prod\):\n +general: 3\/3 updated/);
    assert.match(shown, /Notes \(kubelet-gitops\/stage\):\n +general: halted/);

    await annotate('stage', 'general: 3/3 updated');
    await reader('fetch');
    assert.doesNotMatch(await reader('log'), /halted/);
    const configured = await reader('config', '--get-all', 'remote.origin.fetch');
    assert.equal(configured.split('\n').length, 2);
    assert.equal((await reader('config', '--get-all', 'notes.displayRef')).trim(), 'refs/notes/kubelet-gitops/*');
    assert.equal((await reader.attempt('log')).err, '', 'git has nothing to warn of');
    await reader('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'notes', 'add', '-m', 'a note of my own');
    assert.match(await reader('log', '-1'), /a note of my own/);
  });

  it('says which remotes there are when the one that was named is none', async (t) => {
    const git = nativeGit(temporaryDirectory(t));
    await git('init');
    await git('remote', 'add', 'upstream', 'http://127.0.0.1:1/config.git');
    const options = { cwd: git.directory, env: git.environment };
    await assert.rejects(run('sh', [join(TEMPLATE, 'scripts/show-notes.sh')], options), {
      code: 1,
      stderr: /no remote "origin".*\n.*it has: upstream/,
    });
  });
});
