import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '#shared/runtime/clock.ts';
import { type AnnotatorOptions, createAnnotator } from '#reconciler/git/annotate.ts';
import type { Annotator } from '#reconciler/git/annotator.ts';
import { fileCredentials } from '#reconciler/git/credentials.ts';
import { packetLine } from '#reconciler/git/wire/pkt-line.ts';
import { isGitError } from '#reconciler/git/errors.ts';
import { failsWith, PATIENT, soon, start, type Started } from './support/start.ts';
import { itOverHttp, wayTo } from './support/transport.ts';
import { WITHOUT_GIT } from '../../support/needs.ts';

const REF = 'refs/notes/kubelet-gitops/prod-eu-1';

interface WithNotes extends Started {
  annotator(options?: Partial<AnnotatorOptions>): Annotator;
  /** What git shows for a commit; empty where it has no note. */
  note(commit: string): Promise<string>;
  readonly commits: readonly string[];
}

async function startWithNotes(t: TestContext, commits = 3): Promise<WithNotes> {
  const started = await start(t);
  const oids: string[] = [];
  for (let n = 0; n < commits; n += 1) oids.push(await started.repository.commitFiles({ 'base/a.yaml': `a: ${n}\n` }));
  return {
    ...started,
    commits: oids,
    annotator: (options) =>
      createAnnotator({
        ...wayTo(started.server.url, started.server.git.directory),
        ref: REF,
        credentials: fileCredentials(undefined),
        clock: systemClock,
        random: Math.random,
        limits: PATIENT,
        ...options,
      }),
    note: async (commit) => (await started.server.git.attempt('notes', `--ref=${REF}`, 'show', commit)).out,
  };
}

/** Paths in the notes tree. */
async function places({ server }: Started): Promise<readonly string[]> {
  return (await server.git('ls-tree', '-r', '--name-only', REF)).split('\n');
}

describe('a note on a commit', { skip: WITHOUT_GIT }, () => {
  it('makes the ref and is shown by git', async (t) => {
    const started = await startWithNotes(t);
    const [first = ''] = started.commits;
    const outcome = await started.annotator().annotate(new Map([[first, 'settled\nprod: 3 of 3\n']]), soon());
    assert.ok(outcome.written);
    assert.equal(outcome.notesCommit, await started.server.git('rev-parse', REF));
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
    assert.deepEqual(await annotator.annotate(notes, soon()), { written: false });
    const before = started.server.requests.length;
    assert.deepEqual(await annotator.annotate(notes, soon()), { written: false });
    assert.deepEqual(await annotator.annotate(new Map(), soon()), { written: false });
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
    assert.deepEqual(
      started.server.requests.slice(before).map(({ kind }) => kind),
      ['push-greeting', 'push'],
    );
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

describe('a notes tree', { skip: WITHOUT_GIT }, () => {
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

describe('many notes', { skip: WITHOUT_GIT }, () => {
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

describe('several writers of notes', { skip: WITHOUT_GIT }, () => {
  itOverHttp('lose nothing', async (t) => {
    const started = await startWithNotes(t, 24);
    const writers = Array.from({ length: 6 }, () => started.annotator());
    let races = 0;
    started.server.fault = (kind) => {
      if (kind === 'push') races += 1;
      return null;
    };
    await Promise.all(
      writers.map(async (writer, index) => {
        for (const commit of started.commits.slice(index * 4, index * 4 + 4)) {
          // A caller tries again later where five tries were not enough.
          for (;;) {
            try {
              await writer.annotate(new Map([[commit, `by ${index}`]]), soon());
              break;
            } catch (error) {
              if (!isGitError(error, 'GIT_PUSH_RACE')) throw error;
            }
          }
        }
      }),
    );
    const notes = await Promise.all(started.commits.map((commit) => started.note(commit)));
    assert.deepEqual(
      notes,
      started.commits.map((_, n) => `by ${Math.floor(n / 4)}\n`),
    );
    assert.equal(await started.server.git('rev-list', '--count', REF), '24');
    t.diagnostic(`24 notes took ${races} pushes`);
  });

  itOverHttp('of six clusters note the same commit beside each other', async (t) => {
    const started = await startWithNotes(t, 1);
    const [commit = ''] = started.commits;
    const clusters = Array.from({ length: 6 }, (_, n) => `refs/notes/kubelet-gitops/cluster-${n}`);
    await Promise.all(
      clusters.map((ref) => started.annotator({ ref }).annotate(new Map([[commit, `on ${ref}`]]), soon())),
    );
    const log = await started.server.git('log', '-1', '--format=%N', '--notes=kubelet-gitops/*', commit);
    assert.deepEqual(
      log.match(/on \S+/g)?.toSorted(),
      clusters.map((ref) => `on ${ref}`),
    );
    assert.equal(started.server.requests.filter(({ kind }) => kind === 'push').length, 6, 'none met another');
  });

  itOverHttp('in the same process take turns', async (t) => {
    const started = await startWithNotes(t, 5);
    const annotator = started.annotator();
    await Promise.all(started.commits.map((commit) => annotator.annotate(new Map([[commit, 'x']]), soon())));
    assert.equal((await places(started)).length, 5);
    assert.equal(started.server.requests.filter(({ kind }) => kind === 'push').length, 5);
  });

  itOverHttp('meet a tip that moved behind their back, before and during the push', async (t) => {
    const started = await startWithNotes(t, 4);
    const [first = '', second = '', third = '', fourth = ''] = started.commits;
    const annotator = started.annotator();
    await annotator.annotate(new Map([[first, 'ours']]), soon());
    await started.server.git('notes', `--ref=${REF}`, 'add', '-m', 'theirs', second);
    await annotator.annotate(new Map([[third, 'ours']]), soon());
    let meddled = false;
    started.server.fault = async (kind) => {
      if (kind !== 'push' || meddled) return null;
      meddled = true;
      await started.server.git('notes', `--ref=${REF}`, 'append', '-m', 'theirs', third);
      return null;
    };
    await annotator.annotate(new Map([[fourth, 'ours']]), soon());
    assert.deepEqual(await Promise.all(started.commits.map((commit) => started.note(commit))), [
      'ours\n',
      'theirs\n',
      'ours\n\ntheirs\n',
      'ours\n',
    ]);
  });

  it('begin again when the ref was deleted or rewritten', async (t) => {
    const started = await startWithNotes(t, 3);
    const [first = '', second = '', third = ''] = started.commits;
    const annotator = started.annotator();
    await annotator.annotate(new Map([[first, 'one']]), soon());
    await started.server.git('update-ref', '-d', REF);
    await annotator.annotate(new Map([[second, 'two']]), soon());
    assert.equal(await started.note(second), 'two\n');
    const empty = await started.repository.tree([]);
    await started.repository.setRef(REF, await started.repository.commit({ tree: empty, message: 'anew\n' }));
    await annotator.annotate(new Map([[third, 'three']]), soon());
    assert.deepEqual(await Promise.all([second, third].map((commit) => started.note(commit))), ['', 'three\n']);
  });

  itOverHttp('give up after five races, and say that it is worth another try', async (t) => {
    const started = await startWithNotes(t);
    const { repository, server } = started;
    const [first = ''] = started.commits;
    const tree = await repository.tree([]);
    let n = 0;
    server.fault = async (kind) => {
      if (kind === 'push') await repository.setRef(REF, await repository.commit({ tree, message: `${(n += 1)}\n` }));
      return null;
    };
    await assert.rejects(started.annotator().annotate(new Map([[first, 'x']]), soon()), (error) => {
      assert.ok(isGitError(error, 'GIT_PUSH_RACE'), String(error));
      assert.equal(error.disposition.kind, 'retry');
      return true;
    });
    assert.equal(n, 5);
  });
});

describe('a server that does not want notes', { skip: WITHOUT_GIT }, () => {
  const stalled = (...codes: Parameters<typeof isGitError>[1][]) =>
    function (error: unknown): boolean {
      assert.ok(isGitError(error, ...codes), String(error));
      assert.deepEqual(error.disposition, { kind: 'stalled', until: 'operator' });
      return true;
    };

  itOverHttp('because the credential may only read is not asked again and again', async (t) => {
    const started = await startWithNotes(t);
    const [first = ''] = started.commits;
    started.server.access = () => 'read';
    await assert.rejects(started.annotator().annotate(new Map([[first, 'x']]), soon()), stalled('GIT_FORBIDDEN'));
    assert.equal(started.server.requests.filter(({ kind }) => kind.startsWith('push')).length, 1);
    assert.equal((await started.source().snapshot(null, soon())).files.size, 1, 'reading goes on');
    started.server.access = () => 'push';
    await started.annotator().annotate(new Map([[first, 'x']]), soon());
  });

  itOverHttp('because the credential is wrong', async (t) => {
    const started = await startWithNotes(t);
    started.server.access = () => 'nothing';
    const work = started.annotator().annotate(new Map([[started.commits[0] ?? '', 'x']]), soon());
    await assert.rejects(work, stalled('GIT_UNAUTHORIZED'));
  });

  for (const hook of ['pre-receive', 'update']) {
    itOverHttp(`because of a ${hook} hook is quoted`, async (t) => {
      const started = await startWithNotes(t);
      const file = join(started.server.git.directory, 'hooks', hook);
      await writeFile(file, '#!/bin/sh\necho "policy: no notes here" >&2\nexit 1\n');
      await chmod(file, 0o755);
      await assert.rejects(
        started.annotator().annotate(new Map([[started.commits[0] ?? '', 'x']]), soon()),
        (error) => {
          assert.match(String(error), /hook declined.*policy: no notes here/);
          return stalled('GIT_PUSH_REFUSED')(error);
        },
      );
      assert.equal(started.server.requests.filter(({ kind }) => kind === 'push').length, 1);
    });
  }

  it('because another ref stands where a directory would have to be', async (t) => {
    const started = await startWithNotes(t);
    const [first = ''] = started.commits;
    await started.server.git('notes', '--ref=refs/notes/kubelet-gitops', 'add', '-m', 'x', first);
    await assert.rejects(started.annotator().annotate(new Map([[first, 'x']]), soon()), stalled('GIT_PUSH_REFUSED'));
  });

  for (const fault of ['cut', 'clean-cut', 'empty', 'reset'] as const) {
    itOverHttp(`and fails (${fault}) loses nothing: the next call writes it`, async (t) => {
      const started = await startWithNotes(t);
      const [first = '', second = ''] = started.commits;
      const annotator = started.annotator();
      await annotator.annotate(new Map([[first, 'one']]), soon());
      started.server.fault = (kind) => (kind === 'push' ? fault : null);
      await assert.rejects(annotator.annotate(new Map([[second, 'two']]), soon()), (error) =>
        isGitError(error, 'GIT_CUT', 'GIT_UNREACHABLE'),
      );
      started.server.fault = () => null;
      await annotator.annotate(new Map([[second, 'two']]), soon());
      assert.equal(await started.note(second), 'two\n');
      assert.equal(await started.note(first), 'one\n');
    });
  }
});
