import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it, type TestContext } from 'node:test';
import { packetLine } from '#reconciler/git/wire/pkt-line.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { failsWith, soon } from '../support/start.ts';
import { itOverHttp } from '../support/transport.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';
import { places, REF, startWithNotes, type WithNotes } from '../support/with-notes.ts';
import { column } from '../../../support/columns.ts';

const NOTHING = { written: false, unreadable: new Map() };

describeOrSkip('a note on a commit', { skip: WITHOUT_GIT }, () => {
  it('makes the ref and is shown by git', async (t) => {
    const started = await startWithNotes(t);
    const [first = ''] = started.commits;
    const outcome = await started.annotator().annotate(new Map([[first, 'settled\nprod: 3 of 3\n']]), soon());
    assert.ok(outcome.written);
    assert.equal(await started.note(first), 'settled\nprod: 3 of 3\n');
    const log = await started.server.git('log', '--notes=kubelet-gitops/*', '-1', first);
    assert.match(log, /Notes \(kubelet-gitops\/prod-eu-1\):\n {4}settled\n {4}prod: 3 of 3/);
    await started.server.git('fsck', '--strict');
  });

  it('is replaced by the next one on the same commit', async (t) => {
    const started = await startWithNotes(t);
    const [first = '', second = ''] = started.commits;
    const annotator = started.annotator();
    await annotator.annotate(new Map([[first, 'one']]), soon());
    await annotator.annotate(new Map([[second, 'two']]), soon());
    await annotator.annotate(new Map([[first, 'three']]), soon());
    assert.equal(await started.note(first), 'three\n');
    assert.equal(await started.note(second), 'two\n');
    assert.equal((await places(started)).length, 2);
    assert.equal(await started.server.git('rev-list', '--count', REF), '3');
  });

  itOverHttp('that stands there already makes no commit and no push', async (t) => {
    const started = await startWithNotes(t);
    const [first = '', second = ''] = started.commits;
    const notes = new Map([
      [first, 'one'],
      [second, 'two'],
    ]);
    assert.equal((await started.annotator().annotate(notes, soon())).written, true);
    const annotator = started.annotator();
    assert.deepEqual(await annotator.annotate(notes, soon()), NOTHING);
    const before = started.server.requests.length;
    assert.deepEqual(await annotator.annotate(notes, soon()), NOTHING);
    assert.deepEqual(await annotator.annotate(new Map(), soon()), NOTHING);
    assert.equal(started.server.requests.length, before);
    assert.equal(await started.server.git('rev-list', '--count', REF), '1');
  });

  itOverHttp('costs two requests after the first', async (t) => {
    const started = await startWithNotes(t);
    const [first = '', second = ''] = started.commits;
    const annotator = started.annotator();
    await annotator.annotate(new Map([[first, 'one']]), soon());
    const before = started.server.requests.length;
    await annotator.annotate(new Map([[second, 'two']]), soon());
    assert.deepEqual(column(started.server.requests.slice(before), 'kind'), ['push-greeting', 'push']);
  });

  it('is stored as text that every terminal shows alike, and not without end', async (t) => {
    const started = await startWithNotes(t);
    const [first = '', second = ''] = started.commits;
    const notes = new Map([
      [first, 'ok\u001b[2J\u202e\r\n\tdone\u0000\n\n\n'],
      [second, '€'.repeat(20_000)],
    ]);
    await started.annotator().annotate(notes, soon());
    assert.equal(await started.note(first), 'ok[2J\n\tdone\n');
    const long = await started.note(second);
    assert.ok(Buffer.byteLength(long) <= 16 * 1024);
    assert.match(long, /^€+\n…\n$/);
  });

  it('is refused on anything but a full commit name', async (t) => {
    const started = await startWithNotes(t);
    for (const oid of ['', 'main', 'a'.repeat(39), `${'a'.repeat(40)}/x`, '../../config', 'A'.repeat(40)]) {
      await assert.rejects(started.annotator().annotate(new Map([[oid, 'x']]), soon()), failsWith('GIT_NOTE_INVALID'));
    }
    assert.equal(started.server.requests.length, 0);
  });
});

describeOrSkip('a notes tree', { skip: WITHOUT_GIT }, () => {
  it('made by git is understood, wherever git put the note', async (t) => {
    const started = await startWithNotes(t, 1);
    const { repository, server } = started;
    const [commit = ''] = started.commits;
    const { blob, tree, setRef } = repository;
    const old = await blob('old\n');
    const other = await blob('of another commit\n');
    const rest = commit.slice(4);
    const deep = await tree([['40000', commit.slice(2, 4), await tree([['100644', rest, old]])]]);
    const layouts = [
      await tree([['100644', commit, old]]),
      await tree([['40000', commit.slice(0, 2), await tree([['100644', commit.slice(2), old]])]]),
      await tree([['40000', commit.slice(0, 2), deep]]),
      await tree([
        ['40000', commit.slice(0, 2), deep],
        ['100644', commit, old],
        ['100644', 'readme', other],
      ]),
    ];
    for (const [index, root] of layouts.entries()) {
      await setRef(REF, await repository.commit({ tree: root }));
      await started.annotator().annotate(new Map([[commit, `new ${index}`]]), soon());
      assert.equal(await started.note(commit), `new ${index}\n`);
      const expected = [`${commit.slice(0, 2)}/${commit.slice(2)}`, ...(index === 3 ? ['readme'] : [])];
      assert.deepEqual(await places(started), expected);
    }
    await server.git('fsck', '--strict');
  });

  it('of hundreds of notes by git and by us stays whole both ways', async (t) => {
    const started = await startWithNotes(t, 1);
    const { repository, server } = started;
    const treeOid = await repository.tree([]);
    const commits = await Promise.all(
      Array.from({ length: 320 }, (_, n) => repository.commit({ tree: treeOid, message: `commit ${n}\n` })),
    );
    const stream = commits.slice(0, 300).map((oid) => `N inline ${oid}\ndata 4\ngit\n`);
    const head = `commit ${REF}\ncommitter A <a@b> 1767225600 +0000\ndata 0\n`;
    await server.git.feed(head + stream.join(''), 'fast-import', '--quiet');
    assert.match((await places(started))[0] ?? '', /^..\//, 'git spreads them');
    const ours = new Map(commits.slice(290).map((oid) => [oid, 'ours']));
    await started.annotator().annotate(ours, soon());
    await server.git('notes', `--ref=${REF}`, 'append', '-m', 'theirs again', commits[300] ?? '');
    await started.annotator().annotate(new Map([[commits[0] ?? '', 'ours again']]), soon());
    const listed = (await server.git('notes', `--ref=${REF}`, 'list')).split('\n');
    assert.equal(listed.length, 320);
    assert.equal(await started.note(commits[150] ?? ''), 'git\n');
    assert.equal(await started.note(commits[295] ?? ''), 'ours\n');
    assert.equal(await started.note(commits[300] ?? ''), 'ours\n\ntheirs again\n');
    assert.equal(await started.note(commits[0] ?? ''), 'ours again\n');
  });
});

describeOrSkip('many notes', { skip: WITHOUT_GIT }, () => {
  /** A ref with so many notes, made by git, and a writer that has never seen it. */
  async function startWithMany(t: TestContext, count: number): Promise<WithNotes> {
    const started = await startWithNotes(t, 2);
    const head = `commit ${REF}\ncommitter A <a@b> 1767225600 +0000\ndata 0\n\n`;
    const notes = Array.from({ length: count }, (_, n) => {
      const oid = createHash('sha1').update(String(n)).digest('hex');
      return `M 100644 inline ${oid.slice(0, 2)}/${oid.slice(2)}\ndata 400\n${String(n).padEnd(400, oid)}\n`;
    });
    await started.server.git.feed(head + notes.join(''), 'fast-import', '--quiet');
    return started;
  }

  async function bytesFor(t: TestContext, count: number): Promise<readonly [first: number, next: number]> {
    const started = await startWithMany(t, count);
    const [first = '', second = ''] = started.commits;
    const annotator = started.annotator();
    const cost = async (commit: string): Promise<number> => {
      started.server.wire();
      await annotator.annotate(new Map([[commit, 'ours']]), soon());
      assert.equal(await started.note(commit), 'ours\n');
      const { up, down } = started.server.wire();
      return up + down;
    };
    const costs = [await cost(first), await cost(second)] as const;
    assert.equal((await places(started)).length, count + 2);
    await started.server.git('fsck', '--strict');
    return costs;
  }

  itOverHttp('cost a writer no more than a few do', async (t) => {
    const [few, many] = [await bytesFor(t, 300), await bytesFor(t, 5_000)];
    t.diagnostic(`300 notes: ${few.join(' and ')} B; 5,000 notes: ${many.join(' and ')} B`);
    for (const cost of [...few, ...many]) assert.ok(cost < 24 * 1024, `${cost} B`);
  });

  itOverHttp('cost a writer no more after thousands of pushes than after one', async (t) => {
    const started = await startWithMany(t, 300);
    const [first = ''] = started.commits;
    const oid = createHash('sha1').update('0').digest('hex');
    const pushes = Array.from(
      { length: 3_000 },
      (_, n) =>
        `commit ${REF}\ncommitter A <a@b> 1767225600 +0000\ndata 0\n\n${n === 0 ? `from ${REF}^0\n` : ''}` +
        `M 100644 inline ${oid.slice(0, 2)}/${oid.slice(2)}\ndata 6\n${String(n).padEnd(6)}\n`,
    );
    await started.server.git.feed(pushes.join(''), 'fast-import', '--quiet');
    started.server.wire();
    await started.annotator().annotate(new Map([[first, 'ours']]), soon());
    const { up, down } = started.server.wire();
    assert.equal(await started.note(first), 'ours\n');
    assert.equal(await started.server.git('rev-list', '--count', REF), '3002');
    assert.ok(up + down < 24 * 1024, `${up + down} B`);
    await started.server.git('fsck', '--strict');
  });

  itOverHttp('are fetched whole where the server announces single objects and then refuses one', async (t) => {
    const started = await startWithMany(t, 300);
    let asked = 0;
    started.server.fault = (kind) => {
      // The first is for the tip, the second for its commit, the third for a tree.
      if (kind !== 'refs' || (asked += 1) !== 3) return null;
      const headers = { 'content-type': 'application/x-git-upload-pack-result' };
      return { status: 200, headers, body: packetLine('ERR upload-pack: not our ref').toString() };
    };
    const [first = ''] = started.commits;
    await started.annotator().annotate(new Map([[first, 'ours']]), soon());
    assert.equal(asked, 3);
    assert.equal((await places(started)).length, 301);
  });

  itOverHttp('are fetched whole from a server that hands out no single objects', async (t) => {
    const started = await startWithMany(t, 500);
    await started.server.git('config', 'uploadpack.allowFilter', 'false');
    const [first = ''] = started.commits;
    await started.annotator().annotate(new Map([[first, 'ours']]), soon());
    assert.equal(await started.note(first), 'ours\n');
    assert.equal((await places(started)).length, 501);
    await started.server.git('fsck', '--strict');
  });
});
