import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withFields } from '#sandbox/demo/template-repository.ts';
import { startScenario } from '../support.ts';

const FILE = 'clusters/demo.yaml';
const LAYER = 'pools/general/kubelet.yaml';

describe('a commit that renames the folder of the cluster files, and changes a pool', () => {
  it('restarts no kubelet, over a restart of the reconciler as well, and goes out once the file is back', async () => {
    await using scenario = await startScenario();
    const { world, files } = scenario;
    const policy = `${files[FILE] ?? assert.fail(`the template has no ${FILE}`)}  maxUnavailable: 2\n`;
    await scenario.settledOn(await world.git.commit({ files: { [FILE]: policy }, message: 'Bound all pools' }));
    const before = scenario.restarts();
    const renamed = await world.git.commit({
      files: { [FILE]: null, 'cluster/demo.yaml': policy, [LAYER]: withFields(files[LAYER] ?? '', { maxPods: 150 }) },
      message: 'Rename a folder',
    });
    const isHeld = (): Promise<unknown> =>
      world.until(
        'the pool to wait for the file of the cluster',
        ({ source, pools }) =>
          source.commit === renamed &&
          pools.some(({ status }) => status?.holds?.some(({ reason }) => reason === 'cluster-file') === true),
      );
    await isHeld();
    await world.restartReconciler();
    await isHeld();
    assert.deepEqual(scenario.restarts(), before);

    await scenario.settledOn(await world.git.commit({ files: { [FILE]: policy }, message: 'Put it back' }));
    for (const name of ['worker-1', 'worker-2', 'worker-3']) {
      assert.equal(world.nodes.get(name)?.kubelet.running()?.['maxPods'], 150);
    }
  });
});
