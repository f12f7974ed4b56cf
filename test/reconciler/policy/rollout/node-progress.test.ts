import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  activeConfigOf,
  preflightAnswerOf,
  failedAt,
  hasProved,
  hasProvedAny,
  isAssignmentUnheard,
  inTransition,
  isAtWork,
  isRecordOfTarget,
  isPastProbation,
  provenConfigOf,
  targetRecordOf,
  refusedUnassigned,
  runsAlready,
  sameTarget,
  progressOf,
  turnAskedBy,
} from '#reconciler/policy/rollout/node-progress.ts';
import {
  type KubeletNode,
  type KubeletNodeStatus,
  LOCAL,
  type PreflightAnswer,
  UNKNOWN_CONFIG,
} from '#shared/contract/api/kubelet-node.ts';
import { AGENT_SILENT_MS } from '#shared/contract/api/silent-agent.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { assignedNode, failedNode, idleNode, nodeView, NOW, settledNode, validPool } from '../../../support/fleet.ts';

const a = nodeView('a', 'workers');
const pool = validPool('workers', 110);
const other = validPool('workers', 120);
const TARGET = { sha256: pool.sha256, apply: 'overlay' } as const;
const REPLACED = { ...TARGET, apply: 'replace' } as const;
const specless = ({ metadata, status = {} }: KubeletNode): KubeletNode => ({ metadata, status });
const reference = { name: pool.configName, sha256: pool.sha256 };
const silentFor = (ms: number): KubeletNode => settledNode(a, pool, { heartbeat: toTimestamp(NOW - ms) });
const behind = (generation: number): KubeletNode => {
  const node = settledNode(a, pool);
  return { ...node, metadata: { ...node.metadata, generation } };
};

const ASKS = { reason: 'NewBase', seen: 's1', base: 'b1', message: 'its own config file changed' } as const;
const asking = (status: KubeletNodeStatus = {}, seen?: string): KubeletNode => {
  const node = settledNode(a, pool, { phase: 'Drifted', awaitsTurn: ASKS, ...status });
  return seen === undefined ? node : { ...node, spec: { ...node.spec, turn: { seen } } };
};
const lost = (config: string): KubeletNode => {
  const awaitsTurn = { reason: 'StateLost', seen: 's1', config, message: 'its agent lost its state' } as const;
  const local = { name: 'local' };
  return asking({ phase: 'Staging', active: local, lastKnownGood: local, awaitsTurn });
};
/** Its cluster was restored from a backup: it runs this pool's config, and is told another, or its local one. */
const restored = (config?: string): KubeletNode => {
  const want = config === undefined ? {} : { config };
  const awaitsTurn = { reason: 'StateLost', seen: 's1', message: 'an old order', ...want } as const;
  const node = settledNode(a, pool, { awaitsTurn });
  return { ...node, spec: config === undefined ? {} : (assignedNode(a, other).spec ?? {}) };
};
/** Told another config in the place of its turn, and not begun. */
const toldAnother = (phase: 'Drifted' | 'Staging'): KubeletNode => {
  const { sha256, configName: name } = other;
  return asking({ phase, lastKnownGood: { name, sha256, apply: 'overlay' } });
};

/** Told another config, and asked about this one, which it refuses. */
const refusing = (answer: Partial<PreflightAnswer> = {}, asked: typeof pool = pool): KubeletNode => {
  const { sha256, configName: name } = asked;
  const refusal = { ...TARGET, outcome: 'refused', reason: 'NoRoom', at: toTimestamp(NOW), ...answer } as const;
  const node = settledNode(a, other, { preflight: refusal });
  const configSource = { namespace: 'n', name, uid: 'u', resourceVersion: '1', key: 'kubelet', sha256 };
  return { ...node, spec: { ...node.spec, preflight: { configSource } } };
};
const { apply: _a, ...unsaidWay } = settledNode(a, pool).spec ?? {};
const { apply: _r, ...unsaidAnswer } = refusing().status?.preflight ?? { outcome: 'refused' };
const { at: _t, ...undated } = refusing().status?.preflight ?? { outcome: 'refused' };
const saying = (preflight: PreflightAnswer): KubeletNode => {
  const node = refusing();
  return { ...node, status: { ...node.status, preflight } };
};

describe('a node stands towards its target as', () => {
  const rows: readonly (readonly [
    string,
    KubeletNode | undefined,
    string,
    (typeof TARGET | typeof REPLACED | null)?,
  ])[] = [
    ['settled where it runs and has proved it', settledNode(a, pool), 'settled'],
    ['settled where a file drifted', settledNode(a, pool, { phase: 'Drifted' }), 'settled'],
    ['settled where nobody says how it was laid over', settledNode(a, pool, { active: reference }), 'settled'],
    ['settled on local', idleNode(a), 'settled', null],
    ['updating while it tries', settledNode(a, pool, { phase: 'Trial' }), 'updating'],
    [
      'updating in a phase that only a newer agent knows',
      settledNode(a, pool, { phase: 'Resting' as never }),
      'updating',
    ],
    ['updating while it runs something else', settledNode(a, pool, { active: { name: 'local' } }), 'updating'],
    ['updating until it is proved', settledNode(a, pool, { lastKnownGood: { name: 'local' } }), 'updating'],
    ['updating while it has yet to see its assignment', behind(2), 'updating'],
    ['settled once it has seen it', behind(1), 'settled'],
    ['failed where it took it back', failedNode(a, pool), 'failed'],
    ['broken where its kubelet runs with nothing', settledNode(a, pool, { phase: 'Broken' }), 'broken'],
    ['outdated where it was told something else', settledNode(a, other), 'outdated'],
    ['outdated where it is to be laid over in another way', settledNode(a, pool), 'outdated', REPLACED],
    ['outdated where it was told nothing', idleNode(a), 'outdated'],
    ['outdated where it is to give a config back', settledNode(a, pool), 'outdated', null],
    ['outdated where nothing was decided, though it runs it', specless(settledNode(a, pool)), 'outdated'],
    ['outdated where nothing was decided and it runs something', specless(settledNode(a, pool)), 'outdated', null],
    ['settled where nothing was decided and it runs local', specless(idleNode(a)), 'settled', null],
    ['awaiting its turn where it asks for one', asking(), 'awaits-turn'],
    ['awaiting its turn where it was granted one for something else', asking({}, 's0'), 'awaits-turn'],
    ['updating where it was granted that one', asking({}, 's1'), 'updating'],
    ['updating while it tries in its turn', asking({ phase: 'Trial' }, 's1'), 'updating'],
    ['settled after its turn', asking({ phase: 'Idle', awaitsTurn: null }, 's1'), 'settled'],
    ['awaiting its turn where it stages what it lost', lost(pool.sha256), 'awaits-turn'],
    ['updating where it asks for something else that it lost', lost(other.sha256), 'updating'],
    ['updating where it stages, and asks for the config before', toldAnother('Staging'), 'updating'],
    ['updating where it has yet to, and asks for the config before', toldAnother('Drifted'), 'updating'],
    ['updating where it stages and asks for nothing', asking({ phase: 'Staging', awaitsTurn: null }), 'updating'],
    ['broken where its kubelet runs with nothing, whatever it asks for', asking({ phase: 'Broken' }), 'broken'],
    ['settled on local, whatever it asks for', idleNode(a, { awaitsTurn: ASKS }), 'settled', null],
    ['settled where nobody says how it is to be laid over', { ...settledNode(a, pool), spec: unsaidWay }, 'settled'],
    ['awaiting its turn where it asks for it at rest', asking({ phase: 'Idle' }), 'awaits-turn'],
    ['failed where it refuses what it was asked about', refusing(), 'failed'],
    ['failed where it does not say how that was to be laid over', saying(unsaidAnswer), 'failed'],
    ['outdated where it refuses other bytes', refusing({ sha256: other.sha256 }), 'outdated'],
    ['outdated where it refuses another way', refusing({ apply: 'replace' }), 'outdated'],
    ['outdated where it was asked about something else since', refusing({}, other), 'outdated'],
    ['outdated where it finds nothing wrong', refusing({ outcome: 'passed' }), 'outdated'],
    ['outdated where it answers with a word of a newer agent', refusing({ outcome: 'doubted' as never }), 'outdated'],
    ['outdated where it does not say when it refused it', saying(undated), 'outdated'],
    ['no-agent where there is no KubeletNode', undefined, 'no-agent'],
    ['no-agent where its agent never reported', { ...idleNode(a), status: {} }, 'no-agent'],
    ['settled while its agent was heard of lately', silentFor(AGENT_SILENT_MS), 'settled'],
    ['no-agent when it was not', silentFor(AGENT_SILENT_MS + 1_000), 'no-agent'],
  ];
  for (const [what, node, expected, target = TARGET] of rows) {
    it(what, () => assert.equal(progressOf(node, target, NOW), expected));
  }
});

describe('a target', () => {
  it('is the same by its bytes and by how it is laid over', () => {
    assert.equal(sameTarget(TARGET, { ...TARGET }), true);
    assert.equal(sameTarget(TARGET, REPLACED), false);
    assert.equal(sameTarget(TARGET, { ...TARGET, sha256: 'x' }), false);
    assert.deepEqual(
      [sameTarget(null, null), sameTarget(TARGET, null), sameTarget(null, TARGET)],
      [true, false, false],
    );
  });

  it('is recorded with a word on how it is laid over only where that is unusual', () => {
    assert.deepEqual([targetRecordOf(TARGET), targetRecordOf(REPLACED)], [{ sha256: pool.sha256 }, REPLACED]);
    assert.deepEqual(
      [isRecordOfTarget(targetRecordOf(TARGET), TARGET), isRecordOfTarget(targetRecordOf(REPLACED), REPLACED)],
      [true, true],
    );
    assert.deepEqual(
      [isRecordOfTarget(targetRecordOf(TARGET), REPLACED), isRecordOfTarget(targetRecordOf(TARGET), null)],
      [false, false],
    );
  });
});

describe('a node', () => {
  it('has failed when it refuses the target, which it was not told, and says why', () => {
    const at = toTimestamp(NOW);
    assert.equal(failedAt(refusing(), TARGET), at);
    assert.deepEqual(refusedUnassigned(refusing(), TARGET), { ...TARGET, outcome: 'refused', reason: 'NoRoom', at });
    assert.equal(refusedUnassigned(refusing({}, other), TARGET), undefined);
  });

  it('that nobody made an object for, or that never reported, has nothing', () => {
    for (const node of [undefined, { metadata: a }, { metadata: a, status: {} }]) {
      const none = [hasProved(node, TARGET), hasProvedAny(node), inTransition(node, NOW)];
      assert.deepEqual([...none, runsAlready(node, TARGET), isPastProbation(node, 0, NOW)], Array(5).fill(false));
      assert.deepEqual(
        [failedAt(node, TARGET), turnAskedBy(node), preflightAnswerOf(node, TARGET), provenConfigOf(node)],
        [undefined, undefined, undefined, null],
      );
    }
  });

  it('has failed when it rejected the very target, and blames it', () => {
    const at = toTimestamp(NOW);
    assert.equal(failedAt(failedNode(a, pool), TARGET), at);
    assert.equal(failedAt(failedNode(a, pool), REPLACED), undefined);
    assert.equal(failedAt(failedNode(a, other), TARGET), undefined);
    const [entry] = failedNode(a, pool).status?.rejected ?? [];
    assert.ok(entry !== undefined);
    const but = (status: KubeletNodeStatus): KubeletNode => ({
      ...failedNode(a, pool),
      status: { ...failedNode(a, pool).status, ...status },
    });
    const unblamed = but({ rejected: [{ ...entry, reason: 'UnhealthyBefore' }] });
    assert.equal(failedAt(unblamed, TARGET), undefined);
    assert.equal(failedAt(but({ assigned: { name: LOCAL } }), TARGET), undefined, 'it is told once more');
    const { assigned: _, ...unsaid } = failedNode(a, pool).status ?? {};
    assert.equal(failedAt({ ...failedNode(a, pool), status: unsaid }, TARGET), at, 'it does not say what it heard of');
    assert.deepEqual(
      [failedAt(undefined, TARGET), failedAt({ metadata: { name: 'a' } }, TARGET)],
      [undefined, undefined],
    );
  });

  it('has proved what it falls back to, laid over where nobody says how, and no config of ours with its local one', () => {
    const proved = [
      provenConfigOf(settledNode(a, pool, { lastKnownGood: { ...reference, apply: 'replace' } })),
      provenConfigOf(settledNode(a, pool, { lastKnownGood: reference })),
      provenConfigOf(idleNode(a)),
    ];
    assert.deepEqual(proved, [REPLACED, TARGET, null]);
  });

  it('runs what its agent says, and no config of ours where nobody says anything', () => {
    const unheard: KubeletNode = { metadata: { name: 'a' } };
    const active = [settledNode(a, pool), idleNode(a), unheard, undefined].map(activeConfigOf);
    assert.deepEqual(active, [TARGET, null, null, null]);
  });

  it('whose agent does not know what it runs, runs neither its local config nor any other, and has proven nothing', () => {
    const name = UNKNOWN_CONFIG;
    const lostState: KubeletNodeStatus = { active: { name }, lastKnownGood: { name } };
    for (const [node, target] of [
      [idleNode(a, lostState), null],
      [specless(idleNode(a, lostState)), null],
      [settledNode(a, pool, { ...lostState, promotedAt: null }), TARGET],
    ] as const) {
      assert.notEqual(progressOf(node, target, NOW), 'settled');
      assert.deepEqual([hasProved(node, target), hasProvedAny(node), runsAlready(node, TARGET)], [false, false, false]);
    }
    assert.equal(isAssignmentUnheard({ ...idleNode(a, { ...lostState, heartbeat: toTimestamp(0) }) }, NOW), true);
  });

  it('that its restored cluster tells something old asks for a turn to do it, and needs none for what it runs', () => {
    const [toOther, toLocal] = [restored(other.sha256), restored()];
    assert.deepEqual(
      [progressOf(toOther, { ...TARGET, sha256: other.sha256 }, NOW), progressOf(toLocal, null, NOW)],
      ['awaits-turn', 'awaits-turn'],
    );
    assert.deepEqual([inTransition(toOther, NOW), inTransition(toLocal, NOW)], [false, false]);
    assert.deepEqual([runsAlready(toOther, TARGET), runsAlready(toLocal, TARGET)], [true, true]);
    const asksOther = { ...toLocal, status: { ...toLocal.status, awaitsTurn: ASKS } };
    assert.equal(turnAskedBy(asksOther), undefined);
  });

  it('has yet to hear of a config, as far as anybody can see, while its agent is silent', () => {
    const { status: _, ...unheard } = assignedNode(a, pool);
    assert.equal(isAssignmentUnheard(unheard, NOW), true);
    assert.equal(isAssignmentUnheard(assignedNode(a, pool), NOW), false);
    assert.equal(isAssignmentUnheard(silentFor(AGENT_SILENT_MS + 1), NOW), false);
  });

  it('runs a target already where it is at rest with it', () => {
    assert.equal(runsAlready(settledNode(a, pool), TARGET), true);
    assert.equal(runsAlready(settledNode(a, pool), REPLACED), false);
    assert.equal(runsAlready(settledNode(a, pool, { phase: 'Drifted' }), TARGET), false);
    assert.equal(runsAlready(asking({ phase: 'Idle' }), TARGET), false);
    assert.equal(runsAlready(asking({ phase: 'Idle', awaitsTurn: null }), TARGET), true);
    assert.equal(runsAlready(settledNode(a, pool, { lastKnownGood: { name: 'local' } }), TARGET), false);
    assert.equal(runsAlready(settledNode(a, pool, { active: { name: 'local' } }), TARGET), false);
    assert.deepEqual([runsAlready(idleNode(a), null), runsAlready(undefined, TARGET)], [false, false]);
  });

  it('is in transition while it is at work, or has yet to begin', () => {
    for (const phase of ['Staging', 'Trial', 'FallingBack', 'Broken'] as const) {
      const node = settledNode(a, pool, { phase });
      assert.deepEqual([inTransition(node, NOW), isAtWork(node)], [true, true], phase);
    }
    assert.deepEqual([inTransition(behind(2), NOW), inTransition(behind(1), NOW)], [true, false]);
    assert.equal(inTransition(undefined, NOW), false);
  });

  it('is in transition from its turn on, and not while it asks for one', () => {
    const rows = [asking(), asking({ phase: 'Staging' }), asking({}, 's1'), asking({ phase: 'Trial' })];
    assert.deepEqual(
      rows.map((node) => inTransition(node, NOW)),
      [false, false, true, true],
    );
    assert.deepEqual(
      rows.map((node) => [turnAskedBy(node)?.seen, progressOf(node, TARGET, NOW)]),
      [
        ['s1', 'awaits-turn'],
        ['s1', 'awaits-turn'],
        ['s1', 'updating'],
        [undefined, 'updating'],
      ],
    );
    for (const node of [toldAnother('Staging'), toldAnother('Drifted')]) {
      assert.deepEqual([inTransition(node, NOW), turnAskedBy(node)], [true, undefined]);
    }
  });
});
