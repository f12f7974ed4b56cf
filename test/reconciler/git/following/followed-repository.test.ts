import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { it, type TestContext } from 'node:test';
import { systemClock } from '#shared/runtime/clock.ts';
import { createFollowedRepository, type FollowedRepository } from '#reconciler/git/following/followed-repository.ts';
import type { GitLimits } from '#reconciler/git/git-limits.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { signedNotesCommit } from '#reconciler/git/notes/signed-notes.ts';
import { readSigningKey } from '#reconciler/git/trust/signing-key.ts';
import { createAnnotator } from '#reconciler/git/notes/notes-annotator.ts';
import { addProofs } from '#reconciler/policy/following/payload-proofs.ts';
import { UNREADABLE } from '#reconciler/policy/following/choose-commit.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';
import { FOLDER, monorepo } from '../support/monorepo.ts';
import { failsWith, PATIENT, soon, start, type Started } from '../support/start.ts';
import { itOverHttp, wayTo } from '../support/transport.ts';

const REF = 'refs/notes/kubelet-gitops/staging';

interface World extends Started {
  readonly followed: FollowedRepository;
  /** That of one more cluster. */
  another(): FollowedRepository;
  /** What staging has proven, as it writes it down. */
  prove(...payloads: readonly string[]): Promise<void>;
  /** What staging writes on commits. */
  note(outcomes: Readonly<Record<string, string>>, more?: Readonly<Record<string, unknown>>): Promise<void>;
}

async function begin(t: TestContext, path = '', limits: Partial<GitLimits> = PATIENT): Promise<World> {
  const started = await start(t);
  const { server } = started;
  const remote = {
    ...wayTo(server.url, server.git.directory),
    credentials: fileCredentials(undefined),
    clock: systemClock,
    limits,
  };
  const annotator = createAnnotator({ ...remote, ref: REF, random: Math.random });
  return {
    ...started,
    followed: createFollowedRepository(remote, path),
    another: () => createFollowedRepository(remote, path),
    async prove(...payloads) {
      const proofs = payloads.map((payload) => ({ pool: 'general', class: '', payload }));
      await annotator.annotate(new Map(), soon(), { payloads: (before) => addProofs('staging', before, proofs) });
    },
    async note(outcomes, more = {}) {
      const noted = Object.entries(outcomes).map(([commit, outcome]) => {
        const said = { schema: 'kubelet-gitops.dev/note/v1', cluster: 'staging', commit, outcome, ...more };
        return [commit, { text: outcome, data: JSON.stringify(said) }] as const;
      });
      await annotator.annotate(new Map(noted), soon());
    },
  };
}

const saidOf = async (followed: FollowedRepository, commits: readonly string[]): Promise<ReadonlyMap<string, string>> =>
  (await followed.notes('staging', { commits, signers: [] }, soon())).said;

const files = (pods: number, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  'pools/general/kubelet.yaml': `maxPods: ${pods}\n`,
  'clusters/staging.yaml': 'kind: ClusterConfig\n',
  ...more,
});

describeOrSkip('the line of a branch', { skip: WITHOUT_GIT }, () => {
  it('has the commits after the one in force, the oldest first, and goes on from what is known', async (t) => {
    const { repository, followed, server } = await begin(t);
    const oids: string[] = [];
    for (let n = 0; n < 4; n += 1) oids.push(await repository.commitFiles(files(n)));
    const line = await followed.line(oids[0] ?? '', oids[3] ?? '', soon());
    assert.deepEqual(
      line.commits.map(({ oid }) => oid),
      oids.slice(1),
    );
    assert.equal(line.isRewritten, false);
    const requests = server.requests.length;
    const later = await followed.line(oids[2] ?? '', oids[3] ?? '', soon());
    assert.deepEqual([later.inForce.oid, later.commits.map(({ oid }) => oid)], [oids[2], [oids[3]]]);
    assert.equal(server.requests.length, requests, 'nothing was asked for');
    const news = await repository.commitFiles(files(9));
    const longer = await followed.line(oids[2] ?? '', news, soon());
    assert.deepEqual(
      longer.commits.map(({ oid }) => oid),
      [oids[3], news],
    );
    assert.deepEqual((await followed.line(news, news, soon())).commits, []);
  });

  it('names equal what clusters read the same, whatever lies beside it', async (t) => {
    const { repository, followed } = await begin(t);
    const first = await repository.commitFiles(files(1));
    const same = [
      await repository.commitFiles(files(1, { 'README.md': 'a\n', '.github/x.yaml': 'a: 1\n' })),
      await repository.commitFiles(files(1, { Makefile: 'all:\n' })),
    ];
    const others = [
      await repository.commitFiles(files(1, { 'shared/base.yaml': 'a: 1\n' })),
      await repository.commitFiles(files(1, { 'shared/base.yaml': 'a: 2\n' })),
      await repository.commitFiles(files(1, { 'base.json': '{}\n' })),
      await repository.commitFiles(files(2)),
    ];
    const { inForce, commits } = await followed.line(first, others.at(-1) ?? '', soon());
    const treeOf = new Map(commits.map(({ oid, tree }) => [oid, tree]));
    for (const oid of same) assert.equal(treeOf.get(oid), inForce.tree);
    assert.equal(new Set([inForce.tree, ...others.map((oid) => treeOf.get(oid))]).size, 1 + others.length);
  });

  it('names equal what one cluster reads the same, whatever else the others read', async (t) => {
    const { repository, followed } = await begin(t);
    const own = { 'clusters/production.yaml': 'kind: ClusterConfig\n', 'shared/base.yaml': 'a: 1\n' };
    const first = await repository.commitFiles(files(1, own));
    const same = [
      await repository.commitFiles(files(1, { ...own, 'clusters/staging.yaml': 'kind: ClusterConfig # strict\n' })),
      await repository.commitFiles(files(1, { ...own, 'docs/example.yaml': 'a: 1\n', 'note.json': '{}\n' })),
    ];
    const others = [
      await repository.commitFiles(files(2, own)),
      await repository.commitFiles(files(1, { ...own, 'base/a.yaml': 'a: 1\n' })),
      await repository.commitFiles(files(1, { ...own, 'shared/base.yaml': 'a: 2\n' })),
      await repository.commitFiles(files(1, { ...own, 'clusters/production.yaml': 'kind: ClusterConfig # strict\n' })),
      await repository.commitFiles(files(1, { 'shared/base.yaml': 'a: 1\n' })),
      await repository.commitFiles(files(1, { 'shared/base.yaml': 'a: 1\n', 'clusters/staging.yaml': 'a: 1\n' })),
    ];
    const tip = others.at(-1) ?? '';
    const namesFor = async (layersIn: readonly string[]) => {
      const { inForce, commits } = await followed.line(first, tip, soon(), { cluster: 'production', layersIn });
      return new Map([inForce, ...commits].map(({ oid, here }) => [oid, here]));
    };
    const names = await namesFor(['pools', 'shared']);
    for (const oid of same) assert.equal(names.get(oid), names.get(first));
    assert.equal(new Set([first, ...others].map((oid) => names.get(oid))).size, 1 + others.length);
    const wider = await namesFor(['extra', 'pools', 'shared']);
    assert.equal(wider.get(first), names.get(first), 'where layers of a later commit lie is not there yet');
    const narrower = await namesFor(['pools']);
    assert.notEqual(narrower.get(first), names.get(first), 'of other layers nothing is known');
    assert.equal((await followed.line(first, tip, soon())).inForce.here, undefined);
  });

  it('follows first parents, and begins above the merge that brought the commit in force', async (t) => {
    const { repository, followed } = await begin(t);
    const base = await repository.commitFiles(files(1));
    const side = await repository.commitFiles(files(2), { branch: 'side', parents: [base] });
    const main = await repository.commitFiles(files(3));
    const merge = await repository.commitFiles(files(4), { parents: [main, side] });
    const tip = await repository.commitFiles(files(5));
    const oids = async (from: string): Promise<readonly string[]> =>
      (await followed.line(from, tip, soon())).commits.map(({ oid }) => oid);
    assert.deepEqual(await oids(base), [main, merge, tip]);
    assert.deepEqual(await oids(side), [merge, tip], 'what is below the merge does not come from it');
  });

  it('holds the tip alone where the branch was rewritten', async (t) => {
    const { repository, followed } = await begin(t);
    const base = await repository.commitFiles(files(1));
    const gone = await repository.commitFiles(files(2));
    const other = await repository.commitFiles(files(3), { parents: [base] });
    for (const inForce of [gone, 'f'.repeat(40)]) {
      const { isRewritten, commits } = await followed.line(inForce, other, soon());
      assert.deepEqual([isRewritten, commits.map(({ oid }) => oid)], [true, [other]]);
    }
    assert.equal((await followed.line(gone, base, soon())).isRewritten, true, 'set back');
  });

  it('has of a folder the commits that changed it', async (t) => {
    const { repository, followed } = await begin(t, FOLDER);
    const { commit } = monorepo(repository, 100);
    const first = await commit(files(1), 1);
    await commit(files(1), 2);
    const change = await commit(files(2), 2);
    const tip = await commit(files(2), 3);
    assert.deepEqual(
      (await followed.line(first, tip, soon())).commits.map(({ oid }) => oid),
      [change],
    );
    const later = await commit(files(2), 4);
    const last = await commit(files(3), 4);
    assert.deepEqual(
      (await followed.line(first, later, soon())).commits.map(({ oid }) => oid),
      [change],
    );
    assert.deepEqual(
      (await followed.line(first, last, soon())).commits.map(({ oid }) => oid),
      [change, last],
    );
  });

  itOverHttp('of 4,800 commits is read in a few requests, and goes on with what came', async (t) => {
    const { repository, followed, server } = await begin(t);
    const trees: string[] = [];
    for (let n = 0; n < 10; n += 1)
      trees.push(
        await repository.tree([
          ['40000', 'base', await repository.tree([['100644', 'a', await repository.blob(`${n}`)]])],
        ]),
      );
    const oids: string[] = [];
    for (let n = 0; n <= 4_800; n += 1)
      oids.push(await repository.commit({ tree: trees[n % 10] ?? '', parents: oids.slice(-1) }));
    const tip = oids.at(-1) ?? '';
    await repository.setRef('refs/heads/main', tip);
    await server.git.attempt('repack', '-adq');
    server.wire();
    const line = await followed.line(oids[0] ?? '', tip, soon());
    const { up, down } = server.wire();
    t.diagnostic(`${up} bytes up, ${down} bytes down, ${server.requests.length} requests`);
    assert.deepEqual([line.commits.length, new Set(line.commits.map(({ tree }) => tree)).size], [4_800, 10]);
    assert.ok(up + down < 2 ** 21 && server.requests.length < 10);
    const next = await repository.commit({ tree: trees[1] ?? '', parents: [tip] });
    await repository.setRef('refs/heads/main', next);
    assert.equal((await followed.line(oids[0] ?? '', next, soon())).commits.length, 4_801);
    const more = server.wire();
    assert.ok(more.up + more.down < 8_192, `${more.up} + ${more.down} bytes`);
  });

  it('needs no history of others where the folder is as it was in a commit of long ago', async (t) => {
    const { repository, another } = await begin(t, FOLDER, { ...PATIENT, objects: 20 });
    const { commit } = monorepo(repository, 10);
    const first = await commit(files(1), 0);
    let tip = first;
    for (let n = 1; n <= 25; n += 1) tip = await commit(files(1), n);
    const followed = another();
    const { commits, isRewritten } = await followed.line(first, tip, soon());
    assert.deepEqual([commits, isRewritten], [[], false]);
    for (let n = 26; n <= 50; n += 1) tip = await commit(files(1), n);
    assert.deepEqual((await followed.line(first, tip, soon())).commits, [], 'nor what came since the last look');
    const change = await commit(files(2), 51);
    const next = await followed.line(first, change, soon());
    assert.deepEqual([next.commits.map(({ oid }) => oid), next.isRewritten], [[change], false], 'from what is known');
    const unknown = await another().line(first, change, soon());
    assert.deepEqual([unknown.commits.map(({ oid }) => oid), unknown.isRewritten], [[change], true], 'as elsewhere');
  });

  it('needs a server that hands out single objects, and says so', async (t) => {
    const { repository, followed, server } = await begin(t);
    const oid = await repository.commitFiles(files(1));
    await server.git.attempt('config', 'uploadpack.allowFilter', 'false');
    await assert.rejects(followed.line(oid, oid, soon()), failsWith('GIT_REFUSED', /allowFilter/));
  });
});

describeOrSkip('what a followed cluster has proven', { skip: WITHOUT_GIT }, () => {
  const payloadsOf = async (followed: FollowedRepository, commits: readonly string[] = []) =>
    (await followed.notes('staging', { commits, signers: [] }, soon())).payloads;

  it('lies beside its notes, grows, and is none where it cannot be read', async (t) => {
    const { repository, followed, note, prove, server } = await begin(t);
    const oid = await repository.commitFiles(files(1));
    await note({ [oid]: 'settled' });
    assert.equal(await payloadsOf(followed), null);
    await prove('a');
    await prove('b');
    assert.deepEqual(
      (await payloadsOf(followed))?.proofs.map(({ payload }) => payload),
      ['a', 'b'],
    );
    assert.equal((await saidOf(followed, [oid])).get(oid), 'settled');
    await note({ [oid]: 'halted' });
    assert.equal((await payloadsOf(followed))?.isWhole, true, 'a note leaves it as it is');
    assert.match(await server.git('log', '--notes=kubelet-gitops/*', '-1', oid), /halted$/);
    const { blob, tree, commit, setRef } = repository;
    const put = async (content: string): Promise<void> =>
      setRef(REF, await commit({ tree: await tree([['100644', 'payloads.json', await blob(content)]]) }));
    for (const wrong of ['{}', 'x'.repeat(300_000)]) {
      await put(wrong);
      assert.equal(await payloadsOf(followed), null);
    }
    await put(addProofs('staging', null, [{ pool: 'general', class: '', payload: 'c' }]));
    assert.equal((await payloadsOf(followed))?.proofs[0]?.payload, 'c');
    await prove('d');
    assert.equal((await payloadsOf(followed))?.proofs.length, 2);
  });

  itOverHttp('costs one request of less than a kilobyte while nothing is new', async (t) => {
    const { repository, followed, note, prove, server } = await begin(t);
    const oid = await repository.commitFiles(files(1));
    await note({ [oid]: 'settled' });
    await prove(...Array.from({ length: 500 }, (_, n) => `overlay ${n}`));
    await payloadsOf(followed, [oid]);
    const before = server.requests.length;
    server.wire();
    assert.equal((await payloadsOf(followed, [oid]))?.proofs.length, 500);
    const { up, down } = server.wire();
    assert.equal(server.requests.length - before, 1);
    assert.ok(up + down < 1024, `${up} + ${down} bytes`);
  });
});

describeOrSkip('notes of a followed cluster', { skip: WITHOUT_GIT }, () => {
  it('are what it says of commits, and change with what it says', async (t) => {
    const { repository, followed, note, server } = await begin(t);
    const [a, b, c] = [1, 2, 3].map((n) => repository.commitFiles(files(n)));
    const oids = await Promise.all([a, b, c].map(async (oid) => (await oid) ?? ''));
    const read = (): Promise<ReadonlyMap<string, string>> => saidOf(followed, oids);
    assert.deepEqual([...(await read())], [], 'no ref');
    const [first = '', second = ''] = oids;
    await note({ [first]: 'settled', [second]: 'progressing' });
    assert.deepEqual(
      [...(await read())],
      [
        [first, 'settled'],
        [second, 'progressing'],
      ],
    );
    await note({ [second]: 'halted' });
    assert.equal((await read()).get(second), 'halted');
    await server.git.attempt('update-ref', '-d', REF);
    assert.deepEqual([...(await read())], [], 'the ref is gone');
  });

  itOverHttp('cost one request of less than a kilobyte while nothing is new', async (t) => {
    const { repository, followed, note, server } = await begin(t);
    const oid = await repository.commitFiles(files(1));
    await note({ [oid]: 'settled' });
    await saidOf(followed, [oid]);
    const before = server.requests.length;
    server.wire();
    assert.equal((await saidOf(followed, [oid])).get(oid), 'settled');
    const { up, down } = server.wire();
    t.diagnostic(`${up} bytes up, ${down} bytes down`);
    assert.equal(server.requests.length - before, 1);
    assert.ok(up + down < 1024, `${up} + ${down} bytes`);
  });

  itOverHttp(
    'cost fifty clusters that follow one a request of less than a kilobyte each, and little more for news',
    async (t) => {
      const { repository, note, server, another } = await begin(t);
      const fifty = Array.from({ length: 50 }, another);
      const [first, second] = [await repository.commitFiles(files(1)), await repository.commitFiles(files(2))];
      await note({ [first]: 'settled' });
      const poll = async (): Promise<readonly (string | undefined)[]> => {
        const all = await Promise.all(
          fifty.map(async (each) => {
            await each.line(first, second, soon(), { cluster: 'production', layersIn: ['pools'] });
            const question = { commits: [first, second], signers: [] };
            return (await each.notes('staging', question, soon())).said.get(second);
          }),
        );
        return [...new Set(all)];
      };
      const cost = async () => {
        const before = server.requests.length;
        server.wire();
        const said = await poll();
        const { up, down } = server.wire();
        return { said, requests: (server.requests.length - before) / 50, bytes: (up + down) / 50 };
      };
      await poll();
      const idle = await cost();
      assert.deepEqual([idle.said, idle.requests], [[undefined], 1]);
      assert.ok(idle.bytes < 1_024, `${idle.bytes} bytes`);
      await note({ [second]: 'settled' });
      const news = await cost();
      t.diagnostic(
        `each: ${idle.bytes} bytes while nothing is new, ${news.bytes} in ${news.requests} requests for news`,
      );
      assert.deepEqual(news.said, ['settled']);
      assert.ok(news.requests <= 6 && news.bytes < 8_192, `${news.requests} requests, ${news.bytes} bytes`);
    },
  );

  it('say again what was said before, after the ref was pushed again or made anew', async (t) => {
    const { repository, followed, note, server } = await begin(t);
    const oid = await repository.commitFiles(files(1));
    const read = async (): Promise<string | undefined> => (await saidOf(followed, [oid])).get(oid);
    await note({ [oid]: 'settled' });
    assert.equal(await read(), 'settled');
    const [settled] = (await server.git.attempt('rev-parse', REF)).out.split('\n');
    await note({ [oid]: 'halted' });
    assert.equal(await read(), 'halted');
    // Who may push the ref may set it back: then the time starts again.
    await server.git.attempt('update-ref', REF, settled ?? '');
    assert.equal(await read(), 'settled');
    await server.git.attempt('update-ref', '-d', REF);
    assert.equal(await read(), undefined);
    await repository.setRef(REF, await repository.commit({ tree: await repository.tree([]) }));
    assert.equal(await read(), undefined);
  });

  it('count only as of this cluster on this commit', async (t) => {
    const { repository, followed, note } = await begin(t);
    const oid = await repository.commitFiles(files(1));
    for (const wrong of [{ cluster: 'other' }, { commit: 'f'.repeat(40) }, { schema: 'x' }, { outcome: 7 }]) {
      await note({ [oid]: 'settled' }, wrong);
      assert.notEqual((await saidOf(followed, [oid])).get(oid), 'settled', JSON.stringify(wrong));
    }
  });

  it('count with a key named for it only as it signed them', async (t) => {
    const { repository, followed, note, server } = await begin(t);
    const [key, other] = [1, 2].map(() =>
      readSigningKey(String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }))),
    );
    assert.ok(key !== undefined && other !== undefined);
    const oid = await repository.commitFiles(files(1));
    const read = (...signers: readonly string[]) => followed.notes('staging', { commits: [oid], signers }, soon());
    assert.match((await read(key.publicLine)).distrusted ?? '', /^do not exist/);
    await note({ [oid]: 'settled' });
    const unsigned = await read(key.publicLine);
    assert.deepEqual([unsigned.said.size, unsigned.payloads, unsigned.signed], [0, null, null]);
    assert.match(unsigned.distrusted ?? '', /^are not signed\. /);
    const tree = await server.git('rev-parse', `${REF}^{tree}`);
    const author = { name: 'staging', email: 's@example.com' };
    const commitOf = async (cluster: string): Promise<string> => {
      const bytes = signedNotesCommit({ tree: tree.trim(), parent: null, author, seconds: 1, cluster, serial: 7 }, key);
      return (await server.git.feed(String(bytes), 'hash-object', '-t', 'commit', '-w', '--stdin')).out.trim();
    };
    const own = await commitOf('staging');
    await repository.setRef(REF, own);
    assert.deepEqual((await read(key.publicLine)).signed, { serial: 7, tip: own, key: key.publicLine });
    assert.equal((await read(other.publicLine, key.publicLine)).said.get(oid), 'settled');
    assert.match((await read(other.publicLine)).distrusted ?? '', /not named for it/);
    await repository.setRef(REF, await commitOf('canary'));
    assert.match((await read(key.publicLine)).distrusted ?? '', /^are those of canary/);
  });

  it('in a folder that cannot be read are not known, and the others are', async (t) => {
    const { repository, followed } = await begin(t);
    const oid = await repository.commitFiles(files(1));
    const { blob, tree, commit, setRef } = repository;
    const other = `${oid.startsWith('00') ? '11' : '00'}${'1'.repeat(38)}`;
    const said = { schema: 'kubelet-gitops.dev/note/v1', cluster: 'staging', commit: other, outcome: 'settled' };
    const file = ['100644', `${other.slice(2)}.json`, await blob(JSON.stringify(said))] as const;
    const whole = ['40000', other.slice(0, 2), await tree([file])] as const;
    const broken = ['40000', oid.slice(0, 2), await blob('a file\n')] as const;
    const before = await commit({ tree: await tree([broken]) });
    const both = [whole, broken].toSorted(([, one], [, two]) => (one < two ? -1 : 1));
    await setRef(REF, await commit({ tree: await tree(both), parents: [before] }));
    const seen = await saidOf(followed, [oid, other]);
    assert.deepEqual([seen.get(oid), seen.get(other)], [UNREADABLE, 'settled']);
  });
});
