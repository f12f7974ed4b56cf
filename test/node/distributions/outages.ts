import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { EVERY_POINT } from '../../support/sample.ts';
import { until } from '../../support/until.ts';
import { TRIAL } from '../support/assignments.ts';
import { type DistributionNode, type DistributionWorld, startDistributionNode } from '../support/distribution-node.ts';
import { rancherLayout } from '../support/distributions/rancher.ts';
import { say } from '../support/say.ts';

/** Minutes that servers are away for with the default `trial.startTimeout`, with `--all`. */
const MINUTES = [3, 5, 15];
const DEFAULT_START_TIMEOUT = '2m';

/** What keeps k3s and RKE2 from starting a kubelet at all. */
export function describeOutages(world: DistributionWorld, name: 'k3s' | 'rke2'): void {
  describe(`a node of ${name} that does not get at its kubelet`, { concurrency: 1 }, () => {
    let node: DistributionNode;
    let maxPods = 50;
    /** One that no other story had. */
    const another = (): { readonly maxPods: number } => ({ maxPods: (maxPods += 1) });
    before(async () => {
      node = await startDistributionNode(world, { name: `${name}-outages`, layout: rancherLayout(name, 'agent') });
      await node.agent.enable();
      await node.settlesOn(await node.assignments.assign(another()));
    });
    after(() => node?.stop());

    const isInstalled = async (text: string): Promise<boolean> => ((await node.dropIn()) ?? '').includes(text);
    const passes = async (seconds: number): Promise<void> => {
      const end = performance.now() + seconds * 1000;
      await until(`${seconds} seconds to pass`, async () => performance.now() > end, { withinMs: 2 * seconds * 1000 });
    };

    const outlasts = async (t: TestContext, seconds: number, startTimeout: string): Promise<void> => {
      const before = await node.runs();
      const fields = another();
      const good = await node.assignments.assign(fields, { trial: { ...TRIAL, startTimeout } });
      await node.waits('its file', () => isInstalled(`${fields.maxPods}`));
      await node.api.cut();
      await node.waits('another run', async () => (await node.runs()).starts > before.starts);
      await passes(seconds);
      assert.equal(await node.healthy(), false, 'no kubelet starts without its servers');
      assert.ok(await isInstalled(`${fields.maxPods}`), 'nobody took it back');
      await node.api.fix();
      const began = performance.now();
      await node.settlesOn(good);
      say(t, `servers away for ${seconds} s; back → promoted`, began);
      assert.equal((await node.runs()).starts, before.starts + 1);
      assert.equal((await node.configz())['maxPods'], fields.maxPods);
    };

    it('takes a good change whose kubelet waits for the servers longer than it may take to start', (t) =>
      outlasts(t, 45, '25s'));

    const skip =
      !EVERY_POINT &&
      `SKIPPED: npm run test:node -- --all keeps the servers away for ${MINUTES.join(', ')} minutes, with the default start timeout`;
    it('takes a good change, however long its kubelet waits for the servers', { skip }, async (t) => {
      for (const minutes of MINUTES) await outlasts(t, 60 * minutes, DEFAULT_START_TIMEOUT);
    });

    it('takes a good change whose images are imported for longer than a kubelet may take to start', async (t) => {
      await node.set({ STARTER_IMPORT: '35s' });
      const before = await node.runs();
      const began = performance.now();
      const fields = another();
      const good = await node.assignments.assign(fields, { trial: { ...TRIAL, startTimeout: '25s' } });
      await node.settlesOn(good);
      say(t, 'an import of 35 s: assigned → promoted', began);
      assert.equal((await node.runs()).starts, before.starts + 1);
      assert.equal((await node.configz())['maxPods'], fields.maxPods);
      await node.set({ STARTER_IMPORT: '0s' });
    });
  });
}
