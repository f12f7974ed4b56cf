import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BlockersAnswer, blockersQueries } from '#reconciler/policy/pool-blockers.ts';
import { selectorText } from '#reconciler/cluster/blockers/blocking-pods.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import { plan } from '#reconciler/policy/plan.ts';
import {
  commit,
  COMMIT_A,
  configSource,
  fleetOf,
  nodeView,
  NOW,
  poolInCluster,
  poolSpec,
  settledNode,
  validPool,
} from '../../support/fleet.ts';
import { column } from '../../support/columns.ts';

const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
const blockers = { prometheus: { url: 'http://p', query: 'x' } };
const rollout = { ...poolSpec().rollout, maxUnavailable: 2 };
const old = validPool('workers', 110, { blockers, rollout });
const next = validPool('workers', 120, { blockers, rollout });
const [a, b] = [nodeView('a', 'workers'), nodeView('b', 'workers')];
const fleet = fleetOf({
  nodes: [a, b],
  kubeletNodes: [settledNode(a, old), settledNode(b, old)],
  configSources: [configSource(old), configSource(next)],
  pools: [poolInCluster(old, { phase: 'Settled' })],
});
const desired = desiredState(commit(COMMIT_A, next), fleet, () => []);

function assignedWith(answer?: BlockersAnswer): readonly string[] {
  const answers = new Map(answer === undefined ? [] : [['workers', answer]]);
  const { steps } = plan(desired, fleet, SETTINGS, NOW, { blockers: answers, drains: new Map() });
  return steps.flatMap((step) => (step.step === 'assign' ? [step.node.metadata.name] : []));
}

describe('a pool with blockers', () => {
  it('changes nobody before they were asked', () => assert.deepEqual(assignedWith(), []));

  it('changes nobody while they are not quiet', () => {
    assert.deepEqual(assignedWith({ quiet: false, because: 'noise' }), []);
  });

  it('goes on when they are', () => assert.deepEqual(assignedWith({ quiet: true, because: '' }), ['a', 'b']));

  it('leaves out a node where a pod runs that must not', () => {
    assert.deepEqual(assignedWith({ quiet: true, because: '', busy: new Map([['a', 'x']]) }), ['b']);
  });
});

describe('the pools that are asked for', () => {
  it('are those with something to do', () => {
    assert.deepEqual(column(blockersQueries(desired, fleet), 'name'), ['workers']);
  });

  it('leave out a pool at rest', () => {
    const same = desiredState(commit(COMMIT_A, old), fleet, () => []);
    assert.deepEqual(blockersQueries(same, fleet), []);
  });
});

it('a selector is written as the API reads it', () => {
  const matchExpressions = [
    { key: 'tier', operator: 'In', values: ['a', 'b'] },
    { key: 'zone', operator: 'NotIn', values: ['c'] },
    { key: 'busy', operator: 'Exists' },
    { key: 'done', operator: 'DoesNotExist' },
  ] as const;
  const text = selectorText({ matchLabels: { app: 'backup' }, matchExpressions });
  assert.equal(text, 'app=backup,tier in (a,b),zone notin (c),busy,!done');
});
