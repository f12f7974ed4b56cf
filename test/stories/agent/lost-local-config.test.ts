import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import { LOCAL_FILE, NEW_LOCAL_FILE, STATE, type WholeNode } from '../../support/agent/whole-node.ts';
import { isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const HOUR = 3_600_000;
const COMMENTED = `# written by a tool\n${LOCAL_FILE}`;
const COPIES = ['record', 'kubelet'].map((name) => `${STATE}/local/${name}`);

const isWaiting = (node: WholeNode) => () => node.status().awaitsTurn !== undefined;

/** What was proven over `base`, on a node whose copies of its own configs are those of before that. */
async function nodeThatLost(base: string, options: Parameters<typeof settledNode>[0] = {}) {
  const { node, good } = await settledNode({ dropIns: false, ...options });
  const before = COPIES.map((path) => node.disk.tree()[path] ?? '');
  node.disk.plant(CONFIG_FILE, base);
  if (base === NEW_LOCAL_FILE) {
    await node.until('it asks for a turn', isWaiting(node));
    node.grant();
  } else await node.pass(HOUR);
  await node.until('it runs over that', () => isIdleOn(node, good)() && node.status().awaitsTurn === undefined);
  await node.pass(HOUR);
  const lose = (): void => {
    for (const [index, path] of COPIES.entries()) node.disk.plant(path, before[index] ?? '');
    node.disk.plant(`${STATE}/local/bases`, null);
  };
  /** So that nobody has seen how the present run of the kubelet began. */
  const loseMeanwhile = async (): Promise<void> => {
    await node.stop();
    lose();
    node.start();
  };
  return { node, good, lose, loseMeanwhile, proved: node.disk.tree()[CONFIG_FILE], starts: node.kubelet.starts() };
}

describe('the node’s own config that a config was proven over, lost from the state directory', () => {
  it('asks for no turn where over what is left the file is the same, and /configz shows that it runs', async () => {
    const { node, good, loseMeanwhile, proved, starts } = await nodeThatLost(COMMENTED);
    await loseMeanwhile();
    for (let minute = 0; minute < 60; minute += 1) {
      await node.pass(60_000);
      assert.equal(node.status().awaitsTurn, undefined);
    }
    assert.ok(isIdleOn(node, good)());
    assert.deepEqual([node.kubelet.starts(), node.disk.tree()[CONFIG_FILE]], [starts, proved]);
    node.unassign();
    await node.until('local', () => node.maxPods() === 42 && node.status().phase === 'Idle');
  });

  it('asks for no turn where the agent saw the kubelet come up with that file, though nobody sees what it runs', async () => {
    const { node, good, lose, starts } = await nodeThatLost(COMMENTED, { isSeen: false });
    node.kubelet.restartByHand();
    await node.pass(HOUR);
    lose();
    await node.pass(HOUR);
    assert.ok(isIdleOn(node, good)());
    assert.deepEqual([node.kubelet.starts(), node.status().awaitsTurn], [starts + 1, undefined]);
  });

  it('waits for its turn where neither is known', async () => {
    const { node, loseMeanwhile, proved, starts } = await nodeThatLost(COMMENTED, { isSeen: false });
    await loseMeanwhile();
    await node.until('it asks for a turn', isWaiting(node));
    await node.pass(HOUR);
    assert.deepEqual([node.kubelet.starts(), node.disk.tree()[CONFIG_FILE]], [starts, proved]);
    node.grant();
    await node.until('its turn is over', () => node.status().phase === 'Idle' && !isWaiting(node)());
    assert.equal(node.kubelet.starts(), starts + 1);
  });

  it('waits for its turn where the file would be another one, and keeps the one that was proven until then', async () => {
    const { node, good, loseMeanwhile, proved, starts } = await nodeThatLost(NEW_LOCAL_FILE);
    await loseMeanwhile();
    await node.until('it asks for a turn', isWaiting(node));
    await node.pass(HOUR);
    assert.deepEqual([node.kubelet.starts(), node.disk.tree()[CONFIG_FILE]], [starts, proved]);
    node.kubelet.restartByHand();
    await node.pass(HOUR);
    assert.equal(
      node.kubelet.running()['podPidsLimit'],
      2048,
      'a kubelet that restarts by itself runs what was proven',
    );
    assert.ok(isWaiting(node)(), 'and its agent asks for the run of now');
    const before = node.kubelet.starts();
    node.grant();
    await node.until('its turn is over', () => isIdleOn(node, good)() && !isWaiting(node)());
    assert.deepEqual([node.kubelet.starts(), node.kubelet.running()['podPidsLimit']], [before + 1, undefined]);
  });
});
