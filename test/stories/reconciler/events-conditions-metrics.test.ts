import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import type { EventObject } from '#reconciler/reporting/events/event-object.ts';
import { EVENTS, NODES } from '#shared/kube/kube.ts';
import type { Condition, KubeObject } from '#shared/contract/api/object.ts';
import { until } from '../../support/until.ts';
import { WITHOUT_PROMTOOL } from '../../support/required-tools.ts';
import { configOf, PATIENCE_MS, phaseOf, type Scenario, startScenario } from '../support.ts';

const DEADLY = { maxOpenFiles: 20 };

const seen = (what: string, look: () => boolean): Promise<unknown> =>
  until(what, look, { withinMs: PATIENCE_MS, everyMs: 50 });

const eventsOf = ({ world }: Scenario): readonly EventObject[] =>
  world.api.store.list(EVENTS) as readonly KubeObject[] as readonly EventObject[];

const told = (scenario: Scenario): ReadonlySet<string> =>
  new Set(eventsOf(scenario).map(({ reason, regarding }) => `${reason} ${regarding.name}`));

function conditionOn({ world }: Scenario, node: string): Condition | undefined {
  const { status } = world.api.store.get(NODES, node) as { readonly status?: { readonly conditions?: Condition[] } };
  return status?.conditions?.find(({ type }) => type === 'KubeletConfigHealthy');
}

it('a good and a bad commit are told as Events, as a condition on the Node, and in numbers', async () => {
  await using scenario = await startScenario();
  const { world } = scenario;
  await scenario.settledOn(await scenario.change('general', { maxPods: 150 }));
  await seen('Events of the good commit', () => told(scenario).has('ConfigApplied worker-3'));
  await seen('a healthy node', () => conditionOn(scenario, 'worker-1')?.status === 'True');

  await scenario.change('general', DEADLY);
  await world.until('halted', (view) => phaseOf(view, 'general') === 'Halted');
  const expected = [
    'RolloutHalted general',
    'RolloutSettled general',
    'ConfigAssigned worker-1',
    'CommitInForce kubelet-gitops',
  ];
  await seen(
    'Events of both',
    () => expected.every((each) => told(scenario).has(each)) && [...told(scenario)].some((each) => FAILED.test(each)),
  );
  const fallback = eventsOf(scenario).find(({ reason, regarding }) => FAILED.test(`${reason} ${regarding.name}`));
  assert.equal(fallback?.type, 'Warning');
  assert.match(fallback.note, /^(\w+: )?general-\w{10} (was taken back|was refused|failed its trial)/);

  const scrape = await world.metrics();
  assert.match(scrape, /^kubelet_gitops_pool_phase\{pool="general",phase="Halted"\} 1$/m);
  assert.match(scrape, /^kubelet_gitops_pool_nodes\{pool="general",state="failed"\} 1$/m);
  assert.match(scrape, /^kubelet_gitops_(fallbacks|node_refusals)_total\{pool="general",reason="\w+"\} 1$/m);
  assert.match(scrape, /^kubelet_gitops_rollout_last_node_seconds_count\{pool="general"\} [1-9]/m);
  assert.match(scrape, /^kubelet_gitops_api_requests_total\{verb="patch",resource="nodes\/status",code="200"\} \d/m);
  assert.match(scrape, /^kubelet_gitops_leader 1$/m);
});

const FAILED = /^Config(FellBack|Refused) worker-/;

describe('a world in which a rollout has settled', () => {
  let scenario: Scenario;
  before(async () => {
    scenario = await startScenario();
  });
  after(() => scenario.world.stop());

  it('promtool finds nothing wrong with a scrape of the reconciler', { skip: WITHOUT_PROMTOOL }, async () => {
    const input = await scenario.world.metrics();
    const { status, stderr, stdout } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    assert.equal(status, 0, `${stderr}${stdout}`);
  });

  it('a reconciler that starts again tells nothing twice', async () => {
    const view = await scenario.settledOn(await scenario.change('general', { maxPods: 150 }));
    // Events are told in order, and this one last; that of the commit before does not count.
    const config = configOf(view, 'general') ?? '';
    const isLast = ({ reason, note }: EventObject): boolean => reason === 'RolloutSettled' && note.includes(config);
    await seen('the Event of the pool', () => eventsOf(scenario).some(isLast));
    const told = eventsOf(scenario).map(({ metadata, series }) => [metadata.name, series]);
    await scenario.world.restartReconciler();
    await until(
      'the new one to have told all that it knows',
      async () => /^kubelet_gitops_events_total\{outcome="known"\} [4-9]/m.test(await scenario.world.metrics()),
      { withinMs: PATIENCE_MS, everyMs: 50 },
    );
    assert.deepEqual(
      eventsOf(scenario).map(({ metadata, series }) => [metadata.name, series]),
      told,
    );
  });
});
