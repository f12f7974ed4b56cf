import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { summariseHolds } from '#reconciler/policy/pool-status/holds-summary.ts';
import type { NodeVerdict } from '#reconciler/policy/rollout/decide-group.ts';
import { hold, type HoldReason } from '#reconciler/policy/rollout/holds/hold.ts';
import { memberOf } from '#reconciler/policy/rollout/membership.ts';
import { nodeView, NOW } from '../../../support/fleet.ts';

describe('why nodes wait', () => {
  const held = (reason: HoldReason): NodeVerdict => ({ verdict: 'hold', ...hold(reason, `${reason} of one`) });
  const summary = (...verdicts: readonly NodeVerdict[]) =>
    summariseHolds(
      verdicts.map((verdict, index) => {
        const node = nodeView(`n${index}`, 'workers');
        const member = memberOf(node, undefined, null, 0, NOW);
        return { member, aimed: { member, targetKind: 'config', configName: null }, verdict };
      }),
    );

  it('is summed up by reason, with the one that holds most first, and by name where that is the same', () => {
    const found = summary(
      held('window'),
      held('wave'),
      held('budget'),
      held('wave'),
      { verdict: 'rest' },
      held('cordoned'),
    );
    assert.deepEqual(
      found.map(({ reason, nodes }) => `${reason} ${nodes}`),
      ['wave 2', 'budget 1', 'cordoned 1', 'window 1'],
    );
    assert.deepEqual(found[0], { reason: 'wave', nodes: 2, examples: ['n1', 'n3'], message: 'wave of one' });
  });

  it('names five of many', () => {
    const [first] = summary(...Array.from({ length: 7 }, () => held('wave')));
    assert.deepEqual([first?.nodes, first?.examples], [7, ['n0', 'n1', 'n2', 'n3', 'n4']]);
  });
});
