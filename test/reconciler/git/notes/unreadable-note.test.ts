import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { GitErrorCode } from '#reconciler/git/errors.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';
import type { RawEntry, RawRepository } from '../support/repository.ts';
import { failsWith, soon } from '../support/start.ts';
import { itOverHttp } from '../support/transport.ts';
import { REF, startWithNotes, type WithNotes } from '../support/with-notes.ts';

const HUGE = 'x'.repeat(2 << 20);
const OTHERS_NOTE = 'f'.repeat(38);

/** A ref of two commits, of which the first brought the folder that one note lies in. */
interface Prepared extends WithNotes {
  /** The commit whose note lies in the folder. */
  readonly held: string;
  readonly free: string;
  /** Takes the folder's tree, or whatever stands there, out of the server's repository. */
  lose(): void;
  /** Puts a whole folder in its place, as a person would. */
  repair(): Promise<void>;
}

type Folder = (repository: RawRepository, note: RawEntry) => Promise<string>;

async function prepare(t: TestContext, folder: Folder): Promise<Prepared> {
  const started = await startWithNotes(t, 6);
  const { repository, server } = started;
  const [held = ''] = started.commits;
  const name = held.slice(0, 2);
  const free = started.commits.find((commit) => !commit.startsWith(name)) ?? '';
  const note: RawEntry = ['100644', held.slice(2), await repository.blob('old\n')];
  const bad = await folder(repository, note);
  const before = await repository.commit({ tree: await repository.tree([['40000', name, bad]]) });
  const readme: RawEntry = ['100644', 'readme', await repository.blob('of others\n')];
  const both = [['40000', name, bad] as const, readme].toSorted(([, one], [, other]) => (one < other ? -1 : 1));
  await repository.setRef(REF, await repository.commit({ tree: await repository.tree(both), parents: [before] }));
  return {
    ...started,
    held,
    free,
    lose: () => rmSync(join(server.git.directory, 'objects', bad.slice(0, 2), bad.slice(2))),
    async repair() {
      const whole = await repository.tree([['40000', name, await repository.tree([note])]]);
      await repository.setRef(REF, await repository.commit({ tree: whole }));
    },
  };
}

const FOLDERS: readonly (readonly [what: string, code: GitErrorCode, folder: Folder, isLost?: boolean])[] = [
  ['is a file', 'GIT_DAMAGED', (repository) => repository.blob('I am a file\n')],
  ['is a file that is larger than any that is read', 'GIT_TOO_BIG', (repository) => repository.blob(HUGE)],
  [
    'has more in it than is read',
    'GIT_TOO_BIG',
    async ({ tree, blob }) => {
      const other = await blob('of others\n');
      return tree(Array.from({ length: 30_000 }, (_, n) => ['100644', String(n).padStart(38, '0'), other] as const));
    },
  ],
  ['is lost on the server', 'GIT_REMOTE_ERROR', ({ tree }, note) => tree([note]), true],
];

describeOrSkip('a folder of the notes ref that cannot be read', { skip: WITHOUT_GIT }, () => {
  for (const [what, code, folder, isLost = false] of FOLDERS) {
    it(`because it ${what} holds up the notes in it until it is repaired, and no other`, async (t) => {
      const started = await prepare(t, folder);
      if (isLost) started.lose();
      const { held, free } = started;
      const annotator = started.annotator();
      const notes = (text: string): ReadonlyMap<string, string> => new Map([held, free].map((oid) => [oid, text]));
      for (const text of ['one', 'two']) {
        const { written, unreadable } = await annotator.annotate(notes(text), soon());
        assert.equal(written, true);
        assert.deepEqual([...unreadable.keys()], [held]);
        assert.equal(unreadable.get(held)?.code, code);
        assert.match(unreadable.get(held)?.message ?? '', new RegExp(`^the folder ${held.slice(0, 2)}/ .*${held}`));
        assert.equal(await started.note(free), `${text}\n`);
      }
      const before = await started.server.git('rev-parse', REF);
      const alone = await annotator.annotate(new Map([[held, 'two']]), soon());
      assert.deepEqual([alone.written, [...alone.unreadable.keys()]], [false, [held]]);
      assert.equal(await started.server.git('rev-parse', REF), before, 'nothing is pushed for it');
      assert.equal(await started.server.git('show', `${REF}:readme`), 'of others');
      await started.repair();
      // Nothing but this one is written, so that no push could tell that the ref has moved.
      assert.deepEqual((await annotator.annotate(new Map([[held, 'three']]), soon())).unreadable, new Map());
      assert.equal(await started.note(held), 'three\n');
    });
  }

  itOverHttp('because the server fails for everything is not blamed on the folder', async (t) => {
    const started = await prepare(t, ({ tree }, note) => tree([note]));
    for (const fault of [{ status: 500, body: 'out of order' }, 'clean-cut'] as const) {
      const annotator = started.annotator();
      await annotator.annotate(new Map([[started.free, JSON.stringify(fault)]]), soon());
      started.server.fault = (kind) => (kind === 'refs' ? fault : null);
      const annotated = annotator.annotate(new Map([[started.held, 'two']]), soon());
      await assert.rejects(annotated, failsWith(fault === 'clean-cut' ? 'GIT_CUT' : 'GIT_SERVER_ERROR'));
      started.server.fault = () => null;
    }
  });
});

describeOrSkip('a note of others that cannot be read', { skip: WITHOUT_GIT }, () => {
  const kinds: readonly (readonly [string, (repository: RawRepository) => Promise<string>])[] = [
    ['it is larger than a file of a config repository may be', ({ blob }) => blob(HUGE)],
    ['it is a folder by its name alone', ({ tree }) => tree([])],
    ['it is a text of bytes that mean nothing', ({ blob }) => blob(Buffer.from([0, 255, 254, 0]))],
  ];
  for (const handsOut of [true, false]) {
    for (const [what, other] of kinds) {
      const server = handsOut ? 'single objects' : 'all notes';
      it(`because ${what} holds up no note beside it, from a server that hands out ${server}`, async (t) => {
        const started = await prepare(t, async (repository, note) =>
          repository.tree([note, ['100644', OTHERS_NOTE, await other(repository)]]),
        );
        await started.server.git('config', 'uploadpack.allowFilter', String(handsOut));
        const { held } = started;
        const path = `${REF}:${held.slice(0, 2)}/${OTHERS_NOTE}`;
        const theirs = await started.server.git('rev-parse', path);
        const { unreadable } = await started.annotator().annotate(new Map([[held, 'new']]), soon());
        assert.deepEqual([unreadable.size, await started.note(held)], [0, 'new\n']);
        assert.equal(await started.server.git('rev-parse', path), theirs);
      });
    }
  }

  it('because the server lost it holds up no note beside it', async (t) => {
    const started = await prepare(t, async ({ tree, blob }, note) =>
      tree([note, ['100644', OTHERS_NOTE, await blob('of others, and lost\n')]]),
    );
    const { held, server } = started;
    const lost = await server.git('rev-parse', `${REF}:${held.slice(0, 2)}/${OTHERS_NOTE}`);
    rmSync(join(server.git.directory, 'objects', lost.slice(0, 2), lost.slice(2)));
    assert.equal((await started.annotator().annotate(new Map([[held, 'new']]), soon())).unreadable.size, 0);
    assert.equal(await started.note(held), 'new\n');
  });
});
