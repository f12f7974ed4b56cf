import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { planConfigSources } from '#reconciler/policy/plan-config-sources.ts';
import { commit, COMMIT_B, configSource, fleetOf, NOW, poolInCluster, validPool } from '../../support/fleet.ts';

const HOUR = 3_600_000;
const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: HOUR };
const workers = validPool('workers', 110);
const accept = () => [];

describe('a config source', () => {
  it('is made again where it can be edited, and nothing more is done to one that somebody keeps from being deleted', () => {
    const steps = (passing: 'editable' | 'leaving') => {
      const fleet = fleetOf({ configSources: [configSource(workers, { defect: passing })] });
      const of = (...pools: Parameters<typeof commit> extends [string, ...infer P] ? P : never) =>
        planConfigSources(desiredState(commit(COMMIT_B, ...pools), fleet, accept), fleet, SETTINGS, NOW + 9 * HOUR);
      return [of(workers), of()].map((planned) => planned.map(({ step }) => step));
    };
    assert.deepEqual(steps('editable'), [['delete-config-source', 'create-config-source'], ['delete-config-source']]);
    assert.deepEqual(steps('leaving'), [['create-config-source'], []]);
  });

  it('of a pool that is only known from the cluster is not made again from nothing', () => {
    const fleet = fleetOf({ pools: [poolInCluster(workers)], configSources: [configSource(workers, { sha256: 'x' })] });
    assert.deepEqual(planConfigSources(desiredState(null, fleet, accept), fleet, SETTINGS, NOW), []);
  });

  it('is made of all that is known of it', () => {
    const fleet = fleetOf({});
    const [step] = planConfigSources(desiredState(commit(COMMIT_B, workers), fleet, accept), fleet, SETTINGS, NOW);
    const { configName: name, sha256, payload } = workers;
    assert.deepEqual(step, {
      step: 'create-config-source',
      pool: 'workers',
      config: { name, sha256, payload },
      commit: COMMIT_B,
    });
  });
});
