import assert from 'node:assert/strict';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { HISTORY, runHistory } from '#cli/history/command.ts';
import { createWorkspace, type Workspace } from '../../docs/support/ci-run.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../../support/required-tools.ts';
import { runIn } from '../support/run.ts';
import { watch } from '../support/watch.ts';

const NOTES = 'refs/notes/kubelet-gitops/prod';

/** Each test clones by itself, as somebody does who has never seen the repository. */
describeOrSkip('kubelet-gitops history in a fresh clone', { skip: WITHOUT_GIT }, () => {
  let workspace: Workspace;
  let clones = 0;
  const origin = (...argv: readonly string[]) => workspace.git('-C', 'origin', ...argv);
  before(async () => {
    workspace = await createWorkspace();
    await workspace.git('init', '--quiet', '--initial-branch', 'main', 'origin');
    await commitNoted('Start', 'prod: settled');
  });
  after(() => workspace.remove());

  async function commitNoted(subject: string, note: string): Promise<void> {
    await origin('commit', '--quiet', '--allow-empty', '--message', subject);
    await noted('HEAD', note);
  }
  const noted = (revision: string, note: string) =>
    origin('notes', `--ref=${NOTES}`, 'add', '--force', '--message', note, revision);

  async function freshClone(): Promise<string> {
    clones += 1;
    await workspace.git('clone', '--quiet', 'origin', `clone-${clones}`);
    return join(workspace.directory, `clone-${clones}`);
  }

  const history = async (
    clone: string,
    argv: readonly string[],
    happens: readonly (() => Promise<unknown>)[] = [],
    env: Readonly<Record<string, string>> = workspace.env,
  ) => {
    const { code, shown } = await watch(HISTORY, runHistory, ['--repo', clone, ...argv], happens, { env });
    return { shown, error: typeof code === 'string' ? code : '' };
  };
  const subjectsIn = (text: string = ''): readonly string[] =>
    [...text.matchAll(/ (settled|halted|progressing) +(\S[^(]*) \(Ada\)$/gm)].map(
      ([, outcome, subject]) => `${outcome} ${subject}`,
    );

  it('says how to see something', async () => {
    const { error } = await history(await freshClone(), []);
    assert.match(error, /no notes in this clone: use --fetch/);
  });

  it('shows the notes with --fetch, in one command and without setting the clone up', async () => {
    const clone = await freshClone();
    assert.deepEqual(subjectsIn((await history(clone, ['--fetch'])).shown[0]), ['settled Start']);
    const configured = await workspace.git('-C', clone, 'config', '--get-all', 'remote.origin.fetch');
    assert.doesNotMatch(configured, /notes/);
  });

  it('says where a clone is too shallow to have a commit with a note', async () => {
    await origin('commit', '--quiet', '--allow-empty', '--message', 'Not noted');
    await workspace.git('clone', '--quiet', '--depth', '1', `file://${workspace.directory}/origin`, 'shallow');
    for (const more of [[], ['--clusters'], ['--clusters', '--output', 'markdown']]) {
      const { code, out, err } = await runIn(workspace.env, [
        'history',
        '--repo',
        join(workspace.directory, 'shallow'),
        '--fetch',
        ...more,
      ]);
      assert.deepEqual([code, out], [0, 'none of the last commits has a note\n']);
      assert.equal(
        err,
        'this clone is shallow and has only the newest commits: git fetch --unshallow brings the others\n',
      );
    }
  });

  it('begins with --fetch at what was fetched, and says without it what the clone has', async () => {
    const clone = await freshClone();
    await history(clone, ['--fetch']);
    await commitNoted('Raise maxPods', 'prod: progressing');
    assert.deepEqual(subjectsIn((await history(clone, [])).shown[0]), ['settled Start']);
    assert.deepEqual(subjectsIn((await history(clone, ['--fetch'])).shown[0]), [
      'progressing Raise maxPods',
      'settled Start',
    ]);
    assert.deepEqual(subjectsIn((await history(clone, ['--fetch', '--revision', 'HEAD'])).shown[0]), ['settled Start']);
  });

  it('fetches with the remote that the branch follows, under whatever name, and on no branch from origin', async () => {
    const clone = await freshClone();
    await workspace.git('-C', clone, 'remote', 'rename', 'origin', 'forge');
    assert.equal(subjectsIn((await history(clone, ['--fetch'])).shown[0]).at(-1), 'settled Start');
    await workspace.git('-C', clone, 'checkout', '--quiet', '--detach');
    assert.match((await history(clone, ['--fetch'])).error, /git fetch origin: .*origin/);
    await workspace.git('-C', clone, 'remote', 'rename', 'forge', 'origin');
    assert.equal(subjectsIn((await history(clone, ['--fetch'])).shown[0]).at(-1), 'settled Start');
  });

  it('prints with --watch what changes, each once, and outlasts a server that is away', async () => {
    const clone = await freshClone();
    const away = join(workspace.directory, 'away');
    const here = join(workspace.directory, 'origin');
    const { shown, error } = await history(
      clone,
      ['--watch', '--timeout', '75s'],
      [
        () => commitNoted('Raise more', 'prod: progressing'),
        () => rename(here, away),
        async () => {
          await rename(away, here);
          await noted('HEAD', 'prod: halted');
          await commitNoted('Revert', 'prod: progressing');
        },
      ],
    );
    assert.equal(error, '');
    assert.match(shown[0] ?? '', /^COMMIT/);
    assert.deepEqual(shown.slice(1).map(subjectsIn), [
      ['progressing Raise more'],
      ['halted Raise more', 'progressing Revert'],
    ]);
    assert.doesNotMatch(shown.slice(1).join(''), /COMMIT/);
  });

  it('ends where the server stays away, with what git says and no credential', async () => {
    const clone = await freshClone();
    const programs = join(workspace.directory, 'programs');
    await mkdir(programs);
    const leaving = 'echo "fatal: cannot access https://ada:hunter2secret@git.example.org/" >&2\nexit 128\n';
    const breakGit = () => writeFile(join(programs, 'git'), `#!/bin/sh\n${leaving}`, { mode: 0o755 });
    const env = { ...workspace.env, PATH: `${programs}:${workspace.env['PATH']}` };
    const { error } = await history(clone, ['-w', '--timeout', '1h'], [breakGit], env);
    assert.match(error, /git fetch origin: fatal: cannot access https:/);
    assert.doesNotMatch(error, /hunter2secret/);
  });

  it('says where there is no git program', async () => {
    const env = { ...workspace.env, PATH: join(workspace.directory, 'nothing-here') };
    assert.match((await history(await freshClone(), ['--fetch'], [], env)).error, /git is not installed/);
  });

  it('is for people when it watches, and bounds its time in words that help', async () => {
    const clone = await freshClone();
    const complaint = async (...argv: readonly string[]) => (await history(clone, argv)).error;
    assert.match(await complaint('-w', '-o', 'json'), /--watch is for people/);
    assert.match(await complaint('--timeout', '5m'), /--timeout needs --watch/);
  });
});
