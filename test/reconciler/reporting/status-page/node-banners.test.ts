import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KubeletNode, PROVEN_CONFIG_FAILS } from '#shared/contract/api/kubelet-node.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { buildModel } from '#reconciler/reporting/status-page/build-model.ts';
import type { Banner } from '#reconciler/reporting/status-page/model.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import {
  commit,
  COMMIT_A,
  failedNode,
  fleetOf,
  idleNode,
  NOW,
  nodeView,
  poolInCluster,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';
import { passResultOf } from './pass-results.ts';

const HOUR_MS = 3_600_000;
const WORKERS = validPool('workers', 110, {
  rollout: { maxUnavailable: 9, soak: '0s', onFailure: { threshold: 9, action: 'halt' } },
});
const RIVAL = validPool('rival', 120, { nodeSelector: { matchLabels: { pool: 'shared' } } });
const OTHER = validPool('shared', 130);
const node = (name: string, view: Partial<NodeView> = {}): NodeView => nodeView(name, 'workers', view);

function bannersOf(nodes: readonly NodeView[], kubeletNodes: readonly KubeletNode[]): readonly Banner[] {
  const pools = [WORKERS, RIVAL, OTHER];
  const fleet = fleetOf({ nodes, kubeletNodes, pools: pools.map((pool) => poolInCluster(pool)) });
  const round = passResultOf({ fleet, inForce: commit(COMMIT_A, ...pools) });
  return buildModel(round, { cluster: 'prod', version: '1.2.3', forge: undefined }, NOW).banners;
}

/** One node of the pool `workers`, with what its agent says. */
const bannersOfOne = (told: (view: NodeView) => KubeletNode, view: Partial<NodeView> = {}): readonly Banner[] =>
  bannersOf([node('n-1', view)], [told(node('n-1', view))]);

describe('what the page says of single nodes before anything else', () => {
  it('names nodes that took a config back while their pool goes on, the first few with the reason', () => {
    const nodes = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5'].map((name) => node(name));
    const [banner, ...more] = bannersOf(
      nodes,
      nodes.map((each, index) => (index === 0 ? settledNode(each, WORKERS) : failedNode(each, WORKERS))),
    );
    assert.deepEqual([banner?.tone, more], ['busy', []]);
    assert.equal(banner?.title, '4 nodes are back from a config that failed there');
    assert.deepEqual(banner?.text.split('\n'), [
      'n-2: CrashLoop: exit-code 1',
      'n-3: CrashLoop: exit-code 1',
      'n-4: CrashLoop: exit-code 1',
      'and 1 more',
    ]);
  });

  it('is alarmed by a kubelet that is healthy with none of its configs', () => {
    const [banner] = bannersOfOne((view) => settledNode(view, WORKERS, { phase: 'Broken' }));
    assert.deepEqual([banner?.tone, banner?.title], ['bad', '1 node is healthy with none of its configs']);
  });

  it('is alarmed by a kubelet that keeps ending with what it had proven', () => {
    const error = { reason: PROVEN_CONFIG_FAILS, message: 'unrecognized feature gate', at: toTimestamp(NOW) };
    const [banner, ...more] = bannersOfOne((view) => settledNode(view, WORKERS, { error }));
    assert.deepEqual([banner?.tone, banner?.title, more], ['bad', '1 node is not in order with a proven config', []]);
    assert.equal(banner?.text, 'n-1: unrecognized feature gate');
  });

  it('names nodes that two pools want', () => {
    const view = nodeView('n-1', 'shared');
    const [banner] = bannersOf([view], [idleNode(view)]);
    assert.equal(banner?.title, 'Two pools want the same nodes');
    assert.match(banner?.text ?? '', /^node n-1 is left as it is: rival and shared select it with the same priority/);
  });

  it('names nodes that drifted, and those whose agents report no more', () => {
    const [drifted] = bannersOfOne((view) => settledNode(view, WORKERS, { phase: 'Drifted' }));
    assert.equal(drifted?.title, '1 node is drifted from its config');
    const heartbeat = toTimestamp(NOW - HOUR_MS);
    const [silent] = bannersOfOne((view) => settledNode(view, WORKERS, { heartbeat }));
    assert.equal(silent?.title, '1 node is without an agent that reports');
  });

  it('names nodes of which nobody sees what they run', () => {
    const unseen = {
      type: 'RunningConfigSeen',
      reason: 'Untrusted',
      message: 'another certificate',
      lastTransitionTime: '',
    };
    const bannerOf = (status: 'False' | 'Unknown') =>
      bannersOfOne((view) => settledNode(view, WORKERS, { conditions: [{ ...unseen, status }] }))[0];
    assert.equal(bannerOf('False')?.title, '1 node is with a running config that cannot be seen');
    assert.match(bannerOf('False')?.text ?? '', /n-1: Untrusted: another certificate/);
    assert.equal(bannerOf('Unknown'), undefined);
  });

  it('waits for the first report of a node that is new, for an hour', () => {
    const young = [node('n-1', { createdAt: NOW - HOUR_MS })];
    const old = [node('n-1', { createdAt: NOW - HOUR_MS - 1 })];
    assert.deepEqual(bannersOf(young, []), []);
    assert.equal(bannersOf(old, [])[0]?.title, '1 node is without an agent that reports');
  });
});
