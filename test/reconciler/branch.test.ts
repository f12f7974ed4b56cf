import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GitopsError } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { GitError } from '#reconciler/git/errors.ts';
import type { GitSource } from '#reconciler/git/source-port.ts';
import type { CommitOid, Snapshot } from '#reconciler/policy/commit-snapshot.ts';
import { createBranch } from '#reconciler/branch.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../support/required-tools.ts';
import { manyPools, soon, start } from './git/support/start.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const never = new AbortController().signal;

/** A repository whose branch tip the test moves, and which counts how often it is read whole. */
function setUp(): {
  readonly branch: ReturnType<typeof createBranch>;
  readonly reads: { readonly oid: CommitOid; readonly since: CommitOid | null }[];
  /** What was read by its name. */
  readonly named: readonly CommitOid[];
  tip: CommitOid;
  fault: Error | null;
  /** Where the tip can be asked for, and the commit cannot be read. */
  readFault: Error | null;
  readonly skip: (ms: number) => void;
} {
  const reads: { oid: CommitOid; since: CommitOid | null }[] = [];
  const named: CommitOid[] = [];
  const at = { tip: A, fault: null as Error | null, readFault: null as Error | null };
  const answer = <T>(value: T): Promise<T> => (at.fault === null ? Promise.resolve(value) : Promise.reject(at.fault));
  const source: GitSource = {
    url: 'https://git.example/config.git',
    branch: 'main',
    resolve: () => answer(at.tip),
    snapshot: (since) => {
      reads.push({ oid: at.tip, since });
      if (at.readFault !== null) return Promise.reject(at.readFault);
      const commit = {
        oid: at.tip,
        parents: [],
        author: { name: '', email: '', at: '' },
        subject: '',
        raw: new Uint8Array(),
      };
      const snapshot: Snapshot = {
        commit,
        lineage: since === null ? 'first' : 'descendant',
        files: new Map(),
        findings: [],
      };
      return answer(snapshot);
    },
    earlier: (oid) => {
      named.push(oid);
      const commit = { oid, parents: [], author: { name: '', email: '', at: '' }, subject: '', raw: new Uint8Array() };
      return answer([A, B].includes(oid) ? { commit, lineage: 'same', files: new Map(), findings: [] } : null);
    },
  };
  const clock = createManualClock(Date.parse('2026-11-21T12:00:00Z'));
  return Object.assign(at, { branch: createBranch(source, clock, silentLog), reads, named, skip: clock.skip });
}

describe('a followed branch', () => {
  it('is read whole only when its tip moved', async () => {
    const repository = setUp();
    await repository.branch.poll(null, never);
    await repository.branch.poll(A, never);
    await repository.branch.poll(A, never);
    assert.equal(repository.reads.length, 1);
    repository.tip = B;
    await repository.branch.poll(A, never);
    assert.deepEqual(repository.reads.at(-1), { oid: B, since: A });
  });

  it('is read by what was chosen instead of its tip, once, and says so', async () => {
    const { branch, reads, named } = setUp();
    const choose = () => Promise.resolve({ oid: B, lineage: 'descendant' as const });
    for (let times = 0; times < 2; times += 1) await branch.poll(A, never, choose);
    const { tip, readAt } = branch.view();
    assert.deepEqual([tip?.commit.oid, tip?.lineage, tip?.since, readAt], [B, 'descendant', A, B]);
    assert.deepEqual([reads, named], [[], [B]]);
    // The tip itself was not read meanwhile.
    await branch.poll(A, never);
    assert.deepEqual(reads, [{ oid: A, since: A }]);
  });

  it('fails where what was chosen is gone, or reads the tip as one that does not come from it', async () => {
    const repository = setUp();
    const gone = { oid: 'c'.repeat(40), lineage: 'same' as const };
    await repository.branch.poll(gone.oid, never, () => Promise.resolve(gone));
    assert.equal(repository.branch.view().failure?.code, 'GIT_REFUSED');
    await repository.branch.poll(gone.oid, never, () => Promise.resolve({ ...gone, orTip: true }));
    const { tip, failure } = repository.branch.view();
    assert.deepEqual([tip?.commit.oid, tip?.lineage, failure], [A, 'rewritten', null]);
  });

  it('is read again when another commit came into force, because its lineage may be another', async () => {
    const repository = setUp();
    repository.tip = B;
    await repository.branch.poll(null, never);
    await repository.branch.poll(A, never);
    assert.deepEqual(repository.reads, [
      { oid: B, since: null },
      { oid: B, since: A },
    ]);
  });

  it('keeps the last good reading while git fails, and says since when', async () => {
    const repository = setUp();
    await repository.branch.poll(null, never);
    repository.fault = new GitopsError('GIT_TIMEOUT', 'no answer within 15 s');
    await repository.branch.poll(A, never);
    repository.skip(60_000);
    await repository.branch.poll(A, never);
    const { tip, failure } = repository.branch.view();
    assert.equal(tip?.commit.oid, A);
    assert.deepEqual(failure, { since: '2026-11-21T12:00:00Z', code: 'GIT_TIMEOUT', message: 'no answer within 15 s' });
  });

  it('forgets the failure when git answers again', async () => {
    const repository = setUp();
    repository.fault = new Error('connection refused');
    await repository.branch.poll(null, never);
    repository.fault = null;
    await repository.branch.poll(null, never);
    assert.equal(repository.branch.view().failure, null);
    assert.equal(repository.branch.view().tip?.commit.oid, A);
  });

  it('looks the same as long as nothing is new, in failure as well', async () => {
    const repository = setUp();
    await repository.branch.poll(null, never);
    await repository.branch.poll(A, never);
    const { tip } = repository.branch.view();
    await repository.branch.poll(A, never);
    assert.equal(repository.branch.view().tip, tip);
    repository.fault = new Error('connection refused');
    await repository.branch.poll(A, never);
    const { failure } = repository.branch.view();
    await repository.branch.poll(A, never);
    assert.equal(repository.branch.view().failure, failure);
  });

  it('stays away for as long as the server asks', async () => {
    const repository = setUp();
    repository.fault = new GitopsError('GIT_THROTTLED', 'too many requests', {
      disposition: { kind: 'wait', ms: 90_000 },
    });
    assert.equal(await repository.branch.poll(null, never), 90_000);
  });
});

describe('a commit that cannot be read, now or later', () => {
  const tooBig = (commit: CommitOid) => new GitError('GIT_TOO_BIG', 'too big', { fields: { commit } });

  it('is not read again before the branch moves', async () => {
    const repository = setUp();
    repository.readFault = tooBig(A);
    for (let poll = 0; poll < 3; poll += 1) await repository.branch.poll(null, never);
    assert.equal(repository.reads.length, 1);
    assert.equal(repository.branch.view().failure?.code, 'GIT_TOO_BIG');
    repository.tip = B;
    repository.readFault = null;
    await repository.branch.poll(null, never);
    assert.equal(repository.branch.view().tip?.commit.oid, B);
  });

  it('is read again after a failure that may pass', async () => {
    const repository = setUp();
    repository.readFault = new GitopsError('GIT_TIMEOUT', 'no answer within 15 s');
    await repository.branch.poll(null, never);
    repository.readFault = null;
    await repository.branch.poll(null, never);
    assert.equal(repository.branch.view().tip?.commit.oid, A);
  });

  it('is the one that was read, where the branch moved in between', async () => {
    const repository = setUp();
    repository.readFault = tooBig(B);
    await repository.branch.poll(null, never);
    repository.readFault = null;
    await repository.branch.poll(null, never);
    assert.equal(repository.branch.view().tip?.commit.oid, A);
  });
});

const KIB = 1024;
const LIMITS = {
  'holds too many objects': { objects: 50 },
  'is too much to unpack': { inflatedBytes: 1000 },
  'is too much to download': { packBytes: 2 * KIB },
  'holds too many files of configuration': { files: 10 },
  'holds too many names': { treeEntries: 20 },
} as const;

describeOrSkip('a commit that cannot be read, now or later', { skip: WITHOUT_GIT }, () => {
  for (const [what, limits] of Object.entries(LIMITS)) {
    it(`costs the next poll what an idle poll costs, where it ${what}`, async (t) => {
      const { server, repository, source } = await start(t);
      const branch = createBranch(source({ limits }), systemClock, silentLog);
      const good = await repository.commitFiles(manyPools(2));
      await branch.poll(null, soon());
      assert.equal(branch.view().tip?.commit.oid, good);
      const idle = await costOf(() => branch.poll(good, soon()));

      await repository.commitFiles(manyPools(60));
      const first = await costOf(() => branch.poll(good, soon()));
      assert.equal(branch.view().failure?.code, 'GIT_TOO_BIG');
      assert.ok(first.requests > idle.requests);
      const failure = branch.view().failure;
      for (let poll = 0; poll < 3; poll += 1) {
        const next = await costOf(() => branch.poll(good, soon()));
        assert.deepEqual(next, idle);
        assert.equal(branch.view().failure, failure, 'it is still told, in the same words');
      }
      assert.equal(branch.view().tip?.commit.oid, good, 'the last good reading stays');

      const fixed = await repository.commitFiles(manyPools(3));
      await branch.poll(good, soon());
      assert.equal(branch.view().tip?.commit.oid, fixed);
      assert.equal(branch.view().failure, null);

      async function costOf(poll: () => Promise<unknown>): Promise<{ requests: number; down: number }> {
        const before = server.requests.length;
        server.wire();
        await poll();
        return { requests: server.requests.length - before, down: server.wire().down };
      }
    });
  }
});
