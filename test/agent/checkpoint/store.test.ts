import assert from 'node:assert/strict';
import { lstat, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createStore } from '#agent/checkpoint/store.ts';
import { createNodeDisk } from '#agent/disk/node-disk.ts';
import { activeOf, INITIAL_STATE, rejectionOf, sameConfig, type State } from '#agent/state.ts';
import { arbitraryState } from '../../support/agent/arbitrary.ts';
import { createMemoryDisk, type MemoryDisk } from '../../support/agent/memory-disk.ts';
import {
  A,
  AT,
  B,
  broken,
  C,
  fallingBack,
  idle,
  INSTALLING,
  judging,
  onTrial,
  rejecting,
  RESTARTING,
} from '../../support/agent/states.ts';

const DIRECTORY = '/state';
const META = ['assigned', 'last-known-good', 'trial', 'rejected'] as const;

async function saved(state: State): Promise<MemoryDisk> {
  const disk = createMemoryDisk();
  await createStore(disk, DIRECTORY).save(state);
  return disk;
}

const load = (disk: MemoryDisk) => createStore(disk, DIRECTORY).load(AT);

/** What is on trial is assigned, unless something else was and has been refused since. */
function reachable(state: State): State {
  const { doing, assigned } = state;
  const isRefused = assigned !== null && rejectionOf(state, assigned) !== undefined;
  return doing.phase === 'trial' && assigned !== null && !isRefused ? { ...state, assigned: doing.config } : state;
}

describe('the checkpoint store', () => {
  it('reads a node that was never assigned anything from an empty disk, and has nothing to say about it', async () => {
    assert.deepEqual(await load(createMemoryDisk()), { state: INITIAL_STATE, problems: [], tooNew: null });
  });

  it('reads back every state that it wrote', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryState, async (arbitrary) => {
        const state = reachable(structuredClone(arbitrary));
        // Local has no file to keep the time in, and needs none.
        const promotedAt = state.lastKnownGood === null ? null : state.promotedAt;
        const disk = await saved({ ...state, promotedAt });
        const { state: read, problems } = await load(disk);
        assert.deepEqual(problems, []);
        assert.deepEqual(read, { ...state, promotedAt });
      }),
      { numRuns: 300 },
    );
  });

  it('writes a reference as the kubelet did, so that old tooling reads it', async () => {
    const disk = await saved({ ...idle(A), promotedAt: '2026-03-03T03:03:03Z' });
    assert.equal(
      disk.tree()['/state/meta/last-known-good'],
      `apiVersion: kubelet.config.k8s.io/v1beta1
kind: SerializedNodeConfigSource
kubeletGitops:
  apply: overlay
  commit: c0ffee
  pool: general
  promotedAt: "2026-03-03T03:03:03Z"
  sha256: ${A.source.sha256}
  trial:
    duration: 10m
    maxRestarts: 2
    startTimeout: 2m
  version: 1
source:
  configMap:
    kubeletConfigKey: kubelet
    name: general-aaaaaaaaaa
    namespace: kubelet-gitops
    resourceVersion: "41"
    uid: uid-a
`,
    );
  });

  it('writes nothing for local, as the kubelet did', async () => {
    const disk = await saved(idle(A));
    await createStore(disk, DIRECTORY).save(idle(null));
    assert.equal(disk.tree()['/state/meta/assigned'], '');
  });

  it('writes only what changed, and nothing at all on a node that has nothing', async () => {
    const disk = createMemoryDisk();
    const store = createStore(disk, DIRECTORY);
    const { state } = await store.load(AT);
    await store.save(state);
    assert.deepEqual(Object.values(disk.tree()), ['(directory)', '(directory)', '(directory)']);
    await store.save(onTrial(INSTALLING));
    const before = disk.changes();
    await store.save({ ...onTrial(INSTALLING) });
    assert.equal(disk.changes(), before);
    await store.save(onTrial(RESTARTING));
    assert.equal(disk.changes(), before + 1);
  });

  it('writes again what failed to be written', async () => {
    const disk = await saved(idle(A));
    const store = createStore(disk, DIRECTORY);
    await store.load(AT);
    disk.failAfter(1);
    await assert.rejects(store.save(onTrial(INSTALLING)), { code: 'DISK_WRITE' });
    disk.failAfter(null);
    await store.save(onTrial(INSTALLING));
    assert.deepEqual((await load(disk)).state, onTrial(INSTALLING));
  });

  it('leaves the state directory where a link leads, with all that is there', async () => {
    const root = await mkdtemp(join(tmpdir(), 'kubelet-gitops-store-'));
    try {
      const [there, link] = [join(root, 'big-disk'), join(root, 'kubelet-gitops')];
      await mkdir(there);
      await symlink('big-disk', link);
      await mkdir(join(there, 'local'));
      await writeFile(join(there, 'local', 'kubelet'), 'the only copy');
      for (const state of [idle(A), idle(B)]) {
        const store = createStore(createNodeDisk(), link);
        await store.load(AT);
        await store.save(state);
        assert.deepEqual((await createStore(createNodeDisk(), link).load(AT)).state, state);
      }
      assert.equal((await lstat(link)).isSymbolicLink(), true);
      assert.equal(await readFile(join(link, 'local', 'kubelet'), 'utf8'), 'the only copy');
    } finally {
      await rm(root, { recursive: true });
    }
  });

  it('puts aside what stands in the way of its files', async () => {
    const disk = createMemoryDisk();
    disk.plant('/state', 'a file');
    await createStore(disk, DIRECTORY).save(onTrial(INSTALLING));
    disk.plant('/state/meta/trial', { directory: true });
    disk.plant('/state/meta/trial/inside', 'x');
    const store = createStore(disk, DIRECTORY);
    const { problems } = await store.load(AT);
    assert.equal(problems.length, 1);
    await store.save(onTrial(RESTARTING));
    assert.deepEqual((await load(disk)).state, onTrial(RESTARTING));
  });

  it('does the same on a real disk', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'store-'));
    try {
      const store = createStore(createNodeDisk(), join(directory, 'state'));
      for (const state of [onTrial(RESTARTING), rejecting(A), fallingBack(null, judging()), broken(), idle(A)]) {
        await store.save(state);
        const { state: read, problems } = await createStore(createNodeDisk(), join(directory, 'state')).load(AT);
        assert.deepEqual([read, problems], [state, []]);
      }
      assert.match(await readFile(join(directory, 'state/meta/assigned'), 'utf8'), /^apiVersion/);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('a state directory that was damaged', () => {
  const damages = [
    '',
    '{',
    'null',
    '[]',
    '{"version":"2"}',
    '{"version":0}',
    '{"version":1.5}',
    '{"version":1}',
    'apiVersion: v1\nkind: Pod\n',
    '\0\0\0',
    'a: *b',
    '&a [*a, *a]',
    { directory: true },
  ] as const;
  const states = [
    idle(null),
    idle(A),
    rejecting(A),
    rejecting(null),
    onTrial(INSTALLING),
    onTrial(judging()),
    fallingBack(A, RESTARTING),
    fallingBack(null, INSTALLING, { because: 'unassigned' }),
    broken(),
  ];

  it('gives a state and says what was wrong, whatever is in whichever files', async () => {
    const damage = fc.record({
      name: fc.constantFrom(...META),
      content: fc.oneof(fc.constantFrom(...damages), fc.string()),
    });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...states), fc.array(damage, { maxLength: 4 }), async (state, harm) => {
        const disk = await saved(state);
        for (const { name, content } of harm) disk.plant(`/state/meta/${name}`, content);
        const { state: read } = await load(disk);
        await createStore(disk, DIRECTORY).save(read);
        assert.deepEqual((await load(disk)).state, { ...read });
      }),
      { numRuns: 500 },
    );
  });

  it('gives a state where a file was cut off anywhere', async () => {
    for (const state of states) {
      for (const name of META) {
        const whole = (await saved(state)).tree()[`/state/meta/${name}`] ?? '';
        for (let length = 1; length < whole.length; length += 7) {
          const disk = await saved(state);
          disk.plant(`/state/meta/${name}`, whole.slice(0, length));
          await load(disk);
        }
      }
    }
  });

  const guess = async (state: State, ...names: readonly (typeof META)[number][]): Promise<State> => {
    const disk = await saved(state);
    for (const name of names) disk.plant(`/state/meta/${name}`, 'garbage');
    const { state: read, problems } = await load(disk);
    assert.equal(problems.length, names.length);
    for (const name of names)
      assert.ok(problems.some((problem) => problem.includes(`/state/meta/${name} is unusable`)));
    return read;
  };

  it('an idle node is known from either of its references', async () => {
    assert.deepEqual(await guess(idle(A), 'assigned'), idle(A));
    assert.deepEqual(await guess(idle(A), 'last-known-good'), { ...idle(A), promotedAt: null });
  });

  it('a config that was rejected stays rejected when the note of it is lost', async () => {
    const read = await guess(rejecting(A), 'rejected');
    assert.equal(read.doing.phase, 'idle');
    assert.deepEqual(
      read.rejected.map(({ sha256, reason }) => [sha256, reason]),
      [[B.source.sha256, 'RecordLost']],
    );
  });

  it('a trial that nobody remembers ends in what was good, and its config is looked at anew', async () => {
    const read = await guess(onTrial(judging()), 'trial');
    assert.deepEqual([read.doing.phase, activeOf(read), read.lastKnownGood], ['falling-back', A, A]);
    assert.deepEqual([read.assigned, read.rejected], [B, []]);
  });

  it('what may have been rejected is neither taken for good nor tried again unseen', async () => {
    const atRest = await guess(rejecting(A), 'rejected', 'last-known-good');
    assert.deepEqual([atRest.doing.phase, atRest.assigned, atRest.lastKnownGood], ['idle', null, null]);
    const another = { ...onTrial(judging()), assigned: C };
    assert.equal((await guess(another, 'rejected')).rejected[0]?.sha256, C.source.sha256);
    const lost = await guess(another, 'rejected', 'trial');
    assert.deepEqual([lost.doing.phase, activeOf(lost)], ['falling-back', A]);
  });

  it('a fallback that nobody remembers goes on', async () => {
    const read = await guess(fallingBack(A, RESTARTING), 'trial');
    assert.deepEqual([read.doing.phase, activeOf(read)], ['falling-back', A]);
    const unassigned = await guess({ ...idle(null), doing: fallingBack(null, RESTARTING).doing }, 'trial');
    assert.deepEqual([unassigned.doing.phase, activeOf(unassigned)], ['falling-back', null]);
  });

  it('with nothing left, nothing is touched until an assignment is heard', async () => {
    assert.deepEqual((await guess(onTrial(judging()), ...META)).doing, { phase: 'idle' });
  });

  it('refuses references that lead out of the directory', async () => {
    const disk = await saved(idle(A));
    const reference = disk.tree()['/state/meta/assigned'] ?? '';
    disk.plant('/state/meta/assigned', reference.replace('uid: uid-a', 'uid: ../../etc'));
    const { problems } = await load(disk);
    assert.match(problems.join(), /uid is "\.\.\/\.\.\/etc"/);
  });
});

describe('a node that dies between two files of one state', () => {
  const steps: readonly (readonly [string, State, State])[] = [
    ['begins a trial', idle(A), onTrial(INSTALLING)],
    ['promotes', onTrial(judging()), { ...idle(B) }],
    ['falls back', onTrial(judging()), fallingBack(A, INSTALLING)],
    ['has fallen back', fallingBack(A, judging()), rejecting(A)],
    [
      'is unassigned',
      idle(A),
      { ...idle(null), doing: fallingBack(null, INSTALLING, { because: 'unassigned' }).doing },
    ],
    ['falls back to local', fallingBack(A, judging()), fallingBack(null, INSTALLING)],
    ['is broken', fallingBack(null, judging()), broken()],
    ['supersedes a trial', onTrial(judging()), onTrial(INSTALLING, { config: C })],
  ];
  for (const [title, before, after] of steps) {
    it(`when it ${title}, it finds itself before, after, or in the middle of the same thing`, async () => {
      const whole = await saved(before);
      const store = createStore(whole, DIRECTORY);
      await store.load(AT);
      const start = whole.changes();
      await store.save(after);
      for (let written = 0; written <= whole.changes() - start; written += 1) {
        const disk = await saved(before);
        const dying = createStore(disk, DIRECTORY);
        await dying.load(AT);
        disk.failAfter(written);
        await dying.save(after).catch(() => undefined);
        const { state, problems } = await load(disk);
        assert.deepEqual(problems, []);
        const isKnown = [before, after].some(
          (known) => known.doing.phase === state.doing.phase && sameConfig(activeOf(known), activeOf(state)),
        );
        assert.ok(isKnown, `after ${written} writes: ${JSON.stringify(state)}`);
      }
    });
  }
});
