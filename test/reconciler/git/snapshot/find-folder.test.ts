import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createBranch } from '#reconciler/branch.ts';
import type { CommitTrust } from '#reconciler/git/trust/commit-trust.ts';
import { createRemote } from '#reconciler/git/create-remote.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { findFolder, type FoundFolder, type CachedFolder } from '#reconciler/git/snapshot/find-folder.ts';
import { findTip } from '#reconciler/git/wire/find-tip.ts';
import { readPackets } from '#reconciler/git/wire/pkt-line.ts';
import { readSideBand } from '#reconciler/git/wire/side-band.ts';
import type { GitSession } from '#reconciler/git/wire/git-session.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';
import { FOLDER, monorepo } from '../support/monorepo.ts';
import { failsWith, PATIENT, soon, start, type Started } from '../support/start.ts';
import { wayTo } from '../support/transport.ts';
import { columns } from '../../../support/columns.ts';

const POOL = { 'pools/a/pool.yaml': 'a: 1\n', 'pools/a/kubelet.yaml': 'b: 1\n', 'base/all.yaml': 'c: 1\n' };
const CHANGED = { ...POOL, 'base/all.yaml': 'c: 2\n' };
/** Below the folder: itself, `base`, `pools`, `pools/a`, and three files. */
const BELOW = 7;

/** Objects that came, and requests for them, in one look for the folder. */
async function fetched(
  { server }: Started,
  question: { readonly since?: string; readonly held?: CachedFolder } = {},
): Promise<{ readonly found: FoundFolder; readonly objects: number; readonly requests: number }> {
  const way = wayTo(server.url, server.git.directory);
  const remote = createRemote({ ...way, credentials: fileCredentials(undefined), clock: systemClock, limits: PATIENT });
  const came = { objects: 0, requests: 0 };
  const found = await remote.within(soon(), async (session) => {
    const tip = await findTip(session, 'refs/heads/main');
    assert.ok(tip !== null);
    const { since = null, held = null } = question;
    return findFolder({ session: counted(session, came), tip, since, folder: FOLDER, held });
  });
  return { found, ...came };
}

function counted(session: GitSession, came: { objects: number; requests: number }): GitSession {
  return {
    ...session,
    async post(service, body, options) {
      const answer = await session.post(service, body, { ...options, take: undefined });
      const packets = readPackets(answer);
      const heading = packets.findIndex(
        (packet) => packet.kind === 'line' && String(packet.payload).startsWith('packfile'),
      );
      const { payload } = readSideBand(packets.slice(heading + 1), session.clean);
      assert.equal(payload.toString('latin1', 0, 4), 'PACK');
      came.objects += payload.readUInt32BE(8);
      came.requests += 1;
      return answer;
    },
  };
}

const setUp = async (t: TestContext, files = 0) => {
  const started = await start(t);
  return { ...started, started, mono: monorepo(started.repository, files) };
};

describeOrSkip('a folder of a monorepo', { skip: WITHOUT_GIT }, () => {
  it('costs the same whatever else the repository holds, object by object', async (t) => {
    const costs = [];
    for (const files of [50, 2_000]) {
      const { started, mono } = await setUp(t, files);
      await mono.commit(POOL);
      const first = await fetched(started);
      const tip = await mono.commit(CHANGED);
      const change = await fetched(started);
      const elsewhere = await mono.commit(CHANGED, 1);
      const { found } = change;
      assert.ok(found.news);
      assert.equal(found.commit.oid, tip);
      const held = { tree: found.tree, commit: found.commit, files: new Map(), findings: [] };
      const idle = await fetched(started, { since: tip, held });
      assert.ok(elsewhere !== tip && !idle.found.news);
      costs.push([first, change, idle].map(({ objects, requests }) => ({ objects, requests })));
    }
    const [few, many] = costs;
    assert.deepEqual(many, few);
    assert.deepEqual(few, [
      // The commit; the root and `infra`; the commit again, which has no parent; the folder; what is below it.
      { objects: 1 + 2 + 1 + BELOW, requests: 6 },
      // Both commits besides, and the parent's root and `infra`.
      { objects: 1 + 2 + 2 + 2 + BELOW, requests: 8 },
      // Somebody else's commit: itself and the two trees on the way, in three small requests.
      { objects: 1 + 2, requests: 3 },
    ]);
  });

  it('is read as a repository of its own would be, with paths that people find', async (t) => {
    const { source, mono } = await setUp(t, 100);
    const oid = await mono.commit({ ...POOL, 'pools/a/picture.png': Buffer.alloc(300 * 1024), 'README.txt': 'x' });
    const { commit, files, findings } = await source({ path: FOLDER }).snapshot(null, soon());
    assert.equal(commit.oid, oid);
    assert.deepEqual([...files.keys()].sort(), Object.keys(POOL).sort());
    for (const [path, file] of files) assert.equal(file.path, `${FOLDER}/${path}`);
    assert.deepEqual(columns(findings, 'code', 'file'), [['file-too-big', `${FOLDER}/pools/a/picture.png`]]);
  });

  it('is of the commit that changed it, not of those that came after', async (t) => {
    const { source, mono } = await setUp(t);
    await mono.commit(POOL);
    const changed = await mono.commit(CHANGED, 1);
    let tip = changed;
    for (let work = 2; work < 20; work += 1) tip = await mono.commit(CHANGED, work);
    const snapshot = await source({ path: FOLDER }).snapshot(null, soon());
    assert.equal(snapshot.commit.oid, changed);
    assert.equal(snapshot.tip, tip);
    assert.equal(snapshot.lineage, 'first');
  });

  it('is of a commit of long ago, and of the tip where nobody changed it for longer than is looked', async (t) => {
    const { source, mono } = await setUp(t);
    const first = await mono.commit(POOL);
    let tip = first;
    for (let work = 1; work < 40; work += 1) tip = await mono.commit(POOL, work);
    assert.equal((await source({ path: FOLDER }).snapshot(null, soon())).commit.oid, first);
    for (const limits of [{ generations: 39 }, { objects: 30 }]) {
      assert.equal((await source({ path: FOLDER, limits }).snapshot(null, soon())).commit.oid, tip);
    }
    assert.equal(
      (await source({ path: FOLDER, limits: { generations: 40 } }).snapshot(null, soon())).commit.oid,
      first,
    );
  });

  it('is still of the commit in force, before and after a restart, while others work elsewhere', async (t) => {
    const { source, mono } = await setUp(t);
    const inForce = await mono.commit(POOL);
    const running = source({ path: FOLDER });
    await running.snapshot(null, soon());
    for (let work = 1; work < 40; work += 1) {
      const tip = await mono.commit(POOL, work);
      if (work % 13 !== 0) continue;
      for (const git of [running, source({ path: FOLDER })]) {
        const snapshot = await git.snapshot(inForce, soon());
        assert.deepEqual([snapshot.commit.oid, snapshot.tip, snapshot.lineage], [inForce, tip, 'same']);
        assert.equal(snapshot.files.size, 3);
      }
    }
  });

  it('is of the commit that brought it back where a change was undone', async (t) => {
    const { source, mono } = await setUp(t);
    const first = await mono.commit(POOL);
    const changed = await mono.commit(CHANGED);
    const undone = await mono.commit(POOL);
    await mono.commit(POOL, 1);
    const snapshot = await source({ path: FOLDER }).snapshot(changed, soon());
    assert.deepEqual([snapshot.commit.oid, snapshot.lineage], [undone, 'descendant']);
    const untouched = await source({ path: FOLDER }).snapshot(first, soon());
    assert.deepEqual([untouched.commit.oid, untouched.lineage], [first, 'same']);
  });

  it('is of the merge where the line that made it does not follow the commit in force', async (t) => {
    const { source, mono } = await setUp(t);
    const root = await mono.commit(POOL);
    const old = await mono.commit(CHANGED, 1, { parents: [root] });
    const inForce = await mono.commit({ ...POOL, 'base/all.yaml': 'c: 3\n' }, 1, { parents: [old] });
    // Somebody merges the other way round, so that the first parents lead to an older state of the folder.
    const merge = await mono.commit(CHANGED, 2, { parents: [old, inForce] });
    const snapshot = await source({ path: FOLDER }).snapshot(inForce, soon());
    assert.deepEqual([snapshot.commit.oid, snapshot.lineage], [merge, 'descendant']);
  });

  it('is rewritten where the commit in force is no ancestor, and where the server has lost it', async (t) => {
    const { source, mono } = await setUp(t);
    const root = await mono.commit(POOL);
    const inForce = await mono.commit(CHANGED);
    const other = await mono.commit({ ...POOL, 'base/all.yaml': 'c: 3\n' }, 0, { parents: [root] });
    for (const since of [inForce, 'f'.repeat(40)]) {
      const snapshot = await source({ path: FOLDER }).snapshot(since, soon());
      assert.deepEqual([snapshot.commit.oid, snapshot.lineage], [other, 'rewritten']);
    }
  });

  it('makes a branch look the same for as long as nobody changes it, and each poll cheap', async (t) => {
    const { server, source, mono } = await setUp(t, 2_000);
    const branch = createBranch(source({ path: FOLDER }), systemClock, silentLog);
    const first = await mono.commit(POOL);
    await branch.poll(null, soon());
    const { tip } = branch.view();
    assert.equal(tip?.commit.oid, first);
    for (let work = 1; work < 4; work += 1) {
      const elsewhere = await mono.commit(POOL, work);
      server.wire();
      await branch.poll(first, soon());
      assert.equal(branch.view().tip, tip);
      assert.ok(server.wire().down < 4 * 1024);
      for (let polls = 0; polls < 3; polls += 1) {
        const before = server.requests.length;
        await branch.poll(first, soon());
        assert.equal(server.requests.length - before, 1, 'the same tip is not looked into again');
        assert.equal(branch.view().readAt, elsewhere);
      }
    }
    const changed = await mono.commit(CHANGED, 4);
    await branch.poll(first, soon());
    assert.equal(branch.view().tip?.commit.oid, changed);
    assert.equal(branch.view().tip?.lineage, 'descendant');
  });
});

describeOrSkip('the signature that counts for a folder', { skip: WITHOUT_GIT }, () => {
  const OTHER = { ...POOL, 'base/all.yaml': 'c: 3\n' };

  /** A branch on which the commits of `signed` are, and what a look at it says: the commit that counts, and of its signature. */
  async function trusting(t: TestContext, generations = 20) {
    const { server, source, mono } = await setUp(t);
    const signed = new Set<string>();
    const trust: CommitTrust = {
      judge: ({ oid }) =>
        Promise.resolve(signed.has(oid) ? { verdict: 'trusted', signer: 'ada', key: 'k' } : { verdict: 'unsigned' }),
      isInForce: () => undefined,
    };
    const look = async (since: string | null) => {
      const git = source({ path: FOLDER, limits: { generations } });
      const branch = createBranch(git, systemClock, silentLog, trust);
      await branch.poll(since, soon());
      const { tip } = branch.view();
      assert.ok(tip !== null);
      return { commit: tip.commit.oid, verdict: tip.signature.verdict, lineage: tip.lineage };
    };
    const commit = async (by: 'signed' | 'unsigned', ...rest: Parameters<typeof mono.commit>): Promise<string> => {
      const oid = await mono.commit(...rest);
      if (by === 'signed') signed.add(oid);
      return oid;
    };
    return { server, look, commit };
  }

  it('is that of the commit that changed it, whoever works elsewhere on top of it', async (t) => {
    const { look, commit } = await trusting(t);
    const inForce = await commit('signed', POOL);
    const good = await commit('signed', CHANGED);
    await commit('unsigned', CHANGED, 1);
    assert.deepEqual(await look(inForce), { commit: good, verdict: 'trusted', lineage: 'descendant' });
    assert.deepEqual(await look(good), { commit: good, verdict: 'trusted', lineage: 'same' });
    const bad = await commit('unsigned', OTHER, 2);
    await commit('signed', OTHER, 3);
    assert.deepEqual(await look(good), { commit: bad, verdict: 'unsigned', lineage: 'descendant' });
    assert.deepEqual(await look(null), { commit: bad, verdict: 'unsigned', lineage: 'first' });
  });

  it('is that of the merge, whoever made what is merged', async (t) => {
    const { look, commit } = await trusting(t);
    const inForce = await commit('signed', POOL);
    for (const [change, merge] of [
      ['unsigned', 'signed'],
      ['signed', 'unsigned'],
    ] as const) {
      const side = await commit(change, CHANGED, 1, { parents: [inForce] });
      const merged = await commit(merge, CHANGED, 2, { parents: [inForce, side] });
      await commit('unsigned', CHANGED, 3);
      const verdict = merge === 'signed' ? 'trusted' : 'unsigned';
      assert.deepEqual(await look(inForce), { commit: merged, verdict, lineage: 'descendant' });
    }
  });

  it('is that of the merge where its first parents lead past the commit in force, not that of work on top', async (t) => {
    const { look, commit } = await trusting(t);
    const root = await commit('signed', POOL);
    const side = await commit('unsigned', CHANGED, 1, { parents: [root] });
    const inForce = await commit('signed', OTHER, 1, { parents: [root] });
    const merged = await commit('unsigned', CHANGED, 2, { parents: [side, inForce] });
    for (let work = 3; work < 6; work += 1) await commit('signed', CHANGED, work);
    assert.deepEqual(await look(inForce), { commit: merged, verdict: 'unsigned', lineage: 'descendant' });
  });

  it('is that of the commit that made it where the branch was rewritten', async (t) => {
    const { look, commit } = await trusting(t);
    const root = await commit('signed', POOL);
    const inForce = await commit('signed', CHANGED);
    const other = await commit('unsigned', OTHER, 0, { parents: [root] });
    await commit('signed', OTHER, 1);
    assert.deepEqual(await look(inForce), { commit: other, verdict: 'unsigned', lineage: 'rewritten' });
  });

  it('is nobody’s where that commit is buried deeper than is looked, until somebody who is trusted changes it', async (t) => {
    const { look, commit } = await trusting(t);
    const inForce = await commit('signed', POOL);
    await commit('unsigned', CHANGED);
    for (let work = 1; work < 25; work += 1) await commit('unsigned', CHANGED, work);
    const tip = await commit('signed', CHANGED, 25);
    for (const since of [inForce, null]) {
      const { commit: counts, verdict } = await look(since);
      assert.deepEqual([counts, verdict], [tip, 'untrusted']);
    }
    const good = await commit('signed', OTHER, 25);
    assert.deepEqual(await look(inForce), { commit: good, verdict: 'trusted', lineage: 'descendant' });
  });

  it('is that of the tip where the server leaves nothing out', async (t) => {
    const { server, look, commit } = await trusting(t);
    await server.git('config', 'uploadpack.allowFilter', 'false');
    const inForce = await commit('signed', POOL);
    await commit('signed', CHANGED);
    const tip = await commit('unsigned', CHANGED, 1);
    assert.deepEqual(await look(inForce), { commit: tip, verdict: 'unsigned', lineage: 'descendant' });
  });
});

describeOrSkip('a folder that is not there', { skip: WITHOUT_GIT }, () => {
  it('is told with its name, and looked for again in another commit', async (t) => {
    const { server, source, mono } = await setUp(t);
    const branch = createBranch(source({ path: FOLDER }), systemClock, silentLog);
    await mono.commit(null);
    for (let poll = 0; poll < 2; poll += 1) {
      const before = server.requests.length;
      await branch.poll(null, soon());
      assert.equal(branch.view().failure?.code, 'GIT_PATH_MISSING');
      assert.match(branch.view().failure?.message ?? '', /there is no folder infra\/kubelet in the commit .* GIT_PATH/);
      if (poll > 0) assert.equal(server.requests.length - before, 1);
    }
    const oid = await mono.commit(POOL);
    await branch.poll(null, soon());
    assert.equal(branch.view().tip?.commit.oid, oid);
    const toFile = source({ path: `${FOLDER}/base/all.yaml` });
    await assert.rejects(
      toFile.snapshot(null, soon()),
      failsWith('GIT_PATH_MISSING', /no folder infra\/kubelet\/base/),
    );
  });

  for (const [path, why] of [
    ['/infra', /begins with a slash/],
    ['infra/', /ends with a slash/],
    ['infra//kubelet', /empty part/],
    ['infra/../kubelet', /"\.\."/],
    ['..', /"\.\."/],
    ['./infra', /part "\."/],
    ['infra\\kubelet', /backslash/],
    ['infra/.git/x', /\.git/],
    ['infra\u202e', /cannot be seen/],
    ['x'.repeat(251), /longer than 250/],
  ] as const) {
    it(`is refused at once: ${JSON.stringify(path.slice(0, 30))}`, async (t) => {
      const { source } = await setUp(t);
      assert.throws(() => source({ path }), failsWith('GIT_PATH_INVALID', why));
    });
  }
});

describeOrSkip('a folder on a server that leaves nothing out', { skip: WITHOUT_GIT }, () => {
  const whole = async (t: TestContext, files: number) => {
    const set = await setUp(t, files);
    await set.server.git('config', 'uploadpack.allowFilter', 'false');
    return set;
  };

  it('is read out of the whole commit', async (t) => {
    const { source, mono } = await whole(t, 200);
    const first = await mono.commit(POOL);
    const git = source({ path: FOLDER });
    assert.equal((await git.snapshot(null, soon())).files.size, 3);
    await mono.commit(POOL, 1);
    assert.equal((await git.snapshot(first, soon())).commit.oid, first);
    const changed = await mono.commit(CHANGED, 2);
    const { commit, lineage } = await git.snapshot(first, soon());
    assert.deepEqual([commit.oid, lineage], [changed, 'descendant']);
  });

  it('has the limits of a whole repository, and says so', async (t) => {
    const { source, mono } = await whole(t, 200);
    await mono.commit(POOL);
    const limits = { objects: 100 };
    await assert.rejects(
      source({ path: FOLDER, limits }).snapshot(null, soon()),
      failsWith(
        'GIT_TOO_BIG',
        /100 are read.*cannot leave out what lies beside infra\/kubelet.*uploadpack\.allowFilter/,
      ),
    );
  });

  it('needs none of them where objects are left out', async (t) => {
    const { source, mono } = await setUp(t, 200);
    await mono.commit(POOL);
    const limits = { objects: 20, treeEntries: 10, inflatedBytes: 5_000 };
    assert.equal((await source({ path: FOLDER, limits }).snapshot(null, soon())).files.size, 3);
  });
});
