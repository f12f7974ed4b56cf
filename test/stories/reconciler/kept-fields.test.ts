import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DENIED_BY_DEFAULT } from '#shared/contract/kubelet-config/field-policy.ts';
import { GPU, settled, startScenario, WORKER, type Scenario } from '../support.ts';

const PATH = 'pools/general/pool.yaml';
const CLUSTER = 'clusters/demo.yaml';
const NODES = ['worker-1', 'worker-2', 'worker-3'];
const MACHINES = [...NODES.map((name) => ({ name, labels: WORKER })), { name: 'gpu-1', labels: GPU }];
const DENIED = Object.keys(DENIED_BY_DEFAULT).sort();

const running = ({ world }: Scenario, field: string): readonly unknown[] =>
  NODES.map((name) => world.nodes.get(name)?.kubelet.running()?.[field]);
const denying = (files: Scenario['files'], ...fields: readonly string[]): string =>
  `${files[CLUSTER]?.trimEnd()}\n  fields: {deny: [${fields.join(', ')}]}\n`;

// Local configs of the sandbox have rotateCertificates and clusterDomain; only the first is denied by default.
describe('a pool with apply: replace', () => {
  it('keeps what policy denies; a longer list changes nothing by itself, and counts with the next config', async () => {
    await using scenario = await startScenario(MACHINES);
    const { world, files } = scenario;
    /** The commit in force is written before the statuses of its pools are. */
    const settledOn = (commit: string) =>
      world.until('settled', (view) => settled(view) && view.pools.every(({ status }) => status?.commit === commit));
    const text = (files[PATH] ?? '').replace(/^ {2}apply: overlay/m, '  apply: replace');
    const first = await world.git.commit({ files: { [PATH]: text }, message: 'Replace' });
    const view = await settledOn(first);
    assert.deepEqual(
      running(scenario, 'rotateCertificates'),
      NODES.map(() => true),
    );
    assert.deepEqual(
      running(scenario, 'clusterDomain'),
      NODES.map(() => undefined),
    );
    const spec = (name: string, from = view) => from.nodes.find(({ metadata }) => metadata.name === name)?.spec;
    assert.deepEqual(spec('worker-1')?.keepFields, DENIED);
    const generations = view.nodes.map(({ metadata }) => metadata.generation);
    const restarts = scenario.restarts();

    const denies = { [CLUSTER]: denying(files, 'clusterDomain') };
    const second = await world.git.commit({ files: denies, message: 'Deny more' });
    const same = await settledOn(second);
    assert.deepEqual(scenario.restarts(), restarts);
    assert.deepEqual(
      same.nodes.map(({ metadata }) => metadata.generation),
      generations,
    );
    await world.restartReconciler();
    await world.git.commit({ files: { 'README.md': 'Nothing\n' }, message: 'Nothing' });
    const after = await world.until('a new leader has looked', ({ source }) => source.commit !== second);
    assert.deepEqual(
      after.nodes.map(({ metadata }) => metadata.generation),
      generations,
    );
    assert.deepEqual(scenario.restarts(), restarts);

    const third = await scenario.change('general', { maxPods: 166 });
    const changed = await settledOn(third);
    assert.deepEqual(spec('worker-2', changed)?.keepFields, [...DENIED, 'clusterDomain'].sort());
    assert.deepEqual(
      running(scenario, 'clusterDomain'),
      NODES.map(() => 'cluster.local'),
    );
    assert.deepEqual(
      running(scenario, 'maxPods'),
      NODES.map(() => 166),
    );
  });
});
