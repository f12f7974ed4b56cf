import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { nodeSkipReason as whyNoKubelet } from '../cluster/support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../cluster/support/control-plane.ts';
import { installManifests, renumber } from '../cluster/support/programs.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { bundleAgent } from './support/agent-service.ts';
import { TRIAL } from './support/assignments.ts';
import { type NodeUnderTest, startNodeUnderTest } from './support/node-under-test.ts';
import { nodeSkipReason as whyNoMachine } from './support/tree.ts';

const skip = (await whyNoKubelet()) || (await whyNoMachine());

/** As docs/upgrade.md says, on a real systemd: the DaemonSet's next pod has the next release's agent. */
describeOrSkip('a node whose agent is upgraded', { skip, concurrency: 1 }, () => {
  let cluster: ControlPlane;
  let agent: Awaited<ReturnType<typeof bundleAgent>>;
  let node: NodeUnderTest;
  before(async () => {
    cluster = await startControlPlane();
    await installManifests(cluster);
    agent = await bundleAgent();
    const world = { cluster: () => cluster, agentDirectory: () => agent.directory };
    node = await startNodeUnderTest(world, { name: 'node-upgrade', config: { maxPods: 42 } });
    await node.agent.enable();
  });
  after(async () => {
    await node?.stop();
    await cluster?.stop();
    await agent?.remove();
  });

  async function upgradeTo(version: string, from?: string): Promise<void> {
    await renumber(agent.directory, version, from);
    await node.agent.restart();
    await node.reaches(`a report of ${version}`, ({ agentVersion }) => agentVersion === version);
  }

  it('keeps its config, and its kubelet runs on', async () => {
    const name = await node.assignments.assign({ maxPods: 77 });
    await node.settlesOn(name);
    const before = await node.runs();
    await upgradeTo('0.2.0');
    await node.settlesOn(name);
    assert.deepEqual(await node.runs(), before);
    assert.equal((await node.configz())['maxPods'], 77);
  });

  it('finishes a trial that the agent before had begun, with the one restart that it takes', async () => {
    const fields = { maxPods: 88 };
    const name = await node.assignments.assign(
      fields,
      // Longer than the upgrade takes; a shorter one ends it.
      { trial: { ...TRIAL, duration: '60s' } },
    );
    await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
    const before = await node.runs();
    await upgradeTo('0.3.0', '0.2.0');
    await node.assignments.assign(fields);
    await node.settlesOn(name);
    assert.deepEqual(await node.runs(), before);
    assert.equal((await node.configz())['maxPods'], 88);
    await node.isUnguarded();
  });
});
