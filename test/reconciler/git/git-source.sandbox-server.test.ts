import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '#shared/runtime/clock.ts';
import { createAnnotator } from '#reconciler/git/notes/notes-annotator.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { isGitError } from '#reconciler/git/errors.ts';
import { createGitSource } from '#reconciler/git/git-source.ts';
import { started } from '../../sandbox/git-server/support/started.ts';
import { failsWith, PATIENT, soon } from './support/start.ts';

const REF = 'refs/notes/kubelet-gitops/demo';

describe('the sandbox’s git server', () => {
  it('is read like a real one, lineage and all', async (t) => {
    const server = await started(t);
    const source = createGitSource({
      url: server.url,
      branch: 'main',
      credentials: fileCredentials(undefined),
      limits: PATIENT,
      clock: systemClock,
    });
    await assert.rejects(source.resolve(soon()), failsWith('GIT_BRANCH_MISSING'));
    const oids: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      oids.push(await server.commit({ message: `change ${n}\n`, files: { 'base/a.yaml': `a: ${n}\n` } }));
    }
    const [first = '', , third = '', fourth = ''] = oids;
    assert.equal(await source.resolve(soon()), fourth);
    const lineageFrom = async (since: string | null) => (await source.snapshot(since, soon())).lineage;
    assert.equal(await lineageFrom(null), 'first');
    assert.equal(await lineageFrom(third), 'descendant');
    assert.equal(await lineageFrom(first), 'descendant');
    await server.setRef('refs/heads/main', third);
    assert.equal(await lineageFrom(fourth), 'rewritten');
    assert.equal(await lineageFrom('d'.repeat(40)), 'rewritten');
    const { files } = await source.snapshot(null, soon());
    assert.equal(Buffer.from(files.get('base/a.yaml')?.bytes ?? []).toString(), 'a: 2\n');
    const before = await source.earlier(first, await source.resolve(soon()), soon());
    assert.equal(Buffer.from(before?.files.get('base/a.yaml')?.bytes ?? []).toString(), 'a: 0\n');
    assert.equal(await source.earlier(fourth, await source.resolve(soon()), soon()), null);
  });

  it('takes notes', async (t) => {
    const server = await started(t);
    const oid = await server.commit({ message: 'change\n', files: { 'base/a.yaml': 'a: 1\n' } });
    const annotator = createAnnotator({
      url: server.url,
      ref: REF,
      credentials: fileCredentials(undefined),
      limits: PATIENT,
      clock: systemClock,
      random: Math.random,
    });
    await annotator.annotate(new Map([[oid, 'progressing']]), soon());
    await annotator.annotate(new Map([[oid, 'settled']]), soon());
    assert.deepEqual([...(await server.readNotes(REF))], [[oid, 'settled\n']]);
  });

  it('loses no note of six writers, nor those of six clusters', async (t) => {
    const server = await started(t);
    const commits: string[] = [];
    for (let n = 0; n < 6; n += 1) commits.push(await server.commit({ message: `${n}\n`, files: { a: `${n}` } }));
    const writer = (ref: string) =>
      createAnnotator({
        url: server.url,
        ref,
        credentials: fileCredentials(undefined),
        limits: PATIENT,
        clock: systemClock,
        random: Math.random,
      });
    await Promise.all(
      commits.map(async (commit, n) => {
        const shared = writer(REF);
        // A caller tries again later where five tries were not enough.
        while (!(await shared.annotate(new Map([[commit, `by ${n}`]]), soon()).then(Boolean, isRace)));
        await writer(`refs/notes/kubelet-gitops/c-${n}`).annotate(new Map([[commits[0] ?? '', `by ${n}`]]), soon());
      }),
    );
    assert.deepEqual(new Map(await server.readNotes(REF)), new Map(commits.map((commit, n) => [commit, `by ${n}\n`])));
    for (let n = 0; n < 6; n += 1) {
      assert.deepEqual([...(await server.readNotes(`refs/notes/kubelet-gitops/c-${n}`))], [[commits[0], `by ${n}\n`]]);
    }
  });
});

/** False for a race that was lost; any other error stays one. */
function isRace(error: unknown): false {
  if (isGitError(error, 'GIT_PUSH_RACE')) return false;
  throw error;
}
