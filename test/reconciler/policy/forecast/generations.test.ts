import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generationsOf, type TrialWay } from '#reconciler/policy/forecast/generations.ts';
import { rolloutInTime } from './support/rollout-in-time.ts';

const way = (node: string, beganAt: number, rest: Partial<TrialWay> = {}): TrialWay => ({ node, beganAt, ...rest });
/** Began, passed a minute and promoted three minutes later. */
const done = (node: string, beganAt: number): TrialWay =>
  way(node, beganAt, { passedAt: beganAt + 60, promotedAt: beganAt + 180 });
const shown = (ways: readonly TrialWay[], most = 100, canaries = 1): readonly string[] =>
  generationsOf(ways, most, canaries).map(
    ({ generation, maxOnTrial, nodes, inProbation, onTrial, promoted, failed }) =>
      `${generation} of ${maxOnTrial}: ${nodes.join(' ')} ${inProbation}/${onTrial}/${promoted}/${failed}`,
  );

describe('the generations of a rollout', () => {
  const ROWS: readonly (readonly [string, readonly TrialWay[], readonly string[]])[] = [
    ['none have begun', [], []],
    ['the canary is in probation', [way('a', 0)], ['0 of 1: a 1/0/0/0']],
    ['the canary is past its probation', [way('a', 0, { passedAt: 60 })], ['0 of 1: a 0/1/0/0']],
    ['a node begins before the canary promoted', [done('a', 0), way('b', 179)], ['0 of 1: a b 1/0/1/0']],
    ['and when it has', [done('a', 0), way('b', 180)], ['0 of 1: a 0/0/1/0', '1 of 2: b 1/0/0/0']],
    [
      'the bound doubles with as many as are past their probation, in the order of their beginning',
      [way('e', 240), done('a', 0), way('c', 239, {}), done('b', 180)],
      ['0 of 1: a 0/0/1/0', '1 of 2: b c 1/0/1/0', '2 of 4: e 1/0/0/0'],
    ],
    [
      'a failure takes the bound back to the canaries, and counts for the generation that it came in',
      [done('a', 0), way('b', 200, { failedAt: 200 }), way('c', 202)],
      ['0 of 1: a 0/0/1/0', '1 of 2: b 0/0/0/1', '0 of 1: c 1/0/0/0'],
    ],
  ];
  for (const [name, ways, expected] of ROWS)
    it(`are told where ${name}`, () => assert.deepEqual(shown(ways), expected));

  it('end with the bound at its widest', () => {
    const ways = [done('a', 0), done('b', 180), done('c', 250), done('d', 400), done('e', 600)];
    assert.deepEqual(shown(ways, 2), ['0 of 1: a 0/0/1/0', '1 of 2: b c d e 0/0/4/0']);
  });

  it('say when they are over, and not while one is on trial', () => {
    const [first, second] = generationsOf([done('a', 0), done('b', 180), way('c', 190)], 100, 1);
    assert.deepEqual([first?.doneAt, second?.doneAt], [180, null]);
  });

  it('never have more nodes on trial than they may, and agree with the bound that the planner gives', () => {
    for (const { planned, told } of rolloutInTime(40, { maxUnavailable: 4 })) {
      const { rollout } = planned.pools.get('w') ?? {};
      const last = told?.generations.at(-1);
      if (rollout?.maxOnTrial === undefined || last === undefined) continue;
      const trying = told?.generations.reduce((sum, { inProbation, onTrial }) => sum + inProbation + onTrial, 0) ?? 0;
      assert.ok(trying <= rollout.maxOnTrial, `${trying} of ${rollout.maxOnTrial}`);
      assert.ok(last.maxOnTrial <= rollout.maxOnTrial, `${last.maxOnTrial} of ${rollout.maxOnTrial}`);
    }
  });

  it('are those of all nodes when it is over, the canary first', () => {
    const generations = rolloutInTime(40, { maxUnavailable: 4 }).at(-1)?.told?.generations ?? [];
    assert.deepEqual(
      generations.map(({ generation, maxOnTrial }) => [generation, maxOnTrial]),
      [
        [0, 1],
        [1, 2],
        [2, 4],
        [3, 8],
      ],
    );
    assert.equal(
      generations.reduce((sum, { promoted }) => sum + promoted, 0),
      40,
    );
    assert.equal(generations[0]?.nodes.length, 1);
  });
});
