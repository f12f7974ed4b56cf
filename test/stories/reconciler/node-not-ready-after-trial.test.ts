import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NODES } from '#shared/kube/kube.ts';
import { startScenario, WORKER } from '../support.ts';

const POOL = 'pools/general/pool.yaml';
const ILL = 'worker-4';
const FIXES = 170;

describe('a config that makes a node NotReady long after its trial', () => {
  it('is fixed by the next commit once that says so, and not before', async () => {
    await using scenario = await startScenario();
    const { world, files } = scenario;
    let harms = false;
    await world.addNode({
      name: ILL,
      labels: WORKER,
      fault: ({ maxPods }) =>
        harms && maxPods !== FIXES ? { fault: 'not-ready', reason: 'PLEG is not healthy' } : null,
    });
    await scenario.settledOn(await scenario.change('general', { maxPods: 160 }));

    harms = true;
    world.nodes.get(ILL)?.kubelet.kill();
    await world.until('it to be NotReady', () => !isReady(world.api.store.get(NODES, ILL)));
    const fixing = await scenario.change('general', { maxPods: FIXES });
    const waits = await world.until(
      'the ill node to keep everybody waiting',
      ({ source, pools }) =>
        source.commit === fixing &&
        pools.some(({ status }) => status?.holds?.some(({ reason }) => reason === 'not-ready') === true),
    );
    const holds = waits.pools.flatMap(({ status }) => status?.holds ?? []);
    assert.deepEqual(holds.map(({ reason, nodes }) => `${reason} ${nodes}`).sort(), ['budget 3', 'not-ready 1']);
    const [waiting] = holds.filter(({ reason }) => reason === 'budget');
    assert.match(waiting?.message ?? '', /; unavailable already: worker-4$/);
    assert.ok(!isReady(world.api.store.get(NODES, ILL)));

    const text = files[POOL] ?? '';
    const allowed = text.replace(/^ {2}rollout:\n/m, '$&    notReadyNodes: change\n');
    assert.notEqual(allowed, text);
    await scenario.settledOn(
      await world.git.commit({ files: { [POOL]: allowed }, message: 'Fix the ill one as well' }),
    );
    assert.ok(isReady(world.api.store.get(NODES, ILL)));
    assert.equal(world.nodes.get(ILL)?.kubelet.running()?.['maxPods'], FIXES);
  });
});

function isReady(node: unknown): boolean {
  const { status } = node as { readonly status: { readonly conditions: readonly { type: string; status: string }[] } };
  return status.conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');
}
