import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import { activeOf, sameConfig, type State } from '#agent/decide/state.ts';
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
import { runsOf, sampleOf } from '../../support/sample.ts';
import { DIRECTORY, load, META, saved } from './support/saved.ts';

describe('a state directory that was damaged', () => {
  const damages = [
    '',
    '{',
    'null',
    '[]',
    '{"version":"2"}',
    '{"version":0}',
    '{"version":1.5}',
    '{"version":2}',
    '\0\0\0',
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
        await createCheckpointStore(disk, DIRECTORY, 'node-a').save(read);
        assert.deepEqual((await load(disk)).state, { ...read });
      }),
      { numRuns: runsOf(500, 5) },
    );
  });

  it('gives a state that can be kept where a file was cut off anywhere', async () => {
    let cuts = 0;
    for (const [index, state] of states.entries()) {
      for (const name of META) {
        const whole = (await saved(state)).tree()[`/state/meta/${name}`] ?? '';
        const lengths = Array.from({ length: Math.max(0, whole.length - 1) }, (_, cut) => cut + 1);
        for (const length of sampleOf(lengths, 37, index * 4)) {
          const disk = await saved(state);
          disk.plant(`/state/meta/${name}`, whole.slice(0, length));
          const { state: read } = await load(disk);
          await createCheckpointStore(disk, DIRECTORY, 'node-a').save(read);
          assert.deepEqual((await load(disk)).state, read, `${name} of state ${index}, cut at ${length}`);
          cuts += 1;
        }
      }
    }
    assert.ok(cuts > 100, `${cuts} cuts`);
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

  it('a trial that nobody remembers ends in what was good, and its config is looked at again', async () => {
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
    disk.plant('/state/meta/assigned', reference.replace('uid-a', '../../etc'));
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
      const store = createCheckpointStore(whole, DIRECTORY, 'node-a');
      await store.load(AT);
      const start = whole.changes();
      await store.save(after);
      for (let written = 0; written <= whole.changes() - start; written += 1) {
        const disk = await saved(before);
        const dying = createCheckpointStore(disk, DIRECTORY, 'node-a');
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
