import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plain } from '#cli/paint.ts';
import { diagnose } from '#cli/doctor/diagnose/diagnose.ts';
import type { Diagnosis } from '#cli/doctor/diagnosis.ts';
import type { Facts } from '#cli/doctor/facts.ts';
import { allSettled } from '#cli/status/all-settled.ts';
import { filterStatus } from '#cli/status/filter-status.ts';
import { nodeReasonsOf } from '#cli/status/node-reasons.ts';
import { renderStatus } from '#cli/status/render.ts';
import { type CommitInForce, desiredState } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import { conflictsAmong, formatConflicts } from '#reconciler/policy/pool-selection/conflict-lines.ts';
import { NO_SIGNALS } from '#reconciler/policy/signals.ts';
import { type AttentionKind, attentionOf } from '#reconciler/reporting/attention.ts';
import { type CommitOutcome, noteInForce } from '#reconciler/reporting/notes/commit-note.ts';
import type { SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { buildModel } from '#reconciler/reporting/status-page/build-model.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { CONFIG_HEALTH, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { FailedWrite, KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  commit,
  COMMIT_A,
  COMMIT_B,
  configSource,
  failedNode,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../../support/fleet.ts';
import { SOURCE } from '../../reconciler/reporting/status-page/pass-results.ts';

/**
 * The worlds in which screens contradicted each other. Whatever is wrong in one is a value of `attentionOf`, and each screen says that and
 * nothing of its own.
 */

const [old, next] = [validPool('workers', 110), validPool('workers', 120)];
const [a, b, c] = ['a', 'b', 'c'].map((name) => nodeView(name, 'workers')) as [NodeView, NodeView, NodeView];
const AT = toTimestamp(NOW - 3_600_000);
const young = nodeView('d', 'workers', { createdAt: NOW - 60_000 });

/** What one of three nodes reports; the others run and have proven `next`. */
const with_ = (report: (node: NodeView) => KubeletNode): readonly KubeletNode[] => [
  report(a),
  settledNode(b, next),
  settledNode(c, next),
];
const unwell = (reason: string, message: string): Pick<KubeletNode['status'] & object, 'conditions'> => ({
  conditions: [{ type: CONFIG_HEALTH, status: 'False', reason, message, lastTransitionTime: AT }],
});
const broken = (node: NodeView): KubeletNode => {
  const failed = failedNode(node, next);
  const error = { reason: 'KubeletBroken', message: 'every config fails', at: AT };
  const rejected = (failed.status?.rejected ?? []).map((each) => ({ ...each, reason: 'UnhealthyBefore' }));
  return { ...failed, status: { ...failed.status, phase: 'Broken', error, rejected } };
};
const halt = { config: next.configName, sha256: next.sha256, at: AT, message: 'failed on a', action: 'halt' } as const;
const refused = {
  refusedCommit: COMMIT_B,
  refusedReason: 'mass-unassign',
  refusedBecause: 'it would send 3 nodes home',
};

/** One of its nodes runs it, and a person is asked about the others. */
const paused = validPool('workers', 120, { rollout: { ...next.spec.rollout, canary: { nodes: 1, pause: true } } });
const WAITS: KubeletPool['status'] = {
  rollout: {
    configName: next.configName,
    sha256: next.sha256,
    startedAt: AT,
    waves: [
      { name: 'canary', nodes: 1, state: 'done', startedAt: AT, doneAt: AT, pausedAt: AT },
      { name: 'rest', nodes: 3, state: 'waiting' },
    ],
  },
};
const ONE = [settledNode(a, old), settledNode(b, next), settledNode(c, old)];

interface World {
  readonly wanted?: typeof next;
  readonly nodes?: readonly NodeView[];
  readonly kubeletNodes: readonly KubeletNode[];
  readonly pool?: Partial<KubeletPool>;
  readonly others?: readonly ReturnType<typeof validPool>[];
  readonly source?: Partial<SourceState>;
  readonly unwritten?: readonly FailedWrite[];
}

interface Says {
  readonly attention: readonly AttentionKind[];
  readonly exit: 0 | 1;
  readonly note: CommitOutcome;
  /** What `--why` says of node `a`: its standing, and what is done. */
  readonly why: string;
}

const ALL = with_((node) => settledNode(node, next));
const WORLDS: Readonly<Record<string, readonly [World, Says]>> = {
  settled: [{ kubeletNodes: ALL }, { attention: [], exit: 0, note: 'settled', why: 'settled, nothing to do' }],
  rolling: [
    { kubeletNodes: with_((node) => assignedNode(node, next, { phase: 'Trial' })) },
    { attention: [], exit: 1, note: 'progressing', why: 'updating, nothing to do' },
  ],
  halted: [
    { kubeletNodes: with_((node) => failedNode(node, next)) },
    { attention: ['pool-halted'], exit: 1, note: 'halted', why: 'failed, nothing to do' },
  ],
  'halted, and the cause is gone': [
    { kubeletNodes: ALL, pool: { status: { halt } } },
    { attention: ['pool-halted'], exit: 1, note: 'halted', why: 'settled, nothing to do' },
  ],
  'broken by itself': [
    { kubeletNodes: with_(broken) },
    { attention: ['node-broken'], exit: 1, note: 'progressing', why: 'broken, look at it' },
  ],
  drifted: [
    {
      kubeletNodes: with_((node) =>
        settledNode(node, next, {
          phase: 'Drifted',
          ...unwell('Drifted', 'the kubelet runs maxPods=33 instead of 120'),
        }),
      ),
    },
    { attention: ['node-drifted'], exit: 1, note: 'settled', why: 'drifted, look at it' },
  ],
  'kubelet down': [
    { kubeletNodes: with_((node) => settledNode(node, next, unwell('NotHealthy', 'connect ECONNREFUSED'))) },
    { attention: ['node-unhealthy'], exit: 1, note: 'settled', why: 'unhealthy, look at it' },
  ],
  'write failing': [
    {
      kubeletNodes: with_((node) => settledNode(node, old)),
      unwritten: [{ write: 'assign', node: 'a', pool: 'workers', since: AT, message: '500 Internal error' }],
    },
    { attention: ['write-failing'], exit: 1, note: 'progressing', why: 'outdated, change now' },
  ],
  'suspended and forgotten': [
    { kubeletNodes: ALL, pool: { metadata: suspendedBy('for the fair') } },
    { attention: ['pool-suspended'], exit: 0, note: 'settled', why: 'settled, nothing to do' },
  ],
  'waiting for a person': [
    { wanted: paused, kubeletNodes: ONE, pool: { status: WAITS } },
    { attention: ['pool-paused'], exit: 1, note: 'progressing', why: 'outdated, approval' },
  ],
  'waiting for a person, and halted': [
    { wanted: paused, kubeletNodes: ONE, pool: { status: { ...WAITS, halt } } },
    { attention: ['pool-halted'], exit: 1, note: 'halted', why: 'outdated, halted' },
  ],
  'a joiner in a halted pool': [
    {
      nodes: [a, b, c, young],
      kubeletNodes: [...with_((node) => failedNode(node, next)), idleNode(young)],
      pool: { status: { halt } },
    },
    { attention: ['pool-halted'], exit: 1, note: 'halted', why: 'failed, nothing to do' },
  ],
  'commit refused': [
    { kubeletNodes: ALL, source: refused },
    { attention: ['commit-refused'], exit: 1, note: 'settled', why: 'settled, nothing to do' },
  ],
  conflict: [
    { kubeletNodes: ALL, others: [validPool('rivals', 90, { nodeSelector: { matchLabels: { pool: 'workers' } } })] },
    { attention: ['commit-faulty'], exit: 1, note: 'partly-refused', why: '-, conflict' },
  ],
  'agent silent': [
    { kubeletNodes: with_((node) => settledNode(node, next, { heartbeat: AT })) },
    { attention: ['agent-silent'], exit: 1, note: 'progressing', why: 'no-agent, no-agent' },
  ],
};

function suspendedBy(why: string): KubeletPool['metadata'] {
  return { name: 'workers', generation: 1, annotations: { [SUSPEND_ANNOTATION]: why } };
}

/** All screens of one world, each from what its program has: the leader from its pass, the others from the cluster's objects. */
function screensOf(world: World) {
  const { wanted = next, nodes = [a, b, c], kubeletNodes, pool, others = [], source = {}, unwritten = [] } = world;
  const present = poolInCluster(wanted, pool?.status);
  const before = fleetOf({
    nodes,
    kubeletNodes,
    configSources: [old, next, ...others].map((each) => configSource(each)),
    pools: [
      { ...present, metadata: { ...present.metadata, ...pool?.metadata } },
      ...others.map((each) => poolInCluster(each)),
    ],
  });
  const inForce: CommitInForce = commit(COMMIT_A, wanted, ...others);
  const desired = desiredState(inForce, before, () => []);
  const settings = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
  const planned = plan(desired, before, settings, NOW, { ...NO_SIGNALS, unwritten });
  const pools = [...before.pools.values()].map((each) => ({
    ...each,
    status: planned.pools.get(each.metadata.name) ?? {},
  }));
  const fleet = { ...before, pools: new Map(pools.map((each) => [each.metadata.name, each])) };
  const leftAlone = formatConflicts(conflictsAmong(planned.nodes.skipped));
  const state: SourceState = { ...SOURCE, findings: leftAlone.join('\n'), ...source };
  const view = { source: state, pools, nodes: kubeletNodes };
  const round = {
    fleet,
    desired,
    planned,
    applied: { done: 0, left: 0 },
    source: state,
    unreadable: [],
    tip: null,
    at: NOW,
  };
  const model = buildModel(round, { cluster: 'prod', version: '1', forge: undefined }, NOW);
  const part = <T>(value: T) => ({ read: true, value }) as const;
  const facts = {
    ...Object.fromEntries(UNREAD.map((name) => [name, { read: false, code: 'KUBE_NOT_FOUND', why: '' }])),
    now: NOW,
    source: part(state),
    pools: part(pools),
    kubeletNodes: part(kubeletNodes),
    nodes: part(nodes),
    stamps: [],
  } as unknown as Facts;
  return {
    attention: attentionOf(view, NOW),
    exit: allSettled(view) ? 0 : 1,
    why: nodeReasonsOf(fleet, state, 'kubelet-gitops', NOW),
    status: renderStatus(view, plain, NOW),
    problems: renderStatus(
      filterStatus(view, { pool: undefined, node: undefined, hasProblems: true }, NOW).shown,
      plain,
      NOW,
    ),
    model,
    doctor: diagnose(facts).filter(({ code }) => !UNREADABLE.has(code)),
    note: noteInForce('prod', COMMIT_A, desired, planned.pools, null, leftAlone),
  };
}

const UNREAD = ['audit', 'crds', 'reconciler', 'agents', 'pods', 'lease', 'webhookService', 'missingRights'];
const UNREADABLE: ReadonlySet<string> = new Set(['not-readable', 'no-leader', 'clock-skew']);

type Screens = ReturnType<typeof screensOf>;

const onThePage = ({ model: { banners, nodes, pools } }: Screens): string =>
  [
    ...banners.flatMap(({ title, text, remedies }) => [title, text, ...remedies]),
    ...nodes.map(({ because }) => because),
    ...pools.flatMap(({ says, haltLines }) => [says, ...haltLines]),
  ].join('\n');

const inDoctor = ({ doctor }: Screens): string =>
  doctor.map(({ what, runbook = '' }: Diagnosis) => `${what} ${runbook}`).join('\n');

for (const [name, [world, says]] of Object.entries(WORLDS)) {
  describe(`a cluster that is ${name}`, () => {
    const screens = screensOf(world);
    const { attention, exit, why, model, note } = screens;

    it('is judged once', () => {
      const [first] = why;
      assert.deepEqual(
        {
          attention: attention.map(({ kind }) => kind),
          exit,
          note: note.outcome,
          why: `${first?.standing}, ${first?.now}`,
        },
        says,
        screens.status,
      );
    });

    it('is judged alike by the leader, and by who has only what the cluster says', () => {
      assert.deepEqual(
        model.nodes.map(({ name: node, now, because }) => [node, now, because]),
        why.map(({ node, now, because }) => [node, now, because]),
      );
    });

    it('says on every screen what needs a person, in the same words', () => {
      const texts: Readonly<Record<string, string>> = {
        status: screens.status,
        'status --problems': screens.problems,
        page: onThePage(screens),
        doctor: inDoctor(screens),
      };
      for (const { kind, name: who, lines, runbook = '' } of attention) {
        // Status has a column for silence, and the age of each report.
        const screensWith = Object.entries(texts).filter(
          ([screen]) => kind !== 'agent-silent' || !screen.startsWith('status'),
        );
        for (const [screen, text] of screensWith) {
          for (const words of [who, ...lines, runbook])
            assert.ok(text.includes(words), `${screen} lacks ${words}:\n${text}`);
        }
        const row = why.find(({ node }) => node === who);
        if (row !== undefined) assert.ok(row.because.includes(lines[0]), `--why: ${row.because}`);
        if (kind === 'pool-halted')
          assert.deepEqual(
            note.pools.map((each) => each.halt?.message),
            [lines[0]],
          );
      }
    });

    it('alarms on no screen without a reason', () => {
      const isCalm = attention.length === 0;
      assert.equal(model.banners.length === 0, isCalm, onThePage(screens));
      assert.equal(screens.doctor.length === 0, isCalm, inDoctor(screens));
      assert.equal(
        /runbook/.test(screens.status),
        attention.some(({ kind }) => kind !== 'pool-suspended' && kind !== 'commit-faulty' && kind !== 'agent-silent'),
      );
    });
  });
}
