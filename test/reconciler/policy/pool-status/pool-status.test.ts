import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CommitInForce } from '#reconciler/policy/desired.ts';
import { type KubeletNode, PROVEN_CONFIG_FAILS } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Finding } from '#shared/contract/finding.ts';
import {
  assignedNode,
  commit,
  COMMIT_B,
  failedNode,
  invalidPool,
  nodeView,
  poolSpec,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';
import { fleetWith, statusOf, settled, old, next, a, b } from './support/pool-of-three.ts';

const wide = { rollout: { ...poolSpec().rollout, maxUnavailable: 0 } };
const drifted = settledNode(a, old, { phase: 'Drifted' });
const failing = settledNode(a, old, { error: { reason: PROVEN_CONFIG_FAILS, message: 'no such gate', at: 'T' } });
const silent = settledNode(b, old, { heartbeat: '2026-01-01T00:00:00Z' });
const NONE = { nodes: 3, updated: 0, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 };

describe('the counts and the phase of a pool', () => {
  const [same, another] = [commit(COMMIT_B, old), commit(COMMIT_B, next)];
  const stopped = commit(COMMIT_B, validPool('workers', 120, wide));
  const soaks = commit(COMMIT_B, validPool('workers', 120, { rollout: { ...wide.rollout, soak: '2h' } }));
  const elsewhere = commit(COMMIT_B, validPool('workers', 110, { nodeSelector: { matchLabels: { pool: 'x' } } }));
  const others = settled.slice(1);
  const trying = assignedNode(a, next, { phase: 'Trial' });
  const rows: readonly (readonly [
    string,
    CommitInForce | null,
    readonly KubeletNode[],
    phase: string,
    Partial<KubeletPoolStatus['counts']>,
  ])[] = [
    ['of which every node runs its config', same, settled, 'Settled', { updated: 3 }],
    ['on which somebody changed a file', same, [drifted, ...others], 'Settled', { updated: 3, drifted: 1 }],
    ['of which a node’s kubelet ends with what it had proven', same, [failing, ...others], 'Waiting', { updated: 3 }],
    ['without nodes', elsewhere, [], 'Empty', { nodes: 0 }],
    ['that is about to change', another, settled, 'Progressing', { pending: 3 }],
    ['that may not change', stopped, settled, 'Waiting', { pending: 3 }],
    ['in the middle of a change', stopped, [trying, ...others], 'Progressing', { updating: 1, pending: 2 }],
    ['of which a node soaks', soaks, [settledNode(a, next), ...others], 'Progressing', { updated: 1, pending: 2 }],
    ['of which a node failed', another, [failedNode(a, next), ...others], 'Halted', { failed: 1, pending: 2 }],
    ['of which agents are silent', same, [settledNode(a, old), silent], 'Waiting', { updated: 1, noAgent: 2 }],
  ];
  for (const [name, inForce, kubeletNodes, phase, counts] of rows) {
    it(`${name}: ${phase}`, () => {
      const status = statusOf(inForce, fleetWith(kubeletNodes));
      assert.equal(status?.phase, phase);
      assert.deepEqual(status?.counts, { ...NONE, ...counts });
      const conditions = Object.fromEntries((status?.conditions ?? []).map((each) => [each.type, each.status]));
      assert.deepEqual(conditions, {
        Ready: phase === 'Settled' || phase === 'Empty' ? 'True' : 'False',
        Reconciling: phase === 'Progressing' ? 'True' : 'False',
        Stalled: phase === 'Halted' ? 'True' : 'False',
        ConfigValid: 'True',
      });
    });
  }
});

describe('the status of a pool', () => {
  it('names its commit and its config, and leaves out what is not so', () => {
    const status = statusOf(commit(COMMIT_B, old), fleetWith(settled));
    assert.deepEqual(
      [status?.commit, status?.configName, status?.sha256, status?.observedGeneration],
      [COMMIT_B, old.configName, old.sha256, 1],
    );
    assert.deepEqual(status?.failures, []);
    for (const key of ['halt', 'released', 'holds']) assert.ok(!(key in (status ?? {})), key);
    const fresh = statusOf(commit(COMMIT_B, old), { ...fleetWith(settled), pools: new Map() });
    assert.ok(fresh !== undefined && !('observedGeneration' in fresh));
  });

  it('has no config and no commit where the pool left git', () => {
    const status = statusOf(commit(COMMIT_B, validPool('other', 1)), fleetWith(settled));
    for (const key of ['commit', 'configName', 'sha256']) assert.ok(!(key in (status ?? {})), key);
    assert.equal(status?.conditions?.find(({ type }) => type === 'ConfigValid')?.reason, 'Retiring');
  });

  it('says that its config is refused where the commit is wrong about it, and keeps the one that it has', () => {
    const status = statusOf(commit(COMMIT_B, invalidPool('workers')), fleetWith(settled));
    const valid = status?.conditions?.find(({ type }) => type === 'ConfigValid');
    assert.deepEqual([valid?.status, valid?.reason, status?.configName], ['False', 'Refused', old.configName]);
    assert.equal(
      statusOf(commit(COMMIT_B, old), fleetWith(settled))?.conditions?.find(({ type }) => type === 'ConfigValid')
        ?.reason,
      'Accepted',
    );
  });

  it('has the first five findings, errors first, and how many more there are', () => {
    const finding = (code: string, severity: Finding['severity']): Finding => ({
      code,
      severity,
      message: 'm',
      file: 'f',
    });
    const message = (count: number): string => {
      const warnings = Array.from({ length: count }, (_, index) => finding(`w${index}`, 'warning'));
      const broken = { ...invalidPool('workers'), findings: [...warnings, finding('bad', 'error')] };
      const status = statusOf(commit(COMMIT_B, broken), fleetWith(settled));
      return status?.conditions?.find(({ type }) => type === 'ConfigValid')?.message ?? '';
    };
    assert.match(message(4), /^f: error bad/);
    assert.equal(message(4).split('\n').length, 5);
    assert.match(message(4), /warning w3: m$/);
    assert.equal(message(5).split('\n').length, 6);
    assert.match(message(6), /\b2 \w+$/);
    const broken = {
      ...invalidPool('workers'),
      findings: ['e1', 'w1', 'e2'].map((code) => finding(code, code.startsWith('e') ? 'error' : 'warning')),
    };
    const { conditions = [] } = statusOf(commit(COMMIT_B, broken), fleetWith(settled)) ?? {};
    assert.match(conditions.find(({ type }) => type === 'ConfigValid')?.message ?? '', /e1: m\n.*e2: m\n.*w1: m$/);
  });

  it('has the failures of ten nodes, each with the rejection that it is about', () => {
    const nodes = Array.from({ length: 12 }, (_, index) => nodeView(`n${index}`, 'workers'));
    const fleet = {
      ...fleetWith(nodes.map((node) => failedNode(node, next))),
      nodes: new Map(nodes.map((n) => [n.name, n])),
    };
    const status = statusOf(commit(COMMIT_B, next), fleet);
    assert.equal(status?.failures?.length, 10);
    const at = '2026-11-21T12:00:00Z';
    const why = { reason: 'CrashLoop', message: 'exit-code 1' };
    assert.deepEqual(status?.failures?.[0], { node: 'n0', config: next.configName, ...why, at });
  });

  it('is not halted by a node that broke by itself, and names it', () => {
    const error = { reason: 'KubeletBroken', message: 'nothing helps', at: '2026-11-21T11:00:00Z' };
    const broken = assignedNode(a, next, { phase: 'Broken', error });
    const status = statusOf(commit(COMMIT_B, next), fleetWith([broken, ...settled.slice(1)]));
    assert.deepEqual([status?.phase, status?.failures, status?.counts?.failed], ['Waiting', [], 0]);
    assert.match(status?.message ?? '', /this one is not to blame: a/);
  });
});
