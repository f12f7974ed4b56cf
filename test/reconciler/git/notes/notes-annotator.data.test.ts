import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isGitError } from '#reconciler/git/errors.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';
import { soon } from '../support/start.ts';
import { itOverHttp } from '../support/transport.ts';
import { places, REF, startWithNotes, type WithNotes } from '../support/with-notes.ts';

const placeOf = (commit: string): string => `${commit.slice(0, 2)}/${commit.slice(2)}`;
const dataOf = async ({ server }: WithNotes, commit: string): Promise<string> =>
  (await server.git.attempt('show', `${REF}:${placeOf(commit)}.json`)).out;

describeOrSkip('what is for programs', { skip: WITHOUT_GIT }, () => {
  it('lies beside the note, and git log shows none of it', async (t) => {
    const started = await startWithNotes(t);
    const [first = ''] = started.commits;
    await started.annotator().annotate(new Map([[first, { text: 'prod: settled', data: '{"a":1}' }]]), soon());
    assert.deepEqual(await places(started), [placeOf(first), `${placeOf(first)}.json`]);
    assert.equal(await dataOf(started, first), '{"a":1}\n');
    const log = await started.server.git('log', '--notes=kubelet-gitops/*', '-1', first);
    assert.match(log, /\n\nNotes \(kubelet-gitops\/prod-eu-1\):\n {4}prod: settled$/);
    assert.equal((await started.server.git('notes', `--ref=${REF}`, 'list')).split('\n').length, 1);
    await started.server.git('fsck', '--strict');
  });

  it('is replaced with the note, alone where the text stays, and goes with a note that has none', async (t) => {
    const started = await startWithNotes(t);
    const [first = ''] = started.commits;
    const annotator = started.annotator();
    const write = async (text: string, data?: string): Promise<boolean> => {
      const content = { text, ...(data === undefined ? {} : { data }) };
      return (await annotator.annotate(new Map([[first, content]]), soon())).written;
    };
    assert.equal(await write('one', '1'), true);
    assert.equal(await write('one', '1'), false);
    assert.equal(await write('one', '2'), true);
    assert.deepEqual([await started.note(first), await dataOf(started, first)], ['one\n', '2\n']);
    assert.equal((await places(started)).length, 2);
    assert.equal(await write('two'), true);
    assert.deepEqual(await places(started), [placeOf(first)]);
  });

  it('is left with its note where only the first one was to be written', async (t) => {
    const started = await startWithNotes(t);
    const [first = '', second = ''] = started.commits;
    await started.annotator().annotate(new Map([[first, { text: 'settled', data: '1' }]]), soon());
    const refused = { text: 'refused', data: '2', onlyFirst: true };
    const both = new Map([first, second].map((commit) => [commit, refused]));
    assert.equal((await started.annotator().annotate(both, soon())).written, true);
    assert.deepEqual([await started.note(first), await dataOf(started, first)], ['settled\n', '1\n']);
    assert.deepEqual([await started.note(second), await dataOf(started, second)], ['refused\n', '2\n']);
    assert.equal((await started.annotator().annotate(new Map([[first, refused]]), soon())).written, false);
  });

  itOverHttp('costs no request more than a note alone', async (t) => {
    const started = await startWithNotes(t);
    const [first = '', second = ''] = started.commits;
    const annotator = started.annotator();
    await annotator.annotate(new Map([[first, { text: 'one', data: '1' }]]), soon());
    const before = started.server.requests.length;
    await annotator.annotate(new Map([[second, { text: 'two', data: '2' }]]), soon());
    assert.equal(started.server.requests.length - before, 2);
    assert.equal(await started.server.git('rev-list', '--count', REF), '2');
  });

  it('stays where git itself writes, moves, merges and prunes notes', async (t) => {
    const started = await startWithNotes(t, 1);
    const { repository, server } = started;
    const tree = await repository.tree([]);
    const commits = await Promise.all(
      Array.from({ length: 320 }, (_, n) => repository.commit({ tree, message: `commit ${n}\n` })),
    );
    const [moved = '', theirs = '', merged = ''] = commits;
    const ours = new Map(commits.slice(0, 2).map((commit) => [commit, { text: 'ours', data: commit }]));
    await started.annotator().annotate(ours, soon());
    const notes = async (...words: string[]): Promise<unknown> => server.git('notes', `--ref=${REF}`, ...words);
    // So few that git puts them flat into the root.
    await notes('append', '-m', 'theirs', theirs);
    assert.deepEqual((await places(started)).includes(moved), true);
    await server.git('notes', '--ref=refs/notes/side', 'add', '-m', 'by the side', merged);
    await notes('merge', 'refs/notes/side');
    await notes('prune');
    // So many that git spreads them over folders again.
    const many = commits.slice(3).map((commit) => `${moved} ${commit}\n`);
    await server.git.feed(many.join(''), 'notes', `--ref=${REF}`, 'copy', '--stdin');
    for (const commit of [moved, theirs]) assert.equal(await dataOf(started, commit), `${commit}\n`);
    assert.equal(await started.note(theirs), 'ours\n\ntheirs\n');
    assert.equal((await started.server.git('notes', `--ref=${REF}`, 'list')).split('\n').length, 320);
    await started.annotator().annotate(new Map([[moved, { text: 'again', data: 'new' }]]), soon());
    assert.deepEqual([await started.note(moved), await dataOf(started, moved)], ['again\n', 'new\n']);
    assert.equal((await places(started)).filter((path) => path.endsWith('.json')).length, 2);
    await server.git('fsck', '--strict');
  });

  it('comes with its note or not at all, however many write the same one', async (t) => {
    const started = await startWithNotes(t, 2);
    const writers = Array.from({ length: 6 }, () => started.annotator());
    await Promise.all(
      writers.map(async (writer, index) => {
        for (const commit of started.commits) {
          for (let done = false; !done;) {
            const content = { text: `by ${index}`, data: `by ${index}` };
            done = await writer.annotate(new Map([[commit, content]]), soon()).then(
              () => true,
              (error: unknown) => {
                if (!isGitError(error, 'GIT_PUSH_RACE')) throw error;
                return false;
              },
            );
          }
        }
      }),
    );
    for (const commit of started.commits) {
      assert.match(await started.note(commit), /^by \d\n$/);
      assert.equal(await dataOf(started, commit), await started.note(commit));
    }
    for (const oid of (await started.server.git('rev-list', REF)).split('\n')) {
      const paths = (await started.server.git('ls-tree', '-r', '--name-only', oid)).split('\n');
      assert.equal(paths.filter((path) => path.endsWith('.json')).length * 2, paths.length, oid);
    }
  });
});
