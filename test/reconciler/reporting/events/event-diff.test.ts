import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type EventDiff, createEventDiff, createSourceEventDiff } from '#reconciler/reporting/events/event-diff.ts';
import { eventsOfNode, touchedKubelet } from '#reconciler/reporting/events/node-events.ts';
import { suspendedUntil } from '#reconciler/policy/suspension.ts';
import type { Fleet, UnreadableObject } from '#reconciler/policy/fleet.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { BY_ANNOTATION, RELEASE_ANNOTATION, SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletSource } from '#shared/contract/api/kubelet-source.ts';
import { claimText } from '#shared/contract/claim.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { afterPass, factsOf, faulty, REFUSAL, SETTLED } from '../source/support/states.ts';
import {
  assignedNode,
  COMMIT_B,
  failedNode,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';
import { column } from '../../../support/columns.ts';

const pool = validPool('web', 120);
const view = nodeView('a', 'web');
const MINUTE = 60_000;
const ago = (ms: number): string => toTimestamp(NOW - ms);

interface Scene {
  readonly node?: KubeletNode;
  readonly status?: KubeletPoolStatus;
}

/** What the chronicle tells of one node and one pool, as `reason` words. */
function tell(chronicle: EventDiff, { node, status }: Scene, at = NOW): readonly string[] {
  const metadata = { name: 'web', uid: 'pool-uid' };
  const present: KubeletPool = status === undefined ? { metadata } : { metadata, status };
  const fleet: Fleet = {
    nodes: new Map([[view.name, view]]),
    kubeletNodes: new Map(node === undefined ? [] : [[node.metadata.name, node]]),
    configSources: new Map(),
    pools: new Map([['web', present]]),
  };
  return chronicle({ fleet, at }).map(({ reason }) => reason);
}

describe('what is told of a node', () => {
  it('applied once for each promotion, and never when it falls back to what it had', () => {
    const chronicle = createEventDiff();
    const next = validPool('web', 130);
    const reference = ({ configName, sha256 }: typeof pool) =>
      ({ name: configName, sha256, apply: 'overlay' }) as const;
    const [good, tried] = [reference(pool), reference(next)];
    const had = { lastKnownGood: good, promotedAt: ago(MINUTE) };
    const scenes: readonly (readonly [KubeletNode, readonly string[]])[] = [
      [idleNode(view), []],
      [settledNode(view, pool, { promotedAt: ago(MINUTE) }), ['ConfigAssigned', 'ConfigApplied']],
      [assignedNode(view, next, { ...had, active: good, assigned: good }), ['ConfigAssigned']],
      [assignedNode(view, next, { ...had, active: tried, assigned: tried, phase: 'Trial' }), []],
      [assignedNode(view, next, { ...had, active: good, assigned: tried, phase: 'FallingBack' }), []],
      [
        { ...failedNode(view, next), status: { ...failedNode(view, next).status, ...had, active: good } },
        ['ConfigFellBack'],
      ],
      [settledNode(view, next, { promotedAt: ago(0) }), ['ConfigApplied']],
    ];
    for (const [node, expected] of scenes) assert.deepEqual(tell(chronicle, { node }), expected);
  });

  it('assigned, applied, each once', () => {
    const chronicle = createEventDiff();
    assert.deepEqual(tell(chronicle, { node: idleNode(view) }), []);
    const told = assignedNode(view, pool);
    assert.deepEqual(tell(chronicle, { node: { ...told, metadata: { ...told.metadata, generation: 2 } } }), [
      'ConfigAssigned',
    ]);
    const done = settledNode(view, pool, { promotedAt: ago(0) });
    assert.deepEqual(tell(chronicle, { node: done }), ['ConfigApplied']);
    assert.deepEqual(tell(chronicle, { node: { ...done } }), []);
  });

  it('another commit with the same config is no news', () => {
    const chronicle = createEventDiff();
    const node = settledNode(view, pool);
    tell(chronicle, { node });
    const amended = { ...node, metadata: { ...node.metadata, generation: 7 }, spec: { ...node.spec, commit: 'c' } };
    assert.deepEqual(tell(chronicle, { node: amended }), []);
  });

  it('a turn once, with what it is for', () => {
    const chronicle = createEventDiff();
    const asks = { reason: 'RunningOther', seen: 's1', message: 'maxPods=110 instead of 120' } as const;
    const asking = settledNode(view, pool, { phase: 'Drifted', awaitsTurn: asks });
    assert.deepEqual(tell(chronicle, { node: asking }), []);
    const granted = { ...asking, spec: { ...asking.spec, turn: { seen: 's1' } } };
    assert.deepEqual(tell(chronicle, { node: granted }), ['RestartGranted']);
    const after = { ...settledNode(view, pool), spec: granted.spec };
    assert.deepEqual([tell(chronicle, { node: after }), tell(createEventDiff(), { node: after })], [[], []]);
    const [said] = eventsOfNode(granted, 'uid');
    assert.equal(said?.note, 'Its turn to restart its kubelet has come: maxPods=110 instead of 120');
  });

  it('a fallback once, though it is an error and a rejection at the same time', () => {
    const chronicle = createEventDiff();
    tell(chronicle, { node: assignedNode(view, pool) });
    assert.deepEqual(tell(chronicle, { node: failedNode(view, pool) }), ['ConfigFellBack']);
  });

  it('a kubelet that keeps ending with what it had proven is no fallback', () => {
    const chronicle = createEventDiff();
    tell(chronicle, { node: settledNode(view, pool) });
    const error = { reason: 'ProvenConfigFails', message: 'it ended 3 times', at: toTimestamp(NOW) };
    assert.deepEqual(tell(chronicle, { node: settledNode(view, pool, { error }) }), ['KubeletBroken']);
  });

  it('a kubelet that goes down at rest, once for each time', () => {
    const chronicle = createEventDiff();
    tell(chronicle, { node: settledNode(view, pool) });
    const down = (at: string) => {
      const lasting = { status: 'False', reason: 'NotHealthy', message: 'refused', lastTransitionTime: at } as const;
      return settledNode(view, pool, { conditions: [{ type: 'KubeletConfigHealthy', ...lasting }] });
    };
    assert.deepEqual(tell(chronicle, { node: down(ago(MINUTE)) }), ['KubeletUnhealthy']);
    assert.deepEqual(tell(chronicle, { node: down(ago(MINUTE)) }), []);
    assert.deepEqual(tell(chronicle, { node: down(ago(0)) }), ['KubeletUnhealthy']);
  });

  it('a conflict, once, on few of many nodes, and again when it comes back', () => {
    const chronicle = createEventDiff();
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const nodes = names.map((name) => nodeView(name, 'web'));
    const fleet = fleetOf({ nodes });
    const told = (isClear: boolean) => {
      const choice = { choice: 'conflict', pools: ['a', 'b'] } as const;
      const skipped = isClear ? [] : nodes.map((node) => ({ node, choice, changing: false }));
      return chronicle({ fleet, at: NOW, planned: { nodes: { skipped } } });
    };
    told(true);
    const [first, ...more] = told(false);
    assert.deepEqual([first?.reason, first?.about.name, more.length], ['NodeInConflict', 'n0', 9]);
    assert.match(first?.note ?? '', /^node n0 is left as it is: a and b select it/);
    assert.deepEqual(told(false), []);
    told(true);
    assert.equal(told(false).length, 10);
  });

  it('a refusal before the kubelet was touched is no fallback', () => {
    const chronicle = createEventDiff();
    tell(chronicle, { node: assignedNode(view, pool) });
    const error = { reason: 'PreflightFailed', message: 'no such cgroup', at: ago(0), config: pool.configName };
    assert.deepEqual(tell(chronicle, { node: assignedNode(view, pool, { error }) }), ['ConfigRefused']);
  });

  it('what became of a config once, where the agent says it as well', () => {
    const said = (config: string, message: string): string | undefined => {
      const rejected = [
        { name: config, sha256: 'x', apply: 'overlay', reason: 'CrashLoop', message, at: ago(0) },
      ] as const;
      return eventsOfNode(assignedNode(view, pool, { rejected }), 'uid').find(({ cause }) => cause === 'CrashLoop')
        ?.note;
    };
    assert.equal(said('web-1', 'web-1 failed its trial: it ended'), 'CrashLoop: web-1 failed its trial: it ended');
    assert.equal(said('web-1', 'web-12 is gone'), 'web-1 was taken back: CrashLoop: web-12 is gone');
    assert.equal(said('web-1', 'exit-code 1'), 'web-1 was taken back: CrashLoop: exit-code 1');
  });

  it('drift each time that it begins again', () => {
    const drifted = (at: string): KubeletNode =>
      settledNode(view, pool, {
        phase: 'Drifted',
        conditions: [
          { type: 'KubeletConfigHealthy', status: 'False', reason: 'Drifted', message: 'm', lastTransitionTime: at },
        ],
      });
    const chronicle = createEventDiff();
    tell(chronicle, { node: settledNode(view, pool) });
    assert.deepEqual(tell(chronicle, { node: drifted(ago(MINUTE)) }), ['ConfigDrifted']);
    assert.deepEqual(tell(chronicle, { node: drifted(ago(MINUTE)) }), []);
    assert.deepEqual(tell(chronicle, { node: settledNode(view, pool) }), []);
    assert.deepEqual(tell(chronicle, { node: drifted(ago(0)) }), ['ConfigDrifted']);
  });
});

describe('after a restart', () => {
  it('what is old is not told again, what is recent is, under the same identity', () => {
    const old = createEventDiff();
    assert.deepEqual(tell(old, { node: settledNode(view, pool, { promotedAt: ago(60 * MINUTE) }) }), []);
    const recent = createEventDiff();
    assert.deepEqual(tell(recent, { node: settledNode(view, pool, { promotedAt: ago(MINUTE) }) }), ['ConfigApplied']);
  });

  it('an assignment that nobody saw being made is not made up', () => {
    assert.deepEqual(tell(createEventDiff(), { node: assignedNode(view, pool) }), []);
  });
});

describe('what is told of a pool', () => {
  const halt = {
    config: pool.configName,
    sha256: pool.sha256,
    at: ago(0),
    message: 'failed on a',
    action: 'halt',
  } as const;

  it('a halt, and a revert by its own name', () => {
    const chronicle = createEventDiff();
    tell(chronicle, { status: { phase: 'Progressing' } });
    assert.deepEqual(tell(chronicle, { status: { phase: 'Halted', halt } }), ['RolloutHalted']);
    const revert = { ...halt, action: 'revert', at: ago(-1_000) } as const;
    assert.deepEqual(tell(chronicle, { status: { phase: 'Halted', halt: revert } }), ['RolloutReverting']);
  });

  it('that nodes wait for their turn, once a payload, whichever budget is used up', () => {
    const status = (nodes: number, reason = 'budget'): KubeletPoolStatus => ({
      phase: 'Progressing',
      sha256: pool.sha256,
      holds: [{ reason, nodes, examples: ['a'], message: 'maxUnavailable allows 1' }],
    });
    const chronicle = createEventDiff();
    tell(chronicle, { status: { phase: 'Settled' } });
    assert.deepEqual(tell(chronicle, { status: status(9) }), ['RateLimited']);
    assert.deepEqual(tell(chronicle, { status: status(8) }), []);
    for (const reason of ['zone-budget', 'overall-budget']) {
      const another = createEventDiff();
      tell(another, { status: { phase: 'Settled' } });
      assert.deepEqual(tell(another, { status: status(9, reason) }), ['RateLimited']);
    }
    const other = createEventDiff();
    tell(other, { status: { phase: 'Settled' } });
    assert.deepEqual(tell(other, { status: status(9, 'window') }), []);
  });

  it('that it is settled, when it becomes so', () => {
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'Settled',
      message: '',
      lastTransitionTime: ago(0),
    } as const;
    const status: KubeletPoolStatus = { phase: 'Settled', configName: 'web-1', sha256: 's', conditions: [ready] };
    const chronicle = createEventDiff();
    tell(chronicle, { status: { phase: 'Progressing', configName: 'web-1', sha256: 's' } });
    assert.deepEqual(tell(chronicle, { status }), ['RolloutSettled']);
    assert.deepEqual(tell(chronicle, { status: { ...status, message: 'other words' } }), []);
  });
});

describe('what is told of people', () => {
  const by = (verb: 'suspend' | 'resume' | 'release', value: string, at = ago(0)) => ({
    [BY_ANNOTATION]: claimText({ verb, at, who: 'ada' }, value),
  });
  const held = (why: string, claimed = why, at?: string) => ({
    annotations: { [SUSPEND_ANNOTATION]: why, ...by('suspend', claimed, at) },
  });
  const going: Partial<KubeletPool['metadata']> = {};

  /** What is told of a pool that is as one after the other, as `reason: note`. */
  function told(
    ...all: readonly (readonly [Partial<KubeletPool['metadata']>, KubeletPoolStatus?])[]
  ): readonly string[] {
    const chronicle = createEventDiff();
    return all.flatMap(([metadata, status = { phase: 'Progressing' }], index) => {
      const present: KubeletPool = { metadata: { name: 'web', uid: 'pool-uid', ...metadata }, status };
      const fleet: Fleet = { ...fleetOf({}), pools: new Map([['web', present]]) };
      return chronicle({ fleet, at: NOW + index * 1_000 }).map(({ reason, note }) => `${reason}: ${note}`);
    });
  }

  it('that they suspend, who, and why; and that they resume', () => {
    assert.deepEqual(told([going], [held('look')], [held('look')], [{ annotations: by('resume', '') }], [going]), [
      'Suspended: Suspended: look. By ada, according to their command line',
      'Resumed: Resumed. By ada, according to their command line',
    ]);
  });

  it('that a suspension was over, once, by the reconciler’s clock', () => {
    const until = held(suspendedUntil(NOW + 2_000, 'look'));
    const time = toTimestamp(NOW + 2_000);
    assert.deepEqual(told([going], [until], [until], [until], [going]), [
      `Suspended: Suspended: until ${time}: look. By ada, according to their command line`,
      `Resumed: Resumed: it was suspended until ${time}: look. That time is over`,
    ]);
  });

  it('that they suspend again, for another reason or later', () => {
    const later = toTimestamp(NOW + 60_000);
    const all = told(
      [going],
      [held('look')],
      [held('more')],
      [{ annotations: by('resume', '') }],
      [held('more', 'more', later)],
    );
    assert.equal(all.length, 4);
  });

  it('nobody’s name for what somebody else wrote over it', () => {
    const [first] = told([going], [held('mine', 'look')]);
    assert.equal(first, 'Suspended: Suspended: mine. The object does not say who did it');
    const silent = { annotations: { [SUSPEND_ANNOTATION]: '' } };
    assert.deepEqual(told([going], [silent], [going], [going]), [
      'Suspended: Suspended: nobody says why. The object does not say who did it',
      'Resumed: Resumed. The object does not say who did it',
    ]);
    assert.equal(told([going], [held('look')], [{ annotations: by('suspend', 'look') }]).length, 2);
  });

  it('that they release, bound to the halt', () => {
    const released = { sha256: 's', haltedAt: ago(60_000), failures: [] };
    const value = `s@${ago(60_000)}`;
    const annotations = { [RELEASE_ANNOTATION]: value, ...by('release', value) };
    assert.deepEqual(
      told([going], [{ annotations }, { phase: 'Progressing', released }], [going, { phase: 'Settled', released }]),
      [`Released: Released: it goes on after the halt of ${ago(60_000)}. By ada, according to their command line`],
    );
  });

  it('nothing twice because another deed took the place of who did it', () => {
    const released = { sha256: 's', haltedAt: ago(60_000), failures: [] };
    const value = `s@${ago(60_000)}`;
    const after = { [SUSPEND_ANNOTATION]: 'look', [RELEASE_ANNOTATION]: value, ...by('release', value) };
    const all = told([going], [held('look')], [{ annotations: after }, { phase: 'Progressing', released }]);
    assert.deepEqual(
      all.map((line) => line.split(':')[0]),
      ['Suspended', 'Released'],
    );
  });

  it('nothing of long ago after a restart', () => {
    assert.deepEqual(told([held('look', 'look', ago(60 * MINUTE))]), []);
    assert.equal(told([held('look', 'look', ago(MINUTE))]).length, 1);
  });
});

describe('what is told of the branch', () => {
  const refused = afterPass(factsOf(COMMIT_B, REFUSAL), SETTLED, ago(0));

  it('that a commit is in force, is refused, has errors, each once', () => {
    const chronicle = createSourceEventDiff();
    const news = (source: KubeletSource): readonly string[] =>
      chronicle(source, NOW).map(({ reason, type, note }) => `${type} ${reason}: ${note}`);
    assert.deepEqual(news(SETTLED), []);
    assert.deepEqual(news(refused), [
      `Warning CommitRefused: Commit ${COMMIT_B.slice(0, 12)} (Change all; author: Mallory) is refused: ${REFUSAL.refusedBecause}`,
    ]);
    assert.deepEqual(news(refused), []);
    const next = factsOf(COMMIT_B, { commit: COMMIT_B, takenUpAt: ago(0) }, { desired: faulty });
    const [came, errors, ...none] = news(afterPass(next, refused, ago(0)));
    assert.match(came ?? '', /^Normal CommitInForce: Commit b{12} \(Raise maxPods; author: Ada\) came into force$/);
    assert.match(errors ?? '', /^Warning ConfigRefused: Commit b{12} \(.*\) has errors: pools\/workers\//);
    assert.deepEqual(none, []);
  });

  it('what is fresh by its date after a restart, and nothing else', () => {
    assert.deepEqual(column(createSourceEventDiff()(refused, NOW), 'reason'), ['CommitRefused']);
    assert.deepEqual(createSourceEventDiff()(refused, NOW + 60 * MINUTE), []);
  });

  it('a pool that keeps what it has, on the pool', () => {
    const invalid = (message: string) => ({
      type: 'ConfigValid',
      status: 'False' as const,
      reason: 'Refused',
      message,
      lastTransitionTime: ago(0),
    });
    const chronicle = createEventDiff();
    tell(chronicle, { status: { phase: 'Settled' } });
    const status = (message: string): KubeletPoolStatus => ({ phase: 'Settled', conditions: [invalid(message)] });
    assert.deepEqual(tell(chronicle, { status: status('a:1: error x: y') }), ['ConfigRefused']);
    assert.deepEqual(tell(chronicle, { status: status('a:1: error x: y') }), []);
    assert.deepEqual(tell(chronicle, { status: status('a:2: error x: y') }), ['ConfigRefused']);
  });
});

it('every reason of an agent is known to have touched the kubelet or not', () => {
  const source = readFileSync('agent/decide/failure.ts', 'utf8');
  const union = source.slice(source.indexOf('FailureReason ='), source.indexOf('export interface Failure'));
  const reasons = [...union.matchAll(/\| '(\w+)'/g)].map(([, reason = '']) => reason);
  const fellBack = reasons.filter(touchedKubelet);
  assert.deepEqual(fellBack.toSorted(), [
    'AgentSilent',
    'CheckpointLost',
    'ConfigContradicted',
    'CrashLoop',
    'FallbackFailed',
    'FilesChanged',
    'Flapping',
    'KubeletBroken',
    'MachineRebooted',
    'NodeHarmed',
    'NodeNotReady',
    'NotHealthy',
    'ProvenConfigFails',
    'RebootFailed',
    'RebootMissing',
    'RecordLost',
    'RestartFailed',
    'UnhealthyBefore',
  ]);
  assert.equal(reasons.length - fellBack.length, 13, 'a word that is never said is in the list');
});

describe('what is told of an object that cannot be read', () => {
  const left = { of: 'pool', name: 'web', uid: 'pool-uid', error: new RangeError('Invalid time value') } as const;
  const scene = (...unreadable: readonly UnreadableObject[]): Fleet => ({ ...fleetOf({}), unreadable });
  it('is that and why, once, on the object', () => {
    const chronicle = createEventDiff();
    const [news, ...more] = chronicle({ fleet: scene(left), at: NOW });
    assert.deepEqual(more, []);
    assert.deepEqual(news?.about, { kind: 'KubeletPool', name: 'web', uid: 'pool-uid' });
    assert.equal(news?.reason, 'CannotBeRead');
    assert.equal(news?.note, 'Nothing is decided about this pool because it cannot be read: Invalid time value');
    assert.deepEqual(chronicle({ fleet: scene(left), at: NOW + MINUTE }), []);
    const again = createEventDiff()({ fleet: scene(left), at: NOW + MINUTE });
    assert.equal(again[0]?.identity, news?.identity, 'the API server knows it by its name');
  });

  it('is nothing where nobody would look for it', () => {
    const fleet = scene({ ...left, uid: '' }, { ...left, of: 'config-source' });
    assert.deepEqual(createEventDiff()({ fleet, at: NOW }), []);
  });

  it('keeps nobody else from being told of, nor from being told of later', () => {
    const chronicle = createEventDiff();
    const good = failedNode(view, pool);
    const bad: KubeletNode = {
      ...good,
      metadata: { name: 'z' },
      get status(): never {
        throw new RangeError('poison');
      },
    };
    const nodes = new Map([view, nodeView('z', 'web')].map((node) => [node.name, node]));
    const kubeletNodes = new Map([
      ['z', bad],
      ['a', good],
    ] as const);
    const told = chronicle({ fleet: { ...fleetOf({}), nodes, kubeletNodes }, at: NOW });
    assert.deepEqual(column(told, 'reason'), ['ConfigFellBack']);
  });
});
