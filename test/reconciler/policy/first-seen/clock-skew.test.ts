import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutClockSkew } from '#reconciler/policy/first-seen/clock-skew.ts';
import { assignedNode, idleNode, nodeView, NOW } from '../../../support/fleet.ts';
import { heard, lookAt, MINUTE, node, type Seen, soaked, stamp, unselected, workers } from './support/look.ts';

describe('the fleet as decisions see it', () => {
  const sighted = (given: Seen) => {
    const { fleet, sights } = lookAt(given);
    const own = withoutClockSkew(fleet, sights);
    const { unableSince: _, ...view } = own.nodes.get('a') ?? node;
    return { node: view, status: own.kubeletNodes.get('a')?.status };
  };
  const own = { firstSeen: 0, readySince: NOW };

  it('has the times of its sights in place of those of other machines', () => {
    const status = { heartbeat: heard.stamp, promotedAt: stamp(NOW - 10 * MINUTE) };
    const given = { status, view: { labels: {}, drainFailed: { config: 'c', at: NOW + 5, times: 1 } } };
    assert.deepEqual(sighted(given), {
      node: {
        ...nodeView('a', 'workers', given.view),
        ...own,
        ...unselected('labels'),
        drainFailed: { config: 'c', at: NOW, times: 1 },
      },
      status: { heartbeat: new Date(NOW).toISOString(), promotedAt: soaked?.own },
    });
    const toldLongAgo = { kubeletNodes: [assignedNode(node, workers)], last: { assigned: 5 } };
    assert.equal(sighted(toldLongAgo).node?.assignedSince, 5);
    const { poolChange } = sighted({ pool: 'gone' }).node ?? {};
    assert.deepEqual(poolChange, { to: 'workers', since: NOW, by: 'commit' });
  });

  it('has a mark on nodes whose status may be from the past', () => {
    const { node: marked } = sighted({ status: { heartbeat: heard.stamp }, ahead: 60 * MINUTE });
    assert.equal(marked.doubted, true);
  });

  it('is as it was where nobody looked, where an agent has said nothing, and where nobody can read what it says', () => {
    const { fleet } = lookAt({});
    assert.deepEqual(withoutClockSkew(fleet, { nodes: new Map(), sources: new Map() }), fleet);
    assert.deepEqual(sighted({}), { node: { ...node, ...own }, status: {} });
    assert.deepEqual(sighted({ status: { heartbeat: 'soon' }, last: { heartbeat: heard } }).status, {
      heartbeat: 'soon',
    });
    assert.deepEqual(sighted({ last: { drainFailed: { stamp: 3, at: 3 } } }).node, { ...node, ...own });
    const mute = idleNode(node);
    const { status: _, ...bare } = mute;
    assert.equal(sighted({ kubeletNodes: [bare] }).status, undefined);
  });
});
