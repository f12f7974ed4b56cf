import assert from 'node:assert/strict';
import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, it } from 'node:test';
import { openRepository } from '#cli/revision/local-repository.ts';
import { readRevision } from '#cli/revision/read-revision.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { type NativeGit, nativeGit, WITHOUT_GIT } from '../../sandbox/git-server/support/native-git.ts';
import { run } from '../support/run.ts';
import { layer, pool } from '../support/repository.ts';

describeOrSkip('a checkout that git made', { skip: WITHOUT_GIT }, () => {
  const root = temporaryDirectory();
  const at = (name: string): string => join(root, name);
  let main: NativeGit;
  let commits: readonly string[] = [];

  before(async () => {
    main = await made('main');
    await main('init', '-q', '-b', 'main', '.');
    const files = {
      'base/all.yaml': layer('maxPods: 10'),
      'pools/w/pool.yaml': pool('w', 'w', 'layers: [base/all.yaml]'),
    };
    for (const pods of [10, 20]) {
      await write(main.directory, { ...files, 'base/all.yaml': layer(`maxPods: ${pods}`), 'src/a.c': '' });
      await main('add', '-A');
      await main('commit', '-qm', `maxPods ${pods}`);
    }
    await main('notes', '--ref', 'kubelet-gitops/prod', 'add', '-m', 'settled');
    commits = (await main('log', '--format=%H')).trim().split('\n');
    await main('worktree', 'add', '-q', at('linked'), '-b', 'topic', 'HEAD~1');
    await main('worktree', 'add', '-q', '--detach', at('detached'), 'HEAD~1');
    const outer = await made('outer');
    await outer('init', '-q', '.');
    await outer('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', main.directory, 'cfg');
    await outer('-C', 'cfg', 'fetch', '-q', 'origin', 'refs/notes/*:refs/notes/*');
    await main('clone', '-q', '--separate-git-dir', at('elsewhere.git'), main.directory, at('separate'));
    await main('clone', '-q', main.directory, at('sparse'));
    await symlink(main.directory, at('link'));
  });

  async function made(name: string): Promise<NativeGit> {
    await mkdir(at(name));
    return nativeGit(at(name));
  }

  const write = async (directory: string, files: Readonly<Record<string, string>>): Promise<void> => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(directory, path, '..'), { recursive: true });
      await writeFile(join(directory, path), text);
    }
  };

  const kinds: readonly (readonly [what: string, name: string, behind: number])[] = [
    ['in the ordinary way', 'main', 0],
    ['by a link to it', 'link', 0],
    ['as a linked work tree', 'linked', 1],
    ['as a linked work tree without a branch', 'detached', 1],
    ['as a submodule', 'outer/cfg', 0],
    ['with its repository elsewhere', 'separate', 0],
  ];
  for (const [what, name, behind] of kinds) {
    it(`is read: ${what}`, async () => {
      const repository = await openRepository(at(name));
      assert.equal((await repository.commit('HEAD')).oid, commits[behind]);
      assert.equal((await repository.commit(commits[1] ?? '')).subject, 'maxPods 10');
      const { files } = await readRevision(repository, 'HEAD');
      assert.match(String(files.get('base/all.yaml')?.bytes), new RegExp(`maxPods: ${behind === 0 ? 20 : 10}`));
      const plan = await run('plan', '--repo', at(name), '--base', commits[1] ?? '', '--head', commits[0] ?? '');
      assert.match(plan.out, /maxPods +10 +→ +20/, plan.err);
      assert.match((await run('render', 'w', '--repo', at(name), '--revision', '.')).out, /maxPods: [12]0/);
    });
  }

  it('has the notes that are there', async () => {
    const refs = await Promise.all(
      ['main', 'linked', 'outer/cfg'].map(async (name) =>
        (await openRepository(at(name))).refs('refs/notes/kubelet-gitops'),
      ),
    );
    const tip = (await main('rev-parse', 'refs/notes/kubelet-gitops/prod')).trim();
    assert.deepEqual(
      refs,
      [1, 2, 3].map(() => new Map([['prod', tip]])),
    );
    for (const name of ['main', 'linked', 'outer/cfg'])
      assert.equal((await run('history', '--repo', at(name))).code, 0);
  });

  it('says where it leads where nothing is there', async () => {
    await cp(at('linked'), at('moved'), { recursive: true });
    await writeFile(at('moved/.git'), 'gitdir: /nowhere/.git/worktrees/moved\n');
    const lost = {
      code: 'NO_REPOSITORY',
      message: /\.git leads to \/nowhere\/\.git\/worktrees\/moved, .*worktree repair/,
    };
    await assert.rejects(openRepository(at('moved')), lost);
    assert.equal((await run('validate', at('moved'))).code, 0, 'files are files');
  });

  it('that is sparse is read where it has all of the configuration, and otherwise says what to do', async () => {
    const sparse = nativeGit(at('sparse'));
    await sparse('sparse-checkout', 'set', '--cone', 'base', 'pools');
    assert.equal((await run('validate', at('sparse'))).code, 0);
    await sparse('sparse-checkout', 'set', '--cone', 'pools');
    const said = /base\/all\.yaml is not in the working copy of .*: git sparse-checkout add clusters base pools brings/;
    const ask = [
      ['validate', at('sparse')],
      ['plan', '--repo', at('sparse'), '--base', 'HEAD~1', '--head', '.'],
      ['render', 'w', '--repo', at('sparse'), '--revision', '.'],
      ['foresight', at('sparse')],
    ];
    for (const argv of ask) {
      const { code, err } = await run(...argv);
      assert.equal(code, 2);
      assert.match(err, said);
    }
    assert.equal(
      (await run('plan', '--repo', at('sparse'), '--base', 'HEAD~1', '--head', 'HEAD')).code,
      1,
      'commits are whole',
    );
  });

  it('that is sparse says so below its root, with paths from there', async () => {
    const folder = await made('folder');
    await folder('init', '-q', '.');
    await write(folder.directory, {
      'infra/kubelet/base/all.yaml': layer(),
      'infra/kubelet/pools/w/pool.yaml': pool('w', 'w'),
    });
    await folder('add', '-A');
    await folder('commit', '-qm', 'one');
    await folder('sparse-checkout', 'set', '--cone', 'infra/kubelet/base');
    const said =
      /pools\/w\/pool\.yaml is not in .*: git sparse-checkout add infra\/kubelet\/clusters infra\/kubelet\/base /;
    assert.match((await run('validate', at('folder/infra/kubelet'))).err, said);
    assert.match((await run('validate', at('folder'), '--path', 'infra/kubelet')).err, said);
  });

  it('whose refs are a reftable says so, and takes full names of commits', async () => {
    // As git 3.0 makes one, by hand: most gits here are older.
    await cp(main.directory, at('reftable'), { recursive: true });
    const dotGit = at('reftable/.git');
    await nativeGit(at('reftable'))('config', 'extensions.refStorage', 'reftable');
    await Promise.all([
      rm(join(dotGit, 'refs'), { recursive: true }),
      rm(join(dotGit, 'packed-refs'), { force: true }),
    ]);
    await writeFile(join(dotGit, 'HEAD'), 'ref: refs/heads/.invalid\n');
    const repository = await openRepository(at('reftable'));
    const said = /its branches and tags are a reftable, which is not read: git refs migrate/;
    for (const name of ['HEAD', 'main', 'main~1']) await assert.rejects(repository.commit(name), said);
    await assert.rejects(repository.refs('refs/notes/kubelet-gitops'), said);
    assert.equal((await repository.commit(commits[1] ?? '')).subject, 'maxPods 10');
  });
});
