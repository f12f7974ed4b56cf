import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JudgePool, judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import { isOutvoted, judgeNodes, type NodesVerdict } from '#reconciler/policy/judge-nodes.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { minorName, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { commit, COMMIT_A, COMMIT_B, fleetOf, idleNode, nodeView, validPool } from '../../support/fleet.ts';
import { fc } from '../../support/property.ts';

const pool = validPool('workers', 110, {}, { serializeImagePulls: false, maxParallelImagePulls: 3 });

/** A node by what its Node says, and what its agent reports; null: nobody reports. undefined: an agent that is too old to say it. */
type Machine = readonly [node: string, agent: string | null | undefined];

function machines(all: readonly Machine[]) {
  const nodes = all.map(([kubeletVersion], index) => nodeView(`n${index}`, 'workers', { kubeletVersion }));
  const kubeletNodes = nodes.flatMap((node, index): readonly KubeletNode[] => {
    const agent = all[index]?.[1];
    if (agent !== null) return [idleNode(node, agent === undefined ? {} : { kubeletVersion: agent })];
    return [{ ...idleNode(node), status: {} }];
  });
  return fleetOf({ nodes, kubeletNodes });
}

function judged(all: readonly Machine[], judge: JudgePool = judgePool): NodesVerdict {
  const fleet = machines(all);
  return judgeNodes(pool, [...fleet.nodes.values()], fleet, judge);
}

const [NEW, OLD] = ['v1.34.2', 'v1.21.0'];

describe('nodes are asked what they make of a config', () => {
  /** What Nodes and their agents say, each as `node/agent`: `-` says nothing, and `none` is no agent. */
  const WORDS: Readonly<Record<string, string | null | undefined>> = {
    new: NEW,
    old: OLD,
    none: null,
    unknown: 'unknown',
  };
  const rows: readonly (readonly [string, string, unfit: readonly string[], counted: number, against: number])[] = [
    ['those that take it', 'new/new new/-', [], 2, 0],
    ['one that refuses it', 'new/new old/old', ['n1'], 2, 1],
    ['one whose agent is too old to report a version', 'new/new old/-', ['n1'], 2, 1],
    ['Nodes that nobody of ours stands behind', 'new/new old/none old/none', ['n1', 'n2'], 1, 0],
    ['one that has changed since its agent reported', 'new/old old/new', ['n1'], 2, 1],
    ['one whose Node says nothing', '-/old unknown/none -/unknown', ['n0'], 1, 1],
    ['none', '', [], 0, 0],
  ];
  for (const [what, words, unfit, counted, against] of rows) {
    it(what, () => {
      const all = words.split(' ').flatMap((word): readonly Machine[] => {
        const [node = '', agent = ''] = word.split('/');
        return word === '' ? [] : [[WORDS[node] ?? '', WORDS[agent]]];
      });
      const found = judged(all);
      assert.deepEqual([...found.unfit.keys()], unfit);
      assert.deepEqual(found.votes, { counted, against });
    });
  }

  it('is that of an earlier Node of the same name no report of this one', () => {
    const fleet = machines([[OLD, OLD]]);
    const nodes = [...fleet.nodes.values()].map((node) => ({ ...node, uid: 'another' }));
    assert.deepEqual(judgeNodes(pool, nodes, fleet, judgePool).votes, { counted: 0, against: 0 });
  });

  // What the cluster's list asks for is judged when the pool is read, and not asked of nodes once more.
  for (const judgedFor of [[], ['1.34']]) {
    it(`says which version has what against it, as a warning or as an error, beside [${judgedFor.join()}]`, () => {
      const { findings, refusal, unfit } = judged(
        [
          [NEW, NEW],
          [OLD, OLD],
        ],
        (of, minors) => judgePool({ ...of, judgedFor }, minors),
      );
      assert.deepEqual(
        [findings, refusal].map((all) => [
          ...new Set(all.map(({ severity, versions }) => `${severity} ${versions?.join()}`)),
        ]),
        [['warning 1.21'], ['error 1.21']],
      );
      assert.match(unfit.get('n1') ?? '', /1\.21.*maxParallelImagePulls/);
    });
  }

  it('goes by each version once, and by warnings not at all', () => {
    const asked: (readonly string[])[] = [];
    const warn: JudgePool = (_, minors) => {
      asked.push(minors);
      return [{ code: 'odd', severity: 'warning', message: 'odd' }];
    };
    const versions = ['v1.36.1', '1.34.0', 'v1.36.2', 'unknown', '', 'v2', 'a1.31.0', 'v10.2.0'];
    const { unfit, findings } = judged(
      versions.map((version) => [version, version]),
      warn,
    );
    assert.deepEqual(asked, [['1.34', '1.36', '10.2']]);
    assert.deepEqual([unfit.size, findings.length], [0, 1]);
  });
});

it('a config is outvoted by more than half of those that count, and by nobody where none does', () => {
  const rows = [
    [0, 0, false],
    [2, 1, false],
    [3, 2, true],
    [1, 1, true],
  ] as const;
  for (const [counted, against, expected] of rows) assert.equal(isOutvoted({ counted, against }), expected);
});

/** Kubelets from this minor on take the config; the rest of the world is left to chance. */
describe('whatever versions nodes and agents say', () => {
  const minor = fc.integer({ min: OLDEST_MINOR, max: NEWEST_MINOR });
  const version = minor.map((each) => `v${minorName(each)}.0`);
  const machine: fc.Arbitrary<Machine> = fc.oneof(
    version.map((each): Machine => [each, each]),
    fc.tuple(version, fc.option(version)),
  );
  const takes = (text: string, from: number): boolean => Number(text.split('.')[1]) >= from;
  const from =
    (least: number): JudgePool =>
    (_, minors) =>
      minors.some((each) => !takes(each, least)) ? [{ code: 'odd', severity: 'error', message: 'no' }] : [];

  it('a pool is refused by a majority alone, never once it has the config, and who takes it always gets it otherwise', () => {
    fc.assert(
      fc.property(fc.array(machine, { maxLength: 9 }), minor, fc.boolean(), (all, least, isInForce) => {
        const fleet = machines(all);
        const known = isInForce ? desiredState(commit(COMMIT_A, pool), fleetOf({}), from(least)).pools : new Map();
        const found = desiredState(commit(COMMIT_B, pool), fleet, from(least), undefined, known);
        const words = all.flatMap(([, agent]) => agent ?? []);
        const isMajority = words.filter((each) => !takes(each, least)).length * 2 > words.length;
        const given = found.pools.get('workers');
        assert.equal(given?.origin, isMajority && !isInForce ? undefined : 'rendered');
        if (given === undefined) return;
        const held = all.flatMap(([node], index) => (takes(node, least) ? [] : [`n${index}`]));
        assert.deepEqual(
          [...(given.unfit ?? [])].map(([name]) => name),
          held,
        );
      }),
      { numRuns: 2_000 },
    );
  });
});
