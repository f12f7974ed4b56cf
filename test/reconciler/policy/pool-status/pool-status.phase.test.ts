import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DesiredPool } from '#reconciler/policy/desired.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import { poolStatus } from '#reconciler/policy/pool-status/pool-status.ts';
import type { MemberDecision, NodeVerdict } from '#reconciler/policy/rollout/decide-group.ts';
import type { HoldReason } from '#reconciler/policy/rollout/holds/hold.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf } from '#reconciler/policy/rollout/membership.ts';
import type { GroupPlan } from '#reconciler/policy/plan-nodes.ts';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { Halt, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { assignedNode, COMMIT_B, nodeView, NOW, settledNode, validPool } from '../../../support/fleet.ts';

const given = validPool('workers', 120);
const target = { sha256: given.sha256, apply: given.spec.apply };
const pool: DesiredPool = {
  name: 'workers',
  origin: 'rendered',
  spec: given.spec,
  config: { name: given.configName, sha256: given.sha256 },
  commit: COMMIT_B,
  findings: [],
};
const AT = '2026-11-21T12:00:00Z';
const HALT: Halt = { config: given.configName, sha256: given.sha256, at: AT, message: 'it failed', action: 'halt' };

/** A node as it stands, and what was decided about it. */
interface Row extends Partial<Member> {
  readonly verdict?: NodeVerdict;
  readonly aim?: MemberDecision['aimed']['targetKind'];
}

function statusOf(rows: readonly Row[], memory: Partial<GroupPlan['memory']> = {}): KubeletPoolStatus {
  const decisions = rows.map(({ verdict = { verdict: 'rest' }, aim = 'config', ...is }, index): MemberDecision => {
    const node = nodeView(`n${index}`, 'workers');
    const member = { ...memberOf(node, is.kubeletNode ?? settledNode(node, given), target, 0, NOW), ...is };
    return { member, aimed: { member, targetKind: aim, configName: given.configName }, verdict };
  });
  const group = { pool, members: decisions.map(({ member }) => member) };
  const remembered = { halt: null, released: null, settled: null, proof: null, rollout: null, ...memory };
  return poolStatus(pool, { group, memory: remembered, decisions }, { present: undefined }, AT);
}

const CHANGE: NodeVerdict = { verdict: 'change', because: '' };
const held = (reason: HoldReason): NodeVerdict => ({ verdict: 'hold', hold: reason, because: 'not now' });
const asks = { lifecycle: LIFECYCLE.awaitsTurn, turnRequest: { reason: 'NewBase', seen: 's', message: '' } } as const;

describe('the phase of a pool', () => {
  const rows: readonly (readonly [string, Row, KubeletPoolStatus['phase']])[] = [
    ['soaks', { lifecycle: LIFECYCLE.soaking }, 'Settled'],
    ['is new and tries what is proven', { lifecycle: LIFECYCLE.changing, joining: true }, 'Settled'],
    ['is new and has no agent', { lifecycle: LIFECYCLE.silent, joining: true }, 'Waiting'],
    ['tries its config and is not new', { lifecycle: LIFECYCLE.changing }, 'Progressing'],
    [
      'is drained',
      { lifecycle: LIFECYCLE.outdated, verdict: { verdict: 'drain', stage: 'evict', because: '' } },
      'Progressing',
    ],
    ['is given the restart that it asks for', { ...asks, verdict: CHANGE }, 'Progressing'],
    ['asks for a restart when others are done', { ...asks, verdict: held('budget') }, 'Waiting'],
    ['asks for a restart when others of its zone are done', { ...asks, verdict: held('zone-budget') }, 'Waiting'],
    ['asks for a restart when other pools are done', { ...asks, verdict: held('overall-budget') }, 'Waiting'],
    ['asks for a restart when another server is done', { ...asks, verdict: held('control-plane') }, 'Waiting'],
    ['asks for a restart in a window', { ...asks, verdict: held('window') }, 'Settled'],
    ['has what it is told', { lifecycle: LIFECYCLE.settled, verdict: CHANGE }, 'Settled'],
  ];
  for (const [name, row, phase] of rows) {
    it(`is ${phase} where the only node that is not settled ${name}`, () => {
      assert.equal(statusOf([{}, row, {}]).phase, phase);
    });
  }

  it('says how many classes of machines there is no room for', () => {
    const proof = { ...writeProof([]), unrecorded: 7 };
    assert.match(statusOf([{}], { proof }).message ?? '', /; .* 7 count as unproven$/);
    assert.doesNotMatch(statusOf([{}], { proof: writeProof([]) }).message ?? '', /unproven/);
  });

  it('counts a node that never reported, and as updated one that only asks for a restart', () => {
    assert.equal(statusOf([asks]).counts?.updated, 1);
    const mute: KubeletNode = { metadata: { name: 'n0' } };
    assert.deepEqual(statusOf([{ kubeletNode: mute }]).counts?.noAgent, 1);
  });
});

describe('the message of a pool', () => {
  const back: readonly Row[] = [
    { aim: 'settled' },
    { aim: 'local', lifecycle: LIFECYCLE.soaking },
    { aim: 'settled', lifecycle: LIFECYCLE.changing },
    { aim: 'config' },
  ];
  const rows: readonly (readonly [string, readonly Row[], Halt | null, string])[] = [
    ['has no nodes', [], null, 'no node matches the selector'],
    ['is empty, whatever halted it', [], HALT, 'no node matches the selector'],
    ['is done', [{}], null, `1 of 1 nodes run ${given.configName}`],
    ['waits', [{ verdict: held('window') }], null, `1 of 1 nodes run ${given.configName}; n0 waits: not now`],
    ['halted', back, HALT, 'it failed'],
    [
      'takes its config back, and cannot everywhere',
      back,
      { ...HALT, action: 'revert' },
      'it failed; 2 of 4 nodes are back; 1 without a config to go back to: n3',
    ],
    [
      'took its config back from a node that asks for a restart since',
      [{ ...asks, aim: 'settled' }],
      { ...HALT, action: 'revert' },
      'it failed; 1 of 1 nodes are back',
    ],
    [
      'takes its config back',
      [...back.slice(0, 3), { aim: 'config', isAssigned: false }],
      { ...HALT, action: 'revert' },
      'it failed; 2 of 3 nodes are back',
    ],
  ];
  for (const [name, nodes, halt, message] of rows) {
    it(`that ${name} says so`, () => assert.equal(statusOf(nodes, { halt }).message, message));
  }
});

describe('what a pool’s status says of a failure', () => {
  const node = nodeView('n0', 'workers');
  const rejected = { ...target, name: 'w-1', reason: 'CrashLoop', message: 'exit 1', at: AT };
  const failureOf = (status: Partial<KubeletNodeStatus>, spec: KubeletNode['spec'] = {}) => {
    const kubeletNode = assignedNode(node, given, status);
    const failed = {
      lifecycle: LIFECYCLE.failed,
      failedAt: AT,
      kubeletNode: { ...kubeletNode, spec: spec && { ...kubeletNode.spec, ...spec } },
    } as const;
    return statusOf([failed]).failures?.[0];
  };
  const expected = { node: 'n0', config: 'w-1', reason: 'CrashLoop', message: 'exit 1', at: AT };
  const earlier = '2026-11-20T12:00:00Z';

  it('is the very rejection that it is about, among others of the same config and at the same time', () => {
    const others = [
      { ...rejected, at: earlier, name: 'w-2' },
      { ...rejected, sha256: 'f'.repeat(64), name: 'w-3' },
    ];
    assert.deepEqual(failureOf({ rejected: [...others, rejected] }), expected);
    const other = { reason: 'KubeletBroken', message: 'nothing helps', at: earlier };
    assert.deepEqual(failureOf({ rejected: others, error: other }), { ...other, node: 'n0', config: given.configName });
  });

  it('is what the check beforehand said, of the config that was checked', () => {
    const answer = { ...target, outcome: 'refused', at: AT } as const;
    const { configSource, ...rest } = assignedNode(node, given).spec ?? {};
    assert.ok(configSource !== undefined);
    const kubeletNode = (preflight: KubeletNodeStatus['preflight']): KubeletNode => ({
      ...assignedNode(node, given, { preflight: preflight ?? null }),
      spec: { ...rest, preflight: { configSource: { ...configSource, name: 'w-9' } } },
    });
    const said = (preflight: KubeletNodeStatus['preflight']) =>
      statusOf([{ lifecycle: LIFECYCLE.failed, failedAt: AT, kubeletNode: kubeletNode(preflight) }]).failures?.[0];
    const found = { node: 'n0', config: 'w-9', reason: 'PreflightFailed', message: '', at: AT };
    assert.deepEqual(said(answer), found);
    assert.deepEqual(said({ ...answer, reason: 'NoRoom', message: 'full' }), {
      ...found,
      reason: 'NoRoom',
      message: 'full',
    });
  });
});

describe('what a person released', () => {
  it('is in the status, and nothing is where nobody did', () => {
    const released = { sha256: given.sha256, haltedAt: AT, failures: [] };
    assert.deepEqual(statusOf([{}], { released }).released, released);
    assert.ok(!('released' in statusOf([{}])));
  });
});
