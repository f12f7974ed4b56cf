import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RELEASE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { releaseValue } from '#reconciler/policy/rollout/halt.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { steps } from './support/drive-fleet.ts';

const SPEC = { disruption: { allow: ['restart' as const, 'drain' as const], drainTimeout: '10m' } };
const POOL_B = validPool('workers', 100, SPEC, { topologyManagerScope: 'pod' });

/** Nodes that settled on a config, and a commit that wants them drained. @param asked whether their agents can be asked */
function story(asked: boolean): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of ['n1', 'n2']) fleet.addNode(nodeView(name, 'workers'));
  fleet.inForce = commit(COMMIT_A, validPool('workers', 100, SPEC));
  fleet.rounds(12);
  if (asked) {
    for (const name of ['n1', 'n2']) {
      const { status = {} } = fleet.fleet.kubeletNodes.get(name) ?? {};
      fleet.report(name, { ...status, preflight: { outcome: 'ready' } });
    }
  }
  fleet.inForce = commit(COMMIT_B, POOL_B);
  fleet.reconcile();
  return fleet;
}

const asked = (fleet: FleetSimulation): string | undefined =>
  fleet.fleet.kubeletNodes.get('n1')?.spec?.preflight?.configSource.sha256;
/** SHA-256 of the pool's payload. */
const wanted = (fleet: FleetSimulation): string => statusOf(fleet).sha256 ?? '';
const statusOf = (fleet: FleetSimulation): KubeletPoolStatus => fleet.fleet.pools.get('workers')?.status ?? {};

/** Until nothing more is done, a minute a round. */
function until(fleet: FleetSimulation, done: () => boolean): readonly string[] {
  const all: string[] = [];
  for (let round = 0; round < 40 && !done(); round += 1) {
    all.push(...steps(fleet));
    for (const { node, step } of all.map((each) => ({ step: each.split(' ')[0], node: each.split(' ')[1] ?? '' }))) {
      if (step === 'evict') fleet.drained(node);
    }
    fleet.agentsStep();
    fleet.now += 60_000;
    for (const name of ['n1', 'n2']) fleet.beat(name);
  }
  return all;
}

describe('a node whose pods have to leave for a config', () => {
  it('is asked first, and drained once its agent finds nothing wrong with it', () => {
    const fleet = story(true);
    assert.deepEqual(steps(fleet), ['amend n1']);
    assert.deepEqual(steps(fleet), [], 'it is asked once, and the other node waits: the budget is one');
    assert.equal(asked(fleet), wanted(fleet));
    fleet.agentsStep();
    assert.deepEqual(steps(fleet), ['cordon n1']);
    assert.deepEqual(steps(fleet), ['evict n1']);
    fleet.drained('n1');
    assert.deepEqual(steps(fleet), ['assign n1']);
    assert.equal(asked(fleet), undefined, 'the question ends with the assignment');
  });

  it('keeps what it was told while it is asked', () => {
    const fleet = story(true);
    const { spec: before } = fleet.fleet.kubeletNodes.get('n1') ?? {};
    steps(fleet);
    const { preflight: _, ...after } = fleet.fleet.kubeletNodes.get('n1')?.spec ?? {};
    assert.deepEqual(after, before);
  });

  it('is drained without a question where its agent is too old to be asked', () => {
    assert.deepEqual(steps(story(false)), ['cordon n1']);
  });

  it('waits while its agent cannot check the config', () => {
    const fleet = story(true);
    steps(fleet);
    const { status = {} } = fleet.fleet.kubeletNodes.get('n1') ?? {};
    const about = { sha256: wanted(fleet), apply: 'overlay' as const };
    const answer = { ...about, outcome: 'unavailable' as const, reason: 'VersionUnknown', message: 'no Node' };
    fleet.report('n1', { ...status, observedGeneration: 99, preflight: answer });
    assert.deepEqual(steps(fleet), []);
  });

  it('is not believed for another config, or for the same one applied otherwise', () => {
    for (const other of [{ sha256: 'f'.repeat(64) }, { apply: 'replace' as const }]) {
      const fleet = story(true);
      steps(fleet);
      const about = { sha256: wanted(fleet), ...other };
      const { status = {} } = fleet.fleet.kubeletNodes.get('n1') ?? {};
      fleet.report('n1', { ...status, observedGeneration: 99, preflight: { outcome: 'passed', ...about } });
      assert.deepEqual(steps(fleet), []);
    }
  });
});

describe('a node whose agent refuses a config beforehand', () => {
  const refusedStory = (): FleetSimulation => {
    const fleet = story(true);
    fleet.refused.add(wanted(fleet));
    assert.deepEqual(
      until(fleet, () => statusOf(fleet).halt !== undefined),
      ['amend n1'],
    );
    return fleet;
  };

  it('keeps its pods and its config, and the pool halts and says why', () => {
    const fleet = refusedStory();
    const { failures, phase } = statusOf(fleet);
    assert.equal(phase, 'Halted');
    const config = statusOf(fleet).configName;
    assert.deepEqual(
      failures?.map(({ node, config: failed, reason, message }) => [node, failed, reason, message]),
      [['n1', config, 'PreflightFailed', 'there is no such cgroup']],
    );
    assert.equal(fleet.fleet.nodes.get('n1')?.cordoned, false);
    assert.deepEqual(fleet.evicted, []);
    assert.deepEqual(steps(fleet), []);
  });

  it('is asked once more when a person lets the pool go on, and drained when all is well then', () => {
    const fleet = refusedStory();
    fleet.refused.clear();
    const { halt } = statusOf(fleet);
    assert.ok(halt !== undefined);
    fleet.annotatePool('workers', { [RELEASE_ANNOTATION]: releaseValue(halt) });
    const done = until(fleet, () => statusOf(fleet).phase === 'Settled');
    assert.deepEqual(done.slice(0, 3), ['amend n1', 'cordon n1', 'evict n1']);
    assert.ok(done.includes('assign n2'));
  });

  it('fails once more where it refuses it once more', () => {
    const fleet = refusedStory();
    const { halt } = statusOf(fleet);
    assert.ok(halt !== undefined);
    fleet.now += 60_000;
    fleet.annotatePool('workers', { [RELEASE_ANNOTATION]: releaseValue(halt) });
    until(fleet, () => (statusOf(fleet).halt?.at ?? halt.at) !== halt.at);
    assert.equal(statusOf(fleet).phase, 'Halted');
    assert.deepEqual(fleet.evicted, []);
  });

  it('is well again with the next commit', () => {
    const fleet = refusedStory();
    fleet.inForce = commit(COMMIT_A, validPool('workers', 100, SPEC));
    until(fleet, () => statusOf(fleet).phase === 'Settled');
    assert.deepEqual(statusOf(fleet).failures, []);
  });
});
