import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeFacts } from '#cli/audit/node-facts.ts';
import { auditSameness } from '#cli/audit/sections/sameness.ts';
import { answering, checkIn, nodesOf } from '../support/facts.ts';

/** Four nodes, the last of which runs more pods. @param pool the label of the last one */
const fleet = (pool: string): readonly NodeFacts[] =>
  ['a', 'b', 'c', 'd'].map((name) =>
    answering(
      { maxPods: name === 'd' ? 200 : 110 },
      { name, labels: { 'node-pool': name === 'd' ? pool : 'general', 'kubernetes.io/hostname': name } },
    ),
  );

describe('how alike the kubelets are', () => {
  it('fails for a node that no label tells from the others, and says why that matters', () => {
    const check = checkIn(auditSameness(fleet('general'), undefined), 'sameness/differs');
    assert.deepEqual(nodesOf(check, 'fail'), ['d']);
    assert.match(check.because ?? '', /no label tells/);
    assert.match(check.fix?.how ?? '', /label/);
  });

  it('fails for none that a label of its own tells from the others, and calls nothing unexplained', () => {
    const check = checkIn(auditSameness(fleet('dense'), undefined), 'sameness/differs');
    assert.deepEqual([nodesOf(check, 'fail'), check.because, check.fix], [[], undefined, undefined]);
  });
});
