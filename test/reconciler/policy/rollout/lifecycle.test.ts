import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DesiredPool } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { poolStatus } from '#reconciler/policy/pool-status/pool-status.ts';
import { decideGroup } from '#reconciler/policy/rollout/decide-group.ts';
import { failedMembers } from '#reconciler/policy/rollout/halt.ts';
import { LIFECYCLE, type Shown } from '#reconciler/policy/rollout/lifecycle.ts';
import { budgetsOf } from '#reconciler/policy/rollout/max-unavailable.ts';
import { type Member, memberOf, probationIn, soakOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import { quorumOf } from '#reconciler/policy/rollout/quorum.ts';
import { healthySince } from '#reconciler/policy/rollout/waves.ts';
import { type KubeletNode, type KubeletNodeStatus, PROVEN_CONFIG_FAILS } from '#shared/contract/api/kubelet-node.ts';
import type { PoolCounts } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  desiredPool,
  failedNode,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  poolSpec,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';
import { question } from './support/hold-question.ts';
import { onTrialFor, SERVER } from './support/places.ts';

const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
const SILENT = { heartbeat: '2026-01-01T00:00:00Z' };
const FRESH = { promotedAt: toTimestamp(NOW - 60_000) };

const asks = (reason: 'NewBase' | 'StateLost'): Partial<KubeletNodeStatus> => ({
  phase: 'Drifted',
  awaitsTurn: { reason, seen: 's', message: '' },
});
const but = ({ status, ...node }: KubeletNode, more: Partial<KubeletNodeStatus>): KubeletNode => ({
  ...node,
  status: { ...status, ...more },
});
const unblamed = ({ status }: KubeletNode): KubeletNodeStatus['rejected'] & object =>
  (status?.rejected ?? []).map((each) => ({ ...each, reason: 'UnhealthyBefore' }));
const refusing = (node: NodeView): KubeletNode => {
  const { configSource } = assignedNode(node, NEXT).spec ?? {};
  assert.ok(configSource !== undefined);
  const preflight = { outcome: 'refused', sha256: NEXT.sha256, apply: 'overlay', at: 'T' } as const;
  const asked = settledNode(node, OLD, { preflight });
  return { ...asked, spec: { ...asked.spec, preflight: { configSource } } };
};

interface Case {
  readonly is: (node: NodeView) => KubeletNode | undefined;
  readonly view?: Partial<NodeView>;
  /** Nodes keep their places to the end of trial and soak; with a minute of probation where it is absent. */
  readonly full?: true;
}

/** What follows from where a node stands. */
interface Expected {
  readonly word: keyof typeof LIFECYCLE;
  readonly shown: Shown;
  /** What is decided about it, where its turn has come. */
  readonly verdict: string;
  /** As which it is counted in the status of its pool. */
  readonly counted: keyof PoolCounts;
  /** Another node gets the only place of the pool. */
  readonly leavesPlace: boolean;
  /** One that is not Ready, and so unavailable already, gets it: this one is not in change, or gave its place back. */
  readonly isAtRest: boolean;
  /** Another server may begin, where this one is a server. */
  readonly keepsQuorum: boolean;
  /** It counts for the proof of its wave. */
  readonly proves?: true;
  /** It counts for the threshold that halts the pool. */
  readonly fails?: true;
}

const FREE = { leavesPlace: true, isAtRest: true, keepsQuorum: true };
const LEFT = { leavesPlace: true, isAtRest: true, keepsQuorum: false };
const TAKEN = { leavesPlace: false, isAtRest: false, keepsQuorum: false };
const LOST = { leavesPlace: false, isAtRest: true, keepsQuorum: false };
const AWAY = { leavesPlace: false, isAtRest: true, keepsQuorum: true };

/** What most of those are that stand there. */
const OUTDATED = { shown: 'outdated', counted: 'pending', verdict: 'change' } as const;
const UPDATING = { shown: 'updating', counted: 'updating', verdict: 'rest' } as const;
const SOAKS = { shown: 'soaking', counted: 'updated', verdict: 'rest', proves: true } as const;
const FAILED = { shown: 'failed', counted: 'failed', verdict: 'rest', fails: true } as const;
const BROKEN = { shown: 'broken', counted: 'pending', verdict: 'rest' } as const;
const GONE = { shown: 'no-agent', counted: 'noAgent', verdict: 'hold no-agent' } as const;

const ROWS: readonly (readonly [string, Case, Expected])[] = [
  [
    'runs another config, at rest',
    { is: (node) => settledNode(node, OLD) },
    { word: 'outdated', ...OUTDATED, ...FREE },
  ],
  [
    'is in the middle of a change to another config',
    { is: onTrialFor(30, OLD) },
    { word: 'superseded', ...OUTDATED, ...TAKEN },
  ],
  [
    'has yet to begin a change to another config',
    { is: (node) => but(assignedNode(node, OLD), { observedGeneration: 0 }) },
    { word: 'superseded', ...OUTDATED, ...TAKEN },
  ],
  [
    'is past its probation with another config',
    { is: onTrialFor(90, OLD) },
    { word: 'supersededOnTrial', ...OUTDATED, ...LEFT },
  ],
  ['was told, and is not past its probation', { is: onTrialFor(30) }, { word: 'changing', ...UPDATING, ...TAKEN }],
  [
    'would be past its probation, which is to be full',
    { is: onTrialFor(90), full: true },
    { word: 'changing', ...UPDATING, ...TAKEN },
  ],
  [
    'would be past its probation, but has not been Ready for so long',
    { is: onTrialFor(90), view: { readySince: NOW - 30_000 } },
    { word: 'changing', ...UPDATING, ...TAKEN },
  ],
  ['is past its probation', { is: onTrialFor(90) }, { word: 'onTrial', ...UPDATING, ...LEFT }],
  [
    'promoted it lately, with a full probation',
    { is: (node) => settledNode(node, NEXT, FRESH), full: true },
    { word: 'soakingInPlace', ...SOAKS, ...TAKEN },
  ],
  ['promoted it lately', { is: (node) => settledNode(node, NEXT, FRESH) }, { word: 'soaking', ...SOAKS, ...LEFT }],
  [
    'promoted it lately, and needs a restart already',
    { is: (node) => settledNode(node, NEXT, { ...FRESH, ...asks('NewBase') }) },
    { word: 'soaking', ...SOAKS, ...LEFT },
  ],
  [
    'proved it long ago',
    { is: (node) => settledNode(node, NEXT) },
    { word: 'settled', shown: 'settled', counted: 'updated', verdict: 'rest', proves: true, ...FREE },
  ],
  [
    'proved it long ago, and its kubelet keeps ending with it now',
    { is: (node) => settledNode(node, NEXT, { error: { reason: PROVEN_CONFIG_FAILS, message: 'no gate', at: 'T' } }) },
    { word: 'failing', shown: 'failing', counted: 'updated', verdict: 'rest', proves: true, ...AWAY },
  ],
  [
    'needs a restart with what it has proven',
    { is: (node) => settledNode(node, NEXT, asks('NewBase')) },
    { word: 'awaitsTurn', shown: 'awaits-turn', counted: 'updated', verdict: 'change', proves: true, ...FREE },
  ],
  [
    'needs a restart with what it has yet to prove',
    { is: (node) => settledNode(node, NEXT, { ...asks('StateLost'), lastKnownGood: { name: 'local' } }) },
    { word: 'awaitsFirstTurn', shown: 'awaits-turn', counted: 'pending', verdict: 'change', ...FREE },
  ],
  ['took it back', { is: (node) => failedNode(node, NEXT) }, { word: 'failed', ...FAILED, ...LOST }],
  ['refuses it beforehand', { is: refusing }, { word: 'failed', ...FAILED, ...LOST }],
  [
    'takes it back',
    { is: (node) => but(failedNode(node, NEXT), { phase: 'FallingBack' }) },
    { word: 'fallingBack', ...FAILED, ...TAKEN },
  ],
  [
    'does not come back from it',
    { is: (node) => but(failedNode(node, NEXT), { phase: 'Broken' }) },
    { word: 'fallingBack', ...FAILED, ...TAKEN },
  ],
  [
    'runs with none of its configs, and was not healthy before this one either',
    { is: (node) => but(failedNode(node, NEXT), { phase: 'Broken', rejected: unblamed(failedNode(node, NEXT)) }) },
    { word: 'broken', ...BROKEN, ...LOST },
  ],
  [
    'runs with none of its configs, and broke with what it had proven',
    { is: (node) => but(settledNode(node, NEXT), { phase: 'Broken', lastKnownGood: { name: 'local' } }) },
    { word: 'broken', ...BROKEN, ...LOST },
  ],
  ['has no agent', { is: () => undefined }, { word: 'silent', ...GONE, ...AWAY }],
  ['fell silent at rest', { is: (node) => settledNode(node, NEXT, SILENT) }, { word: 'silent', ...GONE, ...AWAY }],
  [
    'took it back and fell silent',
    { is: (node) => but(failedNode(node, NEXT), SILENT) },
    { word: 'silent', ...GONE, fails: true, ...AWAY },
  ],
  [
    'fell silent in the middle of a change',
    { is: (node) => but(onTrialFor(90)(node), SILENT) },
    { word: 'vanished', ...GONE, ...TAKEN },
  ],
];

const COUNTED = ['updated', 'updating', 'pending', 'failed', 'noAgent'] as const;

function countsOf(pool: DesiredPool, member: Member): PoolCounts {
  const memory = { halt: null, released: null, settled: null, proof: null, rollout: null };
  const plan = { group: { pool, members: [member] }, memory, decisions: [] };
  const { counts } = poolStatus(pool, plan, { present: undefined }, '');
  assert.ok(counts !== undefined);
  return counts;
}

describe('a node', () => {
  for (const [name, { is, view, full }, { word, shown, ...effects }] of ROWS) {
    const rollout = { ...poolSpec().rollout, maxUnavailable: 1, soak: '10m', probation: full === true ? 'full' : '1m' };
    const pool = desiredPool({ ...NEXT, spec: { ...NEXT.spec, rollout } });
    const member = (node: NodeView, report: KubeletNode | undefined): Member =>
      memberOf(node, report, targetOf(pool), soakOf(pool), NOW, undefined, probationIn(pool));
    const node = nodeView('a', 'workers', view);
    const found = member(node, is(node));
    const other = member(nodeView('b', 'workers'), settledNode(nodeView('b', 'workers'), OLD));

    it(`that ${name} is ${word}`, () => {
      assert.equal(Object.entries(LIFECYCLE).find(([, each]) => each === found.lifecycle)?.[0], word);
      assert.equal(found.lifecycle.shown, shown);
    });

    it(`that ${name} has the effects of that`, () => {
      const group = { pool, members: [found, other] };
      const fleet = fleetOf({
        nodes: [found, other].map(({ node: each }) => each),
        kubeletNodes: [found, other].flatMap(({ kubeletNode }) => kubeletNode ?? []),
        pools: [poolInCluster(OLD)],
      });
      const budgets = () => budgetsOf([group], [], fleet, [null], NOW);
      const aimed = { member: found, targetKind: 'config', configName: NEXT.configName } as const;
      const noHold = { lockOut: () => null, disruption: () => null };
      const facts = { ...question().facts, group, targets: [aimed], ...noHold };
      const [decision] = decideGroup(facts, budgets());
      const verdict = decision?.verdict;
      const servers = [found, other].map((each) => ({ ...each, node: { ...each.node, labels: SERVER } }));
      const masters = fleetOf({
        nodes: servers.map(({ node: each }) => each),
        kubeletNodes: [...fleet.kubeletNodes.values()],
      });
      const [, server] = servers;
      const ill = { ...other, node: { ...other.node, ready: false } };
      const counts = countsOf(pool, found);
      assert.ok(server !== undefined);
      assert.deepEqual(
        {
          counted: COUNTED.find((name) => counts[name] === 1),
          verdict: verdict?.verdict === 'hold' ? `hold ${verdict.hold}` : verdict?.verdict,
          leavesPlace: budgets().take(group, { member: other, targetKind: 'settled' }) === null,
          isAtRest: budgets().take(group, { member: ill, targetKind: 'settled' }) === null,
          keepsQuorum: quorumOf(servers, [], masters, NOW).hold(server.node) === null,
          ...(healthySince(found) === null ? {} : { proves: true }),
          ...(failedMembers([found]).length === 0 ? {} : { fails: true }),
        },
        effects,
      );
    });
  }

  it('has a row for each word', () => {
    assert.deepEqual([...new Set(ROWS.map(([, , { word }]) => word))].sort(), Object.keys(LIFECYCLE).sort());
  });

  it('keeps its place while it soaks and is not Ready', () => {
    const node = nodeView('a', 'workers', { ready: false });
    const is = settledNode(node, NEXT, FRESH);
    const target = { sha256: NEXT.sha256, apply: NEXT.spec.apply };
    assert.equal(memberOf(node, is, target, 600_000, NOW, undefined, 60_000).lifecycle, LIFECYCLE.soakingInPlace);
  });

  it('of which nobody remembers what it was told changes as long as it is at work, whatever it runs', () => {
    const node = nodeView('a', 'workers');
    const { spec: _, ...lost } = idleNode(node, { phase: 'FallingBack' });
    assert.equal(memberOf(node, lost, null, 0, NOW).lifecycle, LIFECYCLE.changing);
  });
});
