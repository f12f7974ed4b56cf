import assert from 'node:assert/strict';
import type { WaveProgress } from '#reconciler/policy/rollout/wave-progress.ts';
import { describe, it } from 'node:test';
import { policyOf } from '#reconciler/policy/cluster-policy.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { absent } from '#reconciler/policy/rollout/holds/absent.ts';
import { noCommit } from '#reconciler/policy/rollout/holds/no-commit.ts';
import { baseRefused } from '#reconciler/policy/rollout/holds/base-refused.ts';
import { busy, poolBlocked } from '#reconciler/policy/rollout/holds/blocked.ts';
import { type Hold, hold, type HoldReason } from '#reconciler/policy/rollout/holds/hold.ts';
import { UNKNOWN_CLASS } from '#reconciler/policy/payload-classes.ts';
import { BEFORE_BEGINNING, firstHold, GATES, OBSTACLES } from '#reconciler/policy/rollout/holds/holds.ts';
import { halted, haltedForNewClass, noConfigSource } from '#reconciler/policy/rollout/holds/impossible.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import type { HoldCheck } from '#reconciler/policy/rollout/holds/hold-question.ts';
import { rest } from '#reconciler/policy/rollout/holds/rest.ts';
import { suspended } from '#reconciler/policy/rollout/holds/suspended.ts';
import { unheard } from '#reconciler/policy/rollout/holds/unheard.ts';
import { analysisPending } from '#reconciler/policy/rollout/holds/analysis.ts';
import { suspendedUntil } from '#reconciler/policy/suspension.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { AnalysisStatus, KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { wave } from '#reconciler/policy/rollout/holds/wave.ts';
import { windowClosed } from '#reconciler/policy/rollout/holds/window-closed.ts';
import {
  annotated,
  type Asked,
  BLOCKERS,
  BUSY,
  CLASS_ROOM,
  CLOSED,
  FINISH,
  HALT,
  NODE,
  PROVEN_GROUP,
  question,
  REVERT,
  under,
  WAVES,
} from '../support/hold-question.ts';
import { failedNode, NOW, settledNode, validPool } from '../../../../support/fleet.ts';

const [noAgent, leaving, notReady, cordoned] = [
  absent('no-agent'),
  absent('leaving'),
  absent('not-ready'),
  absent('cordoned'),
];

const analysed = (verdict: AnalysisStatus['verdict']): AnalysisStatus => ({
  verdict,
  since: '2026-11-21T11:00:00Z',
  message: 'n2 is young',
});

const ASKS = { reason: 'NewBase', seen: 'x', message: '' } as const;

const ON_TRIAL = { config: 'workers-1', since: '', healthySeconds: 5, durationSeconds: 600, restarts: 0 };
/** In the middle of a trial of another config, told just now. */
const tries = (status: KubeletNodeStatus = {}, duration = '10m'): Asked['member'] & {} => ({
  lifecycle: LIFECYCLE.superseded,
  node: { ...NODE, toldSince: NOW },
  kubeletNode: {
    metadata: { name: NODE.name },
    spec: { trial: { duration, startTimeout: '2m', maxRestarts: 2 } },
    status: { phase: 'Trial', trial: ON_TRIAL, ...status },
  },
});
const TRIES = tries();
const triesSince = (ms: number, duration = '10m'): Asked['member'] & {} => ({
  ...tries({}, duration),
  node: { ...NODE, toldSince: NOW - ms },
});

const DRAIN = { config: validPool('workers', 110).configName, at: NOW };
const OTHER = validPool('workers', 77);
const TOOK_BACK: Asked['member'] & {} = {
  ...TRIES,
  lifecycle: LIFECYCLE.outdated,
  kubeletNode: { ...failedNode(NODE, OTHER), spec: { ...failedNode(NODE, OTHER).spec, ...TRIES.kubeletNode?.spec } },
};
/** So many configs before this one were replaced before any was proven. */
const afterMany = (superseded: number): KubeletPool => ({
  metadata: { name: 'workers' },
  status: { rollout: { configName: 'x', sha256: 'x', startedAt: '', waves: [], superseded } },
});

const BACK = { targetKind: 'settled' } as const;
const [BEGUN, OVER] = [under('rolling', '2026-11-21T11:00:00Z'), under('waiting', '2026-11-21T11:00:00Z')];
const PAUSED: WaveProgress = { ...WAVES, pause: 'asked', because: 'ask ada' };
const UNWRITTEN = { ...WAVES, current: null, unwritten: 'it is being written' };
const CANARY = { name: 'canary', nodes: 1, soakMs: 0 };
const DRAINED = { node: { ...NODE, drain: DRAIN } };
const [NOISE, ALERT] = [{ blockers: { quiet: false, because: 'noise' } }, { quiet: false, because: 'an alert fires' }];
const [ILL, GOING] = [{ node: { ...NODE, ready: false } }, { node: { ...NODE, leaving: 'X removes it' } }];
const UNKNOWN = { payloadClass: UNKNOWN_CLASS };
const [WAITING, GONE] = [{ analysis: analysed('waiting') }, { isAvailable: () => false }];
const [BLOCKED, FINISHING] = [{ blockers: BLOCKERS }, { windows: FINISH }];
const CLOSED_NOW = ['window', /Monday/] as const;

/** What is asked, what about, and which hold comes of it with words of why; null where none. */
const ROWS: readonly (readonly [string, HoldCheck, Asked, readonly [HoldReason, RegExp] | null])[] = [
  ['an agent that reports', noAgent, {}, null],
  ['no agent', noAgent, { member: { lifecycle: LIFECYCLE.silent } }, ['no-agent', /no agent reports/]],
  ['no halt', halted, {}, null],
  ['a halt', halted, { facts: { halt: HALT } }, ['halted', /n2 failed/]],
  ['a halt, and what the pool settled on', halted, { facts: { halt: HALT }, aimed: BACK }, null],
  ['bytes that are there', noConfigSource, {}, null],
  ['the local config', noConfigSource, { aimed: { configName: null }, facts: GONE }, null],
  ['bytes not there yet', noConfigSource, { facts: GONE }, ['no-config-source', /not in the cluster yet/]],
  ['lost bytes', noConfigSource, { facts: GONE, aimed: BACK }, ['no-config-source', /no copy is left/]],
  ['a config for its machine', absent('not-computable'), {}, null],
  [
    'no config for its machine',
    absent('not-computable'),
    { member: { unrendered: 'no label pods', payloadClass: UNKNOWN_CLASS } },
    ['not-computable', /^there is no config for its machine: no label pods$/],
  ],
  ['no config for its machine, before a commit was read', haltedForNewClass, { member: UNKNOWN }, null],
  [
    'the same in a halted pool',
    haltedForNewClass,
    { member: UNKNOWN, facts: { halt: HALT } },
    ['halted', /^the pool is halted/],
  ],
  ['a halted pool with a config for its machine', haltedForNewClass, { facts: { halt: HALT } }, null],
  [
    'a config that its kubelet would refuse',
    absent('not-valid'),
    { member: { unrendered: 'kubelet 1.21 would refuse the config' } },
    ['not-valid', /^kubelet 1\.21 would refuse/],
  ],
  ['no analysis', analysisPending, {}, null],
  ['an analysis that passed', analysisPending, { facts: { analysis: analysed('pass') } }, null],
  ['an analysis that came to nothing in time', analysisPending, { facts: { analysis: analysed('unknown') } }, null],
  ['an analysis that waits', analysisPending, { facts: WAITING }, ['analysis', /n2 is young/]],
  ['a suspicion', analysisPending, { facts: { analysis: analysed('suspect') } }, ['analysis', /n2 is young/]],
  ['canaries that are worse', analysisPending, { facts: { analysis: analysed('fail') } }, ['analysis', /n2 is young/]],
  ['a node that was told already', analysisPending, { member: { isAssigned: true }, facts: WAITING }, null],
  ['what its class has proven', analysisPending, { facts: { ...WAITING, group: PROVEN_GROUP } }, null],
  ['a node that goes back', analysisPending, { aimed: BACK, facts: WAITING }, null],
  ['a commit in force', noCommit, {}, null],
  ['no commit in force', noCommit, { facts: { unverified: 'all' } }, ['no-commit', /^no commit is in force since/]],
  [
    'a pool that only its KubeletPool knows',
    noCommit,
    { facts: { unverified: 'pool' } },
    ['no-commit', /^its pool has errors/],
  ],
  ['agents that are believed', unheard, {}, null],
  ['agents that may speak of the past', unheard, { facts: { doubted: ['n1', 'n2'] } }, ['unheard', /: n1, n2$/]],
  ['no wish for a turn', baseRefused, {}, null],
  ['a file that failed nowhere', baseRefused, { member: { turnRequest: { ...ASKS, base: 'a' } } }, null],
  [
    'a file that failed',
    baseRefused,
    { member: { turnRequest: { ...ASKS, base: 'b' } } },
    ['base-refused', /^node n2 failed/],
  ],
  ['no file of its own', baseRefused, { member: { turnRequest: ASKS } }, null],
  ['nobody who suspends', suspended, {}, null],
  [
    'a person who suspends',
    suspended,
    { facts: { present: annotated('look') } },
    ['suspended', /^the pool is suspended \(look\); kubelet-gitops resume/],
  ],
  [
    'without words',
    suspended,
    { facts: { present: annotated('') } },
    ['suspended', /^the pool is suspended; kubelet-gitops resume/],
  ],
  [
    'a person who suspends for a time',
    suspended,
    { facts: { present: annotated(suspendedUntil(NOW + 1_000, 'look')) } },
    ['suspended', /^the pool is suspended \(until \S+Z: look\); kubelet-gitops resume ends it earlier$/],
  ],
  ['a suspension that is over', suspended, { facts: { present: annotated(suspendedUntil(NOW, 'look')) } }, null],
  ['a pool’s file', suspended, { spec: { suspend: true } }, ['suspended', /pool\.yaml/]],
  [
    'a cluster’s file',
    suspended,
    { facts: { policy: { ...policyOf(DEFAULT_CLUSTER), suspend: true } } },
    ['suspended', /cluster's file/],
  ],
  [
    'a cluster’s file that cannot be read',
    suspended,
    { facts: { policy: { ...policyOf(DEFAULT_CLUSTER), unreadable: 'no YAML' } } },
    ['cluster-file', /: no YAML$/],
  ],
  ['a node that leaves its pool', suspended, { leaving: true }, null],

  ['a node that was told another config just now', rest, { member: TRIES }, ['rest', /told another config lately/]],
  ['one that was told it for as long as its trial lasts', rest, { member: triesSince(10 * 60_000) }, null],
  ['one that was told it for less', rest, { member: triesSince(10 * 60_000 - 1) }, ['rest', /^/]],
  [
    'one whose trial lasts for a day, after a quarter of an hour',
    rest,
    { member: triesSince(15 * 60_000, '24h') },
    null,
  ],
  ['and before', rest, { member: triesSince(15 * 60_000 - 1, '24h') }, ['rest', /^/]],
  ['one that took it back', rest, { member: TOOK_BACK, facts: { present: afterMany(2) } }, null],
  [
    'one that took it back, with many in a row',
    rest,
    { member: TOOK_BACK, facts: { present: afterMany(3) } },
    ['rest', /^/],
  ],
  [
    'one that has proven it, with many in a row',
    rest,
    { member: { ...TOOK_BACK, kubeletNode: settledNode(NODE, OTHER) }, facts: { present: afterMany(3) } },
    null,
  ],
  ['one that is through with it', rest, { member: { ...TRIES, lifecycle: LIFECYCLE.outdated } }, null],
  ['one that is not Ready', rest, { member: { ...TRIES, node: { ...NODE, toldSince: NOW, ready: false } } }, null],
  ['one whose kubelet ended', rest, { member: tries({ trial: { ...ON_TRIAL, restarts: 1 } }) }, null],
  ['one that takes it back', rest, { member: tries({ phase: 'FallingBack' }) }, null],
  ['one that is broken', rest, { member: tries({ phase: 'Broken' }) }, null],
  ['what is proven', rest, { member: TRIES, facts: { group: PROVEN_GROUP } }, null],
  ['what is taken back', rest, { member: TRIES, aimed: BACK }, null],
  ['since nobody knows when', rest, { member: { ...TRIES, node: NODE } }, null],

  ['an open window', windowClosed, {}, null],
  ['a closed window', windowClosed, { facts: { windows: CLOSED } }, ['window', /until Monday/]],
  ['a closed window for a node that leaves', windowClosed, { leaving: true, facts: { windows: CLOSED } }, CLOSED_NOW],
  ['an emergency', windowClosed, { rollout: { emergency: 'CVE' }, facts: { windows: CLOSED } }, null],
  ['what is taken back', windowClosed, { facts: { windows: CLOSED, halt: REVERT }, aimed: BACK }, null],
  ['no wave to finish', windowClosed, { rollout: FINISHING, facts: { windows: CLOSED } }, CLOSED_NOW],
  ['a wave that began', windowClosed, { rollout: FINISHING, facts: { windows: CLOSED, waves: BEGUN } }, null],
  [
    'a wave that nobody has begun',
    windowClosed,
    { rollout: FINISHING, facts: { windows: CLOSED, waves: under('rolling') } },
    CLOSED_NOW,
  ],
  ['a wave that is done', windowClosed, { rollout: FINISHING, facts: { windows: CLOSED, waves: OVER } }, CLOSED_NOW],
  [
    'a wave that may not be finished',
    windowClosed,
    { rollout: { windows: { ...FINISH, overrun: 'stop' } }, facts: { windows: CLOSED, waves: BEGUN } },
    CLOSED_NOW,
  ],

  ['no blockers', poolBlocked, { facts: NOISE }, null],
  ['a node that leaves', poolBlocked, { leaving: true, facts: NOISE }, null],
  ['blockers not asked', poolBlocked, { spec: BLOCKED }, ['blocked', /not asked yet/]],
  ['quiet', poolBlocked, { spec: BLOCKED, facts: { blockers: BUSY } }, null],
  ['noise', poolBlocked, { spec: BLOCKED, facts: { blockers: ALERT } }, ['blocked', /^an alert fires$/]],
  [
    'noise, but harm to end',
    poolBlocked,
    { spec: BLOCKED, facts: { halt: REVERT, blockers: { quiet: false, because: 'x' } }, aimed: BACK },
    null,
  ],
  ['nobody asked for pods', busy, { spec: BLOCKED }, null],
  ['no busy node', busy, { spec: BLOCKED, facts: { blockers: { quiet: true, because: '' } } }, null],
  ['a pod', busy, { spec: BLOCKED, facts: { blockers: BUSY } }, ['blocked', /^pod a runs here$/]],
  ['a pod, without blockers', busy, { facts: { blockers: BUSY } }, null],
  ['a pod on a node that leaves', busy, { leaving: true, facts: { blockers: BUSY } }, null],
  ['a pod, but harm to end', busy, { spec: BLOCKED, facts: { halt: REVERT, blockers: BUSY }, aimed: BACK }, null],

  ['no waves', wave, {}, null],
  ['all waves done', wave, { facts: { waves: { ...WAVES, current: null } }, room: 0 }, null],
  ['room in the wave', wave, { facts: { waves: WAVES } }, null],
  ['no room in the wave', wave, { facts: { waves: WAVES }, room: 0 }, ['wave', /^n2 is on trial$/]],
  ['what was found and is not written yet', wave, { facts: { waves: UNWRITTEN } }, ['wave', /^it is being written$/]],
  [
    'a wave that is being written, for a node that is being drained',
    wave,
    { facts: { waves: UNWRITTEN }, member: DRAINED },
    null,
  ],
  ['a full wave, for a node that is being drained', wave, { facts: { waves: WAVES }, room: 0, member: DRAINED }, null],
  [
    'a full wave, for a node that is being drained for another config',
    wave,
    { facts: { waves: WAVES }, room: 0, member: { node: { ...NODE, drain: { ...DRAIN, config: 'x' } } } },
    ['wave', /^n2 is on trial$/],
  ],
  ['that, where its class has proven the config', wave, { facts: { waves: UNWRITTEN, group: PROVEN_GROUP } }, null],
  [
    'a full wave, where its class has proven the config',
    wave,
    { facts: { waves: WAVES, group: PROVEN_GROUP, cohort: new Set() }, room: 0 },
    null,
  ],
  ['what it was told', wave, { facts: { waves: WAVES }, room: 0, member: { isAssigned: true } }, null],
  ['what it goes back to', wave, { facts: { waves: WAVES }, room: 0, aimed: BACK }, null],
  ['room in its class', wave, { classRoom: { ...CLASS_ROOM, room: 1 }, facts: { waves: WAVES } }, null],
  ['no room in its class', wave, { classRoom: CLASS_ROOM, facts: { waves: WAVES } }, ['wave', /^its class waits$/]],
  [
    'one who joined later whose class has no room',
    wave,
    { classRoom: CLASS_ROOM, facts: { waves: { ...WAVES, current: null }, cohort: new Set() } },
    ['wave', /^its class waits$/],
  ],
  ['one who joined later', wave, { facts: { waves: WAVES, cohort: new Set() } }, ['wave', /joined after/]],
  [
    'a wave of others',
    wave,
    { facts: { waves: { ...WAVES, current: { ...CANARY, only: () => false } } } },
    ['wave', /^n2 is on trial$/],
  ],
  ['a pause', wave, { facts: { waves: PAUSED }, room: 0 }, ['approval', /^ask ada$/]],
  ['a pause, for a node that is being drained', wave, { facts: { waves: PAUSED }, room: 0, member: DRAINED }, null],
  ['a pause, for what it was told', wave, { facts: { waves: PAUSED }, room: 0, member: { isAssigned: true } }, null],
  ['a pause, for what it goes back to', wave, { facts: { waves: PAUSED }, room: 0, aimed: BACK }, null],
  [
    'a pause, where its class has proven the config',
    wave,
    { facts: { waves: PAUSED, group: PROVEN_GROUP }, room: 0 },
    null,
  ],
  [
    'a pause before which canaries are compared',
    wave,
    { facts: { waves: { ...PAUSED, pause: 'to-ask' } } },
    ['wave', /^ask ada$/],
  ],
  [
    'a pause before which canaries are compared, by what is compared',
    wave,
    {
      facts: {
        waves: { ...PAUSED, pause: 'to-ask' },
        analysis: { verdict: 'waiting', since: '2026-11-21T12:00:00Z', message: 'too little' },
      },
    },
    ['analysis', /too little/],
  ],
  ['a wave of its own', wave, { facts: { waves: { ...WAVES, current: { ...CANARY, only: () => true } } } }, null],

  ['a node that is Ready', notReady, {}, null],
  ['a node that is not', notReady, { member: ILL }, ['not-ready', /not Ready/]],
  ['a node that the config is to fix', notReady, { rollout: { notReadyNodes: 'change' }, member: ILL }, null],
  ['not Ready, and leaving', notReady, { leaving: true, member: ILL }, ['not-ready', /Ready/]],
  ['a node that takes pods', cordoned, {}, null],
  ['a node that stays', leaving, {}, null],
  ['a node that goes', leaving, { member: GOING }, ['leaving', /X removes it$/]],
  [
    'a node that goes in the middle of a change',
    leaving,
    { member: { lifecycle: LIFECYCLE.superseded, node: { ...NODE, leaving: 'X removes it' } } },
    ['leaving', /X removes it$/],
  ],
  [
    'a node that somebody works on',
    cordoned,
    { member: { node: { ...NODE, cordoned: true } } },
    ['cordoned', /cordoned/],
  ],
];

describe('what holds a node', () => {
  for (const [name, check, asked, expected] of ROWS) {
    it(`${check.name}: ${name} ${expected === null ? 'holds nobody' : `is ${expected[0]}`}`, () => {
      const found: Hold | null = check(question(asked));
      assert.equal(found?.hold, expected?.[0]);
      if (expected !== null) assert.match(found?.because ?? '', expected[1]);
    });
  }

  it('is the first of the reasons in their order: what is impossible, people, the calendar, others, its wave, its canaries', () => {
    const all = question({
      spec: { blockers: BLOCKERS, suspend: true },
      member: {
        turnRequest: { ...ASKS, base: 'b' },
        lifecycle: LIFECYCLE.silent,
        unrendered: 'the Node has no label pods',
        payloadClass: UNKNOWN_CLASS,
        node: { ...NODE, ready: false, cordoned: true, leaving: 'X removes it' },
      },
      facts: {
        unverified: 'all',
        doubted: ['n1'],
        halt: HALT,
        windows: CLOSED,
        waves: WAVES,
        analysis: analysed('fail'),
        blockers: { ...BUSY, quiet: false },
        isAvailable: () => false,
        unselected: new Map([[NODE.name, hold('unselected', 'no pool selects it')]]),
      },
      room: 0,
    });
    const holds = (checks: readonly HoldCheck[]): readonly (string | undefined)[] =>
      checks.map((_, from) => firstHold(checks.slice(from), all)?.hold);
    assert.deepEqual(holds(OBSTACLES), [
      'no-agent',
      'no-commit',
      'unheard',
      'unselected',
      'leaving',
      'halted',
      'not-computable',
      'halted',
      'halted',
      'no-config-source',
      'base-refused',
    ]);
    // Who is not Ready does not rest.
    assert.deepEqual(holds(GATES), ['suspended', 'window', 'blocked', 'blocked', 'wave', 'wave', 'analysis']);
    assert.deepEqual(holds(BEFORE_BEGINNING).slice(0, 3), ['not-ready', 'cordoned', 'suspended']);
    assert.equal(firstHold([...OBSTACLES, ...BEFORE_BEGINNING], question()), null);
    assert.equal(firstHold([], all), null);
  });
});
