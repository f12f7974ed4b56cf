import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createEarlierRenderings } from '#reconciler/earlier-renderings.ts';
import { GitError } from '#reconciler/git/errors.ts';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { CommitOid, Snapshot } from '#reconciler/policy/commit-snapshot.ts';
import { configSource, fleetOf, idleNode, nodeView } from '../support/fleet.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { shaFor, sizedNode } from '../support/rollout/sized-pool.ts';
import { CLUSTER, filesOf, KUBELET, load, POOL, type Tree, valid } from './policy/config-repo/support/load.ts';

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(40)) as [string, string, string, string];
const NOBODY = fleetOf({});

const plain = (maxPods: number): Tree => ({
  'pools/x/pool.yaml': POOL,
  'pools/x/kubelet.yaml': `${KUBELET}maxPods: ${maxPods}\n`,
});
const computed = (expression: string): Tree => ({
  'pools/x/pool.yaml': `${POOL}  layers: [computed.yaml]\n`,
  'pools/x/computed.yaml': `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\ncomputed: ${expression}\n`,
});
const BY_MEMORY = computed("{systemReserved: {memory: 'memory * 0.1'}}");

/** What a repository has of a commit: its files; null where it is gone; an error; or no answer before the caller gives up. */
type Kept = Tree | null | Error | 'hang';

function setUp(commits: Record<CommitOid, Kept>) {
  const reads: CommitOid[] = [];
  const warned: unknown[] = [];
  const clock = createManualClock();
  const stop = new AbortController();
  const source = {
    async earlier(oid: CommitOid, _of: CommitOid, signal: AbortSignal): Promise<Snapshot | null> {
      reads.push(oid);
      const found = commits[oid] ?? null;
      if (found === 'hang') {
        const { promise, reject } = Promise.withResolvers<never>();
        signal.addEventListener('abort', () =>
          reject(new GitError('GIT_ABORTED', 'broken off', { cause: signal.reason })),
        );
        return promise;
      }
      if (found instanceof Error) throw found;
      if (found === null) return null;
      const commit = { oid, parents: [], author: { name: '', email: '', at: '' }, subject: '', raw: new Uint8Array() };
      return { commit, lineage: 'same', files: filesOf(found), findings: [] };
    },
  };
  const log = Object.assign(Object.create(silentLog) as typeof silentLog, {
    warn: ({ commit }: { commit: unknown }) => void warned.push(commit),
  });
  const renderings = createEarlierRenderings(source, ({ files }) => loadRepo(files, { cluster: 'prod' }), clock, log);
  return {
    commits,
    clock,
    stop,
    warned,
    /** Which commits were read since this was asked last. */
    read: (): readonly CommitOid[] => reads.splice(0),
    async ask(asked: Record<string, CommitOid>, fleet = NOBODY): Promise<Record<string, readonly string[] | null>> {
      const questions = Object.entries(asked).map(([pool, commit]) => ({ pool, commit, isAwaited: true }));
      const answer = await renderings.ask(questions, IN_FORCE, fleet, stop.signal);
      return Object.fromEntries([...answer].map(([pool, found]) => [pool, shown(found.get(asked[pool] ?? ''))]));
    },
    /** What is seen of commits that no revert waits for, of the pool x. */
    async look(oids: readonly CommitOid[], inForce = IN_FORCE): Promise<Record<CommitOid, readonly string[] | null>> {
      const questions = oids.map((commit) => ({ pool: 'x', commit, isAwaited: false }));
      const answer = (await renderings.ask(questions, inForce, NOBODY, stop.signal)).get('x') ?? new Map();
      return Object.fromEntries([...answer].map(([commit, payloads]) => [commit, shown(payloads)]));
    },
    /** Asks for one that a revert waits for, and one that none does. */
    async both(awaited: CommitOid | null, other: CommitOid): Promise<void> {
      const first = awaited === null ? [] : [{ pool: 'x', commit: awaited, isAwaited: true }];
      await renderings.ask([...first, { pool: 'x', commit: other, isAwaited: false }], IN_FORCE, NOBODY, stop.signal);
    },
    /** Which commits are answered for, of each of these pools. */
    async answeredOf(pools: readonly string[], oids: readonly CommitOid[]): Promise<readonly (readonly CommitOid[])[]> {
      const questions = pools.flatMap((pool) => oids.map((commit) => ({ pool, commit, isAwaited: true })));
      const answer = await renderings.ask(questions, IN_FORCE, NOBODY, stop.signal);
      return pools.map((pool) =>
        [...(answer.get(pool) ?? [])].flatMap(([oid, found]) => (found === null ? [] : [oid])),
      );
    },
  };
}

const shaOf = (tree: Tree): string => valid(load(tree), 'x').sha256;

const IN_FORCE = { commit: 'f'.repeat(40), isRewritten: false };
const shown = (payloads: ReadonlySet<string> | null | undefined): readonly string[] | null =>
  payloads ? [...payloads].sort() : null;

describe('what earlier commits render', () => {
  it('is a pool’s own payload, as the commit has it', async () => {
    const { ask, read } = setUp({ [A]: plain(10), [B]: plain(20) });
    assert.deepEqual(await ask({ x: A }), { x: [shaOf(plain(10))] });
    assert.deepEqual(await ask({ x: B }), { x: [shaOf(plain(20))] });
    assert.deepEqual(read(), [A, B]);
    assert.deepEqual(await ask({ x: A }), { x: [shaOf(plain(10))] });
    assert.deepEqual(read(), [], 'a commit never changes');
  });

  it('is what each node gets that is there and selected, where values are computed', async () => {
    const { ask } = setUp({ [A]: BY_MEMORY });
    const pool = valid(load(BY_MEMORY), 'x');
    const [small, large] = [sizedNode('small', 2, 7.7), sizedNode('large', 16, 62.3)];
    const elsewhere = sizedNode('elsewhere', 4, 30, { labels: { pool: 'y' } });
    const nodes = [small, large, elsewhere, nodeView('mute', 'x')];
    assert.deepEqual(await ask({ x: A }, fleetOf({ nodes })), { x: [shaFor(pool, small), shaFor(pool, large)].sort() });
    assert.deepEqual(await ask({ x: A }, fleetOf({ nodes: [small] })), { x: [shaFor(pool, small)] });
    assert.deepEqual(await ask({ x: A }), { x: [] });
  });

  it('is what a node gets by the sizes that were kept of it and the NUMA nodes that it reported', async () => {
    const byNuma = computed("{podPidsLimit: 'numaNodes * 1000'}");
    const { ask } = setUp({ [A]: BY_MEMORY, [B]: byNuma });
    const node = sizedNode('n', 2, 7.7);
    const had = 'memory=7936Mi,ephemeralStorage=102400Mi';
    const idle = idleNode(node, { numaNodes: 2 });
    const known = { ...idle, metadata: { ...idle.metadata, annotations: { [MACHINE_ANNOTATION]: had } } };
    const fleet = fleetOf({ nodes: [node], kubeletNodes: [known] });
    const kept = poolOfNode(valid(load(BY_MEMORY), 'x'), node, had).class.pool?.sha256;
    assert.notEqual(kept, shaFor(valid(load(BY_MEMORY), 'x'), node));
    assert.deepEqual(await ask({ x: A }, fleet), { x: [kept] });
    const numa = poolOfNode(valid(load(byNuma), 'x'), { ...node, numaNodes: 2 }).class.pool?.sha256;
    assert.deepEqual(await ask({ x: B }, fleet), { x: [numa] });
  });

  it('is nothing of a pool that the commit lacks or has errors in', async () => {
    const { ask } = setUp({ [A]: plain(10), [B]: plain(-1) });
    assert.deepEqual(await ask({ y: A, x: B }), { y: [], x: [] });
  });

  it('is by what the commit itself allows', async () => {
    const tree = {
      'clusters/prod.yaml': `${CLUSTER}  fields: {allow: [port]}\n`,
      'pools/x/pool.yaml': POOL,
      'pools/x/kubelet.yaml': `${KUBELET}port: 10251\n`,
    };
    assert.deepEqual(await setUp({ [A]: tree }).ask({ x: A }), { x: [shaOf(tree)] });
  });

  it('is also the same in the bytes of another release, where the cluster has them', async () => {
    const pool = valid(load(plain(10)), 'x');
    const payload = JSON.stringify(pool.value);
    const older = { payload, sha256: payloadSha256(payload), canonicalForm: 0, name: configMapName('x', payload) };
    const fleet = fleetOf({ configSources: [configSource(pool, older)] });
    assert.deepEqual(await setUp({ [A]: plain(10) }).ask({ x: A }, fleet), { x: [pool.sha256, older.sha256].sort() });
  });

  it('costs nothing while nobody asks', async () => {
    const { ask, read } = setUp({ [A]: plain(10) });
    assert.deepEqual(await ask({}), {});
    assert.deepEqual(read(), []);
  });
});

describe('an earlier commit that cannot be read', () => {
  for (const [how, fault] of [
    ['is gone', null],
    ['fails', new GitError('GIT_TIMEOUT', 'late')],
  ] as const) {
    const none = fault === null ? { x: null } : {};
    it(`is no answer where it ${how}, is asked for once a minute, and said once`, async () => {
      const { ask, read, clock, warned, commits } = setUp({ [A]: fault, [B]: plain(20) });
      for (let pass = 0; pass < 3; pass += 1) assert.deepEqual(await ask({ x: A, z: B }), { ...none, z: [] });
      assert.deepEqual([read(), warned], [[A, B], [A]]);
      clock.skip(59_999);
      await ask({ x: A });
      assert.deepEqual(read(), []);
      clock.skip(1);
      assert.deepEqual(await ask({ x: A }), none);
      assert.deepEqual([read(), warned], [[A], [A]]);
      commits[A] = plain(10);
      clock.skip(60_000);
      assert.deepEqual(await ask({ x: A }), { x: [shaOf(plain(10))] });
      assert.deepEqual(read(), [A]);
    });
  }

  it('is said again where it is for another reason', async () => {
    const { ask, clock, warned, commits } = setUp({ [A]: null });
    await ask({ x: A });
    commits[A] = new GitError('GIT_TIMEOUT', 'late');
    clock.skip(60_000);
    await ask({ x: A });
    assert.deepEqual(warned, [A, A]);
  });

  it('is left alone for as long as the server asks, and forever where it is too big', async () => {
    const throttled = new GitError('GIT_THROTTLED', 'later', { disposition: { kind: 'wait', ms: 300_000 } });
    const tooBig = new GitError('GIT_TOO_BIG', 'big', { fields: { commit: B } });
    const { ask, read, clock } = setUp({ [A]: throttled, [B]: tooBig });
    await ask({ x: A, y: B });
    assert.deepEqual(read(), [A, B]);
    clock.skip(299_999);
    await ask({ x: A, y: B });
    assert.deepEqual(read(), []);
    clock.skip(1);
    await ask({ x: A, y: B });
    assert.deepEqual(read(), [A]);
  });

  it('holds up nobody for longer than half a minute, and the next one has its turn', async () => {
    const { ask, read, clock } = setUp({ [A]: 'hang', [B]: plain(20) });
    const asked = ask({ y: A, x: B });
    await clock.advance(29_999);
    assert.deepEqual(read(), [A]);
    await clock.advance(1);
    assert.deepEqual(await asked, {});
    assert.deepEqual(await ask({ y: A, x: B }), { x: [shaOf(plain(20))] });
    assert.deepEqual(read(), [B]);
  });

  it('is as good as one that a node of the cluster keeps from being rendered: the other pools have theirs', async () => {
    const { ask, warned } = setUp({ [A]: BY_MEMORY, [B]: plain(20) });
    const node = sizedNode('n', 2, 7.7);
    const poisoned = Object.defineProperty(idleNode(node), 'status', {
      get: () => assert.fail('poison'),
    });
    const fleet = fleetOf({ nodes: [node], kubeletNodes: [poisoned] });
    for (let pass = 0; pass < 2; pass += 1) assert.deepEqual(await ask({ x: A, y: B }, fleet), { y: [] });
    assert.deepEqual(warned, [A]);
  });

  it('is given up at the end of the process, and nothing is said of that', async () => {
    const { ask, read, stop, warned } = setUp({ [A]: 'hang', [B]: plain(20) });
    const asked = ask({ y: A, x: B });
    stop.abort();
    assert.deepEqual(await asked, {});
    assert.deepEqual([read(), warned], [[A], []]);
  });
});

describe('an earlier commit that no revert waits for', () => {
  it('is read once, also when another one comes into force, unless the branch is rewritten', async () => {
    const { look, read, commits } = setUp({ [A]: plain(10) });
    const found = { [A]: [shaOf(plain(10))] };
    assert.deepEqual(await look([A]), found);
    commits[A] = null;
    assert.deepEqual(await look([A], { commit: B, isRewritten: false }), found);
    assert.deepEqual(read(), [A]);
    assert.deepEqual(await look([A], { commit: C, isRewritten: true }), { [A]: null });
    assert.deepEqual(read(), [A]);
  });

  it('is known to be gone where nobody has it, and not where nobody answers', async () => {
    const { look, read, clock } = setUp({ [A]: null, [B]: new GitError('GIT_TIMEOUT', 'late') });
    assert.deepEqual(await look([A, B]), { [A]: null });
    assert.deepEqual(await look([A, B]), { [A]: null });
    assert.deepEqual(read(), [A, B]);
    clock.skip(60_000);
    assert.deepEqual(await look([A, B]), { [A]: null });
    assert.deepEqual(read(), [B]);
  });

  it('holds up nobody for longer than five seconds', async () => {
    const { look, clock } = setUp({ [A]: 'hang' });
    const asked = look([A]);
    await clock.advance(5_000);
    assert.deepEqual(await asked, {});
  });

  it('is read when none is left that one waits for', async () => {
    const { both, read } = setUp({ [A]: plain(10), [B]: plain(20) });
    await both(B, A);
    assert.deepEqual(read(), [B]);
    await both(null, A);
    assert.deepEqual(read(), [A]);
  });
});

describe('many earlier commits', () => {
  it('are read three at a time, and answered for once they were', async () => {
    const { ask, read } = setUp({ [A]: plain(1), [B]: plain(2), [C]: plain(3), [D]: plain(4) });
    const all = { a: A, b: B, c: C, x: D };
    assert.deepEqual(await ask(all), { a: [], b: [], c: [] });
    assert.deepEqual(read(), [A, B, C]);
    assert.deepEqual(await ask(all), { a: [], b: [], c: [], x: [shaOf(plain(4))] });
    assert.deepEqual(read(), [D]);
    await ask(all);
    assert.deepEqual(read(), []);
  });

  it('are answered for one by one, for each pool that names them', async () => {
    const { ask, answeredOf, read } = setUp({ [A]: plain(1), [B]: plain(2), [C]: null });
    assert.deepEqual(await answeredOf(['x', 'y'], [A, B, C]), [
      [A, B],
      [A, B],
    ]);
    assert.deepEqual(read(), [A, B, C]);
    assert.deepEqual(await ask({ x: A }), { x: [shaOf(plain(1))] }, 'and not by what another one renders');
    assert.deepEqual(await ask({ z: A }), { z: [] });
    assert.deepEqual(read(), [A], 'no other pool of it was kept');
  });

  it('all have their turn, also where most of them cannot be read', async () => {
    const { answeredOf, read } = setUp({ [D]: plain(4) });
    assert.deepEqual(await answeredOf(['x'], [A, B, C, D]), [[]]);
    assert.deepEqual(await answeredOf(['x'], [A, B, C, D]), [[D]]);
    assert.deepEqual(read(), [A, B, C, D]);
  });

  it('all have their turn, also where they are more than are kept', async () => {
    const oids = Array.from({ length: 40 }, (_, index) => `${10 + index}`.repeat(20));
    const { answeredOf, read } = setUp(Object.fromEntries(oids.map((oid) => [oid, plain(1)])));
    const answered = new Set<CommitOid>();
    for (let pass = 0; pass < 14; pass += 1) {
      const [now = []] = await answeredOf(['x'], oids);
      for (const oid of now) answered.add(oid);
      assert.ok(now.length <= 30, `${now.length} are kept`);
      assert.ok(read().length <= 3);
    }
    assert.equal(answered.size, oids.length);
  });
});
