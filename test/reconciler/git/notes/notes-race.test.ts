import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { isGitError } from '#reconciler/git/errors.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { soon } from '../support/start.ts';
import { itOverHttp } from '../support/transport.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';
import { places, REF, startWithNotes } from '../support/with-notes.ts';
import { EVERY_POINT } from '../../../support/sample.ts';

/** Notes of each writer. */
const EACH = EVERY_POINT ? 4 : 2;

describeOrSkip('several writers of notes', { skip: WITHOUT_GIT }, () => {
  itOverHttp('lose nothing', async (t) => {
    const started = await startWithNotes(t, 6 * EACH);
    const writers = Array.from({ length: 6 }, () => started.annotator());
    let races = 0;
    started.server.fault = (kind) => {
      if (kind === 'push') races += 1;
      return null;
    };
    await Promise.all(
      writers.map(async (writer, index) => {
        for (const commit of started.commits.slice(index * EACH, (index + 1) * EACH)) {
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
      started.commits.map((_, n) => `by ${Math.floor(n / EACH)}\n`),
    );
    assert.equal(await started.server.git('rev-list', '--count', REF), String(6 * EACH));
    t.diagnostic(`${6 * EACH} notes took ${races} pushes`);
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
    const { begunAnew } = await annotator.annotate(new Map([[second, 'two']]), soon());
    assert.equal(begunAnew, true, 'whoever follows this cluster needs the others as well');
    assert.equal(await started.note(second), 'two\n');
    const empty = await started.repository.tree([]);
    await started.repository.setRef(REF, await started.repository.commit({ tree: empty, message: 'again\n' }));
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
      return true;
    });
    assert.equal(n, 5);
  });
});

describeOrSkip('a server that does not want notes', { skip: WITHOUT_GIT }, () => {
  const stalled = (...codes: Parameters<typeof isGitError>[1][]) =>
    function (error: unknown): boolean {
      assert.ok(isGitError(error, ...codes), String(error));
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
