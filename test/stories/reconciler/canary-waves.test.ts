import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { StatusView } from '#cli/status/render.ts';
import { phaseOf, type Scenario, startScenario } from '../support.ts';
import { columns } from '../../support/columns.ts';

const DEADLY = { maxOpenFiles: 20 };
const PATH = 'pools/general/pool.yaml';

/** Gives the pool of three workers another way to roll out, and waits until everything is rolled out. */
async function rollOut(scenario: Scenario, rollout: readonly string[]): Promise<StatusView> {
  const text = (scenario.files[PATH] ?? '').replace(/^ {2}rollout:\n(?: {4}.*\n| *#.*\n)*/m, '');
  const block = ['  rollout:', ...rollout.map((line) => `    ${line}`), ''].join('\n');
  const commit = await scenario.world.git.commit({
    files: { [PATH]: `${text.trimEnd()}\n${block}` },
    message: 'Waves',
  });
  return scenario.settledOn(commit);
}

const poolOf = (view: StatusView): StatusView['pools'][number] | undefined =>
  view.pools.find(({ metadata }) => metadata.name === 'general');

describe('a rollout in waves', () => {
  let scenario: Scenario;
  before(async () => {
    scenario = await startScenario();
  });
  after(() => scenario.world.stop());

  it('begins with one canary, goes on when it has soaked, and says in the status how far it is', async () => {
    await rollOut(scenario, ['maxUnavailable: 3', 'canary:', '  nodes: 1', '  soak: 1h']);
    const restarts = scenario.restarts();
    const commit = await scenario.change('general', { maxPods: 155 });
    const soaking = await scenario.world.until(
      'the canary to soak',
      (view) =>
        view.source.commit === commit &&
        poolOf(view)?.status?.rollout?.waves[0]?.state === 'soaking' &&
        poolOf(view)?.status?.counts?.updated === 1,
    );
    const changed = Object.entries(scenario.restarts()).filter(([name, starts]) => starts !== restarts[name]);
    assert.equal(changed.length, 1, 'nobody but the canary restarted');
    assert.deepEqual(columns(poolOf(soaking)?.status?.holds, 'reason', 'nodes'), [['wave', 2]]);
    const done = await rollOut(scenario, ['maxUnavailable: 3', 'canary:', '  nodes: 1', '  soak: 2s']);
    assert.deepEqual(
      poolOf(done)?.status?.rollout?.waves.map(({ name, state }) => `${name} ${state}`),
      ['canary done', 'rest done'],
    );
  });

  it('of a payload that kills kubelets costs the canary one fallback, and is taken back without anybody', async () => {
    await rollOut(scenario, [
      'maxUnavailable: 3',
      'canary:',
      '  nodes: 1',
      'onFailure:',
      '  threshold: 1',
      '  action: revert',
    ]);
    const restarts = scenario.restarts();
    await scenario.change('general', DEADLY);
    const halted = await scenario.world.until(
      'halted, and every node back on what it ran before',
      (view) =>
        phaseOf(view, 'general') === 'Halted' &&
        (poolOf(view)?.status?.message ?? '').endsWith('3 of 3 nodes are back') &&
        view.nodes.every(
          ({ spec, status }) =>
            status?.phase === 'Idle' && status.active?.name === (spec?.configSource?.name ?? 'local'),
        ),
    );
    const touched = Object.entries(scenario.restarts()).filter(([name, starts]) => starts !== restarts[name]);
    assert.equal(touched.length, 1, 'two of three kubelets never saw it');
    assert.match(poolOf(halted)?.status?.message ?? '', /go back to what the pool settled on before/);
  });
});
