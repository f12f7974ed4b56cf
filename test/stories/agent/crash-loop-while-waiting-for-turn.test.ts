import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import { settledNode } from '../../support/agent/whole-node-stories.ts';
import { NEW_LOCAL_FILE, NODE } from '../../support/agent/whole-node.ts';

const HOUR_MS = 3_600_000;

describe('a kubelet that dies again and again while its node waits for a turn', () => {
  async function dyingNode() {
    let dies = false;
    const { node } = await settledNode({ dropIns: false, fateOf: () => (dies ? 'dies' : undefined) });
    node.disk.plant(CONFIG_FILE, NEW_LOCAL_FILE);
    await node.until('it asks for a turn', () => node.status().awaitsTurn !== undefined);
    const before = node.status().awaitsTurn?.seen;
    dies = true;
    node.kubelet.restartByHand();
    await node.pass(60_000);
    return { node, before, heal: () => (dies = false) };
  }

  it('asks for one turn, and not for another with each of its runs', async () => {
    const { node, before } = await dyingNode();
    const [starts, asked] = [node.kubelet.starts(), node.status().awaitsTurn?.seen];
    assert.notEqual(asked, before);
    node.kube.patches.length = 0;
    await node.pass(HOUR_MS);
    assert.ok(node.kubelet.starts() - starts > 200, `${node.kubelet.starts() - starts} runs`);
    assert.equal(node.status().awaitsTurn?.seen, asked);
    assert.deepEqual(
      node.kube.patches.filter((patch) => 'awaitsTurn' in patch),
      [],
    );
    const more = node.kube.patches.filter((patch) => Object.keys(patch).some((key) => key !== 'heartbeat'));
    assert.ok(more.length <= 12, `${more.length} writes, of which the last: ${JSON.stringify(more.at(-1))}`);
  });

  it('has no use for that turn once it is healthy again', async () => {
    const { node, heal } = await dyingNode();
    const asked = node.status().awaitsTurn?.seen ?? '';
    heal();
    await node.until('it is healthy', () => node.kubelet.isHealthy());
    await node.pass(60_000);
    const starts = node.kubelet.starts();
    node.kube.assign(NODE, { ...node.kube.spec(NODE), turn: { seen: asked } });
    await node.pass(HOUR_MS);
    assert.equal(node.kubelet.starts(), starts);
    node.grant();
    await node.until('its turn is over', () => node.kubelet.running()['podPidsLimit'] === 2048);
  });
});
