import assert from 'node:assert/strict';
import { access, readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { createAnnotator } from '#reconciler/git/notes/notes-annotator.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { createGitSource } from '#reconciler/git/git-source.ts';
import { startGitServer } from '#sandbox/git-server/server.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { PATIENT, soon } from '../../reconciler/git/support/start.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { nativeGit, WITHOUT_GIT } from './support/native-git.ts';
import { started } from './support/started.ts';
import { column } from '../../support/columns.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const TEXT = 'a "quoted" name\n';

describeOrSkip('the repository of the sandbox', { skip: WITHOUT_GIT }, () => {
  it('takes commits of the story and pushes of a person, and tells both what is there', async (t) => {
    const server = await started(t);
    const first = await server.commit({ files: { 'a/b': '1', 'c "d"': TEXT, 'é/x': 'ü' }, message: 'One' });
    const git = nativeGit(temporaryDirectory(t));
    await git('clone', '-q', server.url, '.');
    await git('rm', '-q', 'a/b');
    // More than a mebibyte comes in chunks.
    const large = Array.from({ length: 200_000 }, (_, n) => (n * 2_654_435_761) % 4_294_967_296).join('\n');
    const { out } = await git.feed(large, 'hash-object', '-w', '--stdin');
    await git('update-index', '--add', '--cacheinfo', `100644,${out.trim()},large`);
    await git('commit', '-q', '-m', 'Two');
    await git('push', '-q', 'origin', 'main');
    const third = await server.commit({ files: { é: null }, message: 'Three' });
    const log = await server.log(5);
    assert.deepEqual(column(log, 'message'), ['Three\n', 'Two\n', 'One\n']);
    assert.deepEqual([log[0]?.oid, log[2]?.oid], [third, first]);
    assert.deepEqual(Object.fromEntries(await server.files()), { 'c "d"': TEXT, large });
    assert.equal((await nativeGit(join(git.directory)).attempt('fsck', '--strict')).code, 0);
  });

  it('keeps its branches from being rewritten or deleted by a push', async (t) => {
    const server = await started(t);
    const oid = await server.commit({ files: { a: '1' }, message: 'One' });
    await server.setRef('refs/heads/other', oid);
    const git = nativeGit(temporaryDirectory(t));
    await git('clone', '-q', server.url, '.');
    await git('commit', '-q', '--amend', '-m', 'Another');
    assert.notEqual((await git.attempt('push', '--force', 'origin', 'main')).code, 0);
    assert.notEqual((await git.attempt('push', 'origin', ':other')).code, 0);
    assert.equal((await server.log(1, 'other'))[0]?.oid, oid);
    assert.equal((await server.log(1))[0]?.oid, oid);
  });

  it('is all that can be asked of the server, by who may', async (t) => {
    const server = await started(t, {
      access: (header) => (header === 'r' ? 'read' : header === 'w' ? 'push' : 'nothing'),
    });
    const status = async (path: string, authorization: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        // As it is written: `fetch` would take the dots out.
        const asked = request(server.url, { path, headers: { authorization } }, (got) => {
          got.resume();
          resolve(got.statusCode);
        });
        asked.on('error', reject).end();
      });
    const refs = (service: string): string => `/config.git/info/refs?service=git-${service}-pack`;
    assert.equal(await status(refs('upload'), ''), 401);
    assert.equal(await status(refs('upload'), 'r'), 200);
    assert.equal(await status(refs('receive'), 'r'), 403);
    assert.equal(await status(refs('receive'), 'w'), 200);
    for (const path of [
      '/config.git/config',
      '/config.git/../x/config',
      '/config.git/info/../HEAD',
      '/etc/passwd',
      '/',
    ]) {
      assert.equal(await status(path, 'w'), 404, path);
    }
  });

  it('is gone with the server, or stays where it was asked to be', async (t) => {
    const root = temporaryDirectory(t);
    const one = await startGitServer({ root });
    const oid = await one.commit({ files: { a: '1' }, message: 'One' });
    await one.stop();
    const two = await started(t, { root });
    assert.equal((await two.log(1))[0]?.oid, oid);
    const fleeting = await startGitServer({ execPath: root });
    await access(fleeting.url);
    await fleeting.stop();
    await assert.rejects(access(dirname(fleeting.url)), { code: 'ENOENT' });
  });
});

describeOrSkip('where git has no http-backend', { skip: WITHOUT_GIT }, () => {
  it('the reconciler follows the local repository, and writes its notes there', async (t) => {
    const server = await started(t, { execPath: temporaryDirectory(t) });
    const { local } = server;
    assert.ok(local !== null);
    const oid = await server.commit({ files: { 'base/a.yaml': 'a: 1\n' }, message: 'One' });
    const to = { ...local, credentials: fileCredentials(undefined), limits: PATIENT, clock: systemClock };
    const { commit, files } = await createGitSource({ ...to, branch: 'main' }).snapshot(null, soon());
    assert.equal(commit.oid, oid);
    assert.equal(Buffer.from(files.get('base/a.yaml')?.bytes ?? []).toString(), 'a: 1\n');
    const ref = 'refs/notes/kubelet-gitops/demo';
    await createAnnotator({ ...to, ref, random: Math.random }).annotate(new Map([[oid, 'settled']]), soon());
    assert.deepEqual([...(await server.readNotes(ref))], [[oid, 'settled\n']]);
    const git = nativeGit(temporaryDirectory(t));
    await git('clone', '-q', server.url, '.');
    await git('commit', '-q', '--allow-empty', '-m', 'Two');
    await git('push', '-q', 'origin', 'main');
    assert.equal((await server.log(1))[0]?.oid, await git('rev-parse', 'HEAD'));
  });
});

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
