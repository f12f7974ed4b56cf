import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { PROVEN_CONFIG_FAILS, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { assignedNode, commit, COMMIT_B, failedNode, settledNode } from '../../../support/fleet.ts';
import { a, b, c, fleetWith, next, old, settled, statusOf } from './support/pool-of-three.ts';

const rest = settled.slice(1);
const failed = failedNode(a, next);
const reference = { name: next.configName, sha256: next.sha256, apply: 'overlay' } as const;
const onTrial = assignedNode(b, next, { phase: 'Trial', assigned: reference, active: reference });
const unblamed = assignedNode(b, next, { error: { reason: 'UnhealthyBefore', message: 'm', at: 'T' } });
const silent = { heartbeat: '2026-01-01T00:00:00Z' };

/** @param nodes as the cluster has them; absent for three that are Ready */
function impactOf(kubeletNodes: readonly KubeletNode[], nodes: readonly NodeView[] = [a, b, c]) {
  const fleet = { ...fleetWith(kubeletNodes), nodes: new Map(nodes.map((node) => [node.name, node])) };
  return statusOf(commit(COMMIT_B, next), fleet)?.impact;
}

describe('what a halt means for what runs', () => {
  const rows: readonly (readonly [string, string, RegExp, readonly KubeletNode[], (readonly NodeView[])?])[] = [
    [
      'all nodes went back and are Ready',
      'none',
      /^nothing gets worse while nobody acts; 0 nodes run the failed config, 3 nodes run what they ran before; this can wait/,
      [failed, ...rest],
    ],
    [
      'one runs the config, and proved it',
      'none',
      /1 node runs the failed config, 2 nodes run/,
      [failed, settledNode(b, next), settledNode(c, old)],
    ],
    [
      'the node that failed is not Ready',
      'users',
      /^a got the config and is not Ready: .*act now/,
      [failed, ...rest],
      [{ ...a, ready: false }, b, c],
    ],
    [
      'a node that never got the config is not Ready',
      'none',
      /c is not Ready and never got the config; this can wait/,
      [failed, ...rest],
      [a, b, { ...c, ready: false }],
    ],
    [
      'a kubelet runs with none of its configs',
      'users',
      /^the kubelet runs with none of its configs on a: .*; 0 nodes run the failed config, 2 nodes run what they ran before$/,
      [{ ...failed, status: { ...failed.status, phase: 'Broken' } }, ...rest],
    ],
    [
      'a kubelet keeps ending with it after it was proven',
      'users',
      /^the kubelet keeps ending on b: /,
      [
        failed,
        settledNode(b, next, { error: { reason: PROVEN_CONFIG_FAILS, message: 'm', at: 'T' } }),
        rest[1] ?? failed,
      ],
    ],
    [
      'a trial goes on',
      'changing',
      /^still being changed or taken back: b; look again in a few minutes; 1 node runs the failed config, 2 nodes run what/,
      [failed, onTrial, settledNode(c, old)],
    ],
    [
      'a node in its trial is not Ready yet',
      'changing',
      /^still being changed/,
      [failed, assignedNode(b, next, { phase: 'Trial' }), settledNode(c, old)],
      [a, { ...b, ready: false }, c],
    ],
    [
      'a node took it back, is not Ready still, and its agent waits until it is',
      'users',
      /^b got the config and is not Ready/,
      [failed, unblamed, settledNode(c, old)],
      [a, { ...b, ready: false }, c],
    ],
    [
      'an agent is gone in the middle of a change',
      'none',
      /0 nodes run the failed config, 2 nodes run what they ran before, one node does not say what runs there; this can/,
      [failed, assignedNode(b, next, { phase: 'Trial', ...silent }), settledNode(c, old)],
    ],
    [
      'an agent is gone in the middle of a change, and its node is not Ready',
      'users',
      /^b got the config and is not Ready/,
      [failed, assignedNode(b, next, { phase: 'Trial', ...silent }), settledNode(c, old)],
      [a, { ...b, ready: false }, c],
    ],
  ];
  for (const [name, risk, message, kubeletNodes, nodes] of rows) {
    it(`${risk} where ${name}`, () => {
      const impact = impactOf(kubeletNodes, nodes);
      assert.equal(impact?.risk, risk);
      assert.match(impact?.message ?? '', message);
    });
  }

  it('is said of halted pools alone', () => {
    assert.equal(impactOf(settled), undefined);
  });
});
