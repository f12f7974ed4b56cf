import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import { LOCAL_FILE, NEW_LOCAL_FILE, NODE, STATE, type WholeNode } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';
import { EVERY_POINT } from '../../support/sample.ts';

const HOUR = 3_600_000;
/** A day of half hours where every point is tried. */
const HALVES = EVERY_POINT ? 48 : 8;
/** With ours over it, the kubelet of these tests dies. */
const BAD = `${LOCAL_FILE}podPidsLimit: 666\n`;

const isWaiting = (node: WholeNode) => () => node.status().awaitsTurn !== undefined;

describe('the node’s own config file, rewritten while ours is in its place', () => {
  it('with another comment every half hour costs no restart', async () => {
    const { node, good } = await settledNode({ dropIns: false });
    const ours = node.disk.tree()[CONFIG_FILE];
    const starts = node.kubelet.starts();
    for (let half = 0; half < HALVES; half += 1) {
      node.disk.plant(CONFIG_FILE, `# written at ${half}\n${LOCAL_FILE}`);
      await node.pass(HOUR / 2);
      assert.equal(node.disk.tree()[CONFIG_FILE], ours);
    }
    assert.equal(node.kubelet.starts(), starts);
    assert.ok(isIdleOn(node, good)());
    node.unassign();
    await node.until('local', () => node.maxPods() === 42 && node.status().phase === 'Idle');
    assert.equal(node.disk.tree()[CONFIG_FILE], `# written at ${HALVES - 1}\n${LOCAL_FILE}`);
  });

  it('in mid-trial with another comment does not end the trial', async () => {
    const { node } = await settledNode({ dropIns: false });
    const name = node.assign({ maxPods: 150 });
    await node.until('half-way', () => (node.status().trial?.healthySeconds ?? 0) >= 20);
    const starts = node.kubelet.starts();
    node.disk.plant(CONFIG_FILE, `# another\n${LOCAL_FILE}`);
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.kubelet.starts(), starts);
  });

  it('waits with its restart while the API server is away, and over restarts of the agent', async () => {
    const { node } = await settledNode({ dropIns: false });
    const ours = node.disk.tree()[CONFIG_FILE];
    const starts = node.kubelet.starts();
    node.kube.setAway(true);
    node.disk.plant(CONFIG_FILE, NEW_LOCAL_FILE);
    await node.pass(HOUR);
    assert.equal(node.disk.tree()[CONFIG_FILE], ours);
    await node.stop();
    node.start();
    await node.pass(HOUR);
    node.kube.setAway(false);
    await node.until('it asks for a turn', isWaiting(node));
    await node.pass(HOUR);
    assert.equal(node.kubelet.starts(), starts);
    node.grant();
    await node.until('its turn is over', () => node.status().phase === 'Idle');
    assert.equal(node.kubelet.starts(), starts + 1);
    assert.equal(node.kubelet.running()['podPidsLimit'], 2048);
  });

  it('again before its turn voids the turn: what was granted was seen otherwise', async () => {
    const { node } = await settledNode({ dropIns: false });
    const starts = node.kubelet.starts();
    node.disk.plant(CONFIG_FILE, NEW_LOCAL_FILE);
    await node.until('it asks for a turn', isWaiting(node));
    const first = node.status().awaitsTurn;
    node.disk.plant(CONFIG_FILE, NEW_LOCAL_FILE.replace('2048', '4096'));
    await node.until('it asks for another', () => node.status().awaitsTurn?.seen !== first?.seen);
    node.kube.assign(NODE, { ...node.kube.spec(NODE), turn: { seen: first?.seen ?? '' } });
    await node.pass(HOUR);
    assert.equal(node.kubelet.starts(), starts);
    node.grant();
    await node.until('its turn is over', () => node.kubelet.running()['podPidsLimit'] === 4096);
  });

  it('again and again without a turn leaves only the last one behind', async () => {
    const { node } = await settledNode({ dropIns: false });
    for (let time = 0; time < 12; time += 1) {
      node.disk.plant(CONFIG_FILE, `${LOCAL_FILE}podPidsLimit: ${3_000 + time}\n`);
      await node.pass(HOUR / 2);
    }
    const kept = Object.keys(node.disk.tree()).filter((path) => path.startsWith(`${STATE}/local/bases/`));
    assert.equal(kept.length, 1, kept.join());
    node.grant();
    await node.until('the last one has its turn', () => node.kubelet.running()['podPidsLimit'] === 3_011);
  });

  it('so that the kubelet dies of it, is taken back in its turn: ours stays, over the file from before', async () => {
    const { node, good } = await settledNode({
      dropIns: false,
      guard: true,
      fateOf: (config) => (config['podPidsLimit'] === 666 ? 'dies' : undefined),
    });
    const ours = node.disk.tree()[CONFIG_FILE];
    node.disk.plant(CONFIG_FILE, BAD);
    await node.until('it asks for a turn', isWaiting(node));
    node.grant();
    await node.until(
      'it is refused',
      () => node.status().refusedBase !== undefined && node.status().lastKnownGood?.name === good,
    );
    await node.until('at rest', () => node.status().phase === 'Drifted');
    assert.equal(node.disk.tree()[CONFIG_FILE], ours);
    assert.deepEqual([node.maxPods(), node.kubelet.running()['podPidsLimit']], [100, undefined]);
    assert.deepEqual([node.status().rejected, node.status().awaitsTurn], [undefined, undefined]);
    const starts = node.kubelet.starts();
    await node.pass(HOUR);
    assert.equal(node.kubelet.starts(), starts);
    const next = node.assign({ maxPods: 120 });
    await node.until(
      'another config is tried over the file from before',
      () => node.status().lastKnownGood?.name === next,
    );
    await node.until('and the new file has another chance with it', isWaiting(node));
  });
});

describe('the node’s own config file, rewritten while nothing of ours is in its place', () => {
  it('is what a config that fails leaves behind', async () => {
    const { node } = await settledNode({ dropIns: false, guard: true, fates: { 250: 'dies' } });
    node.unassign();
    await node.until('local', () => node.maxPods() === 42 && node.status().phase === 'Idle');
    node.disk.plant(CONFIG_FILE, NEW_LOCAL_FILE);
    const bad = node.assign({ maxPods: 250 });
    await node.until('it is taken back', hasFallenBack(node, bad));
    assert.equal(node.disk.tree()[CONFIG_FILE], NEW_LOCAL_FILE);
    assert.deepEqual([node.maxPods(), node.kubelet.running()['podPidsLimit']], [42, 2048]);
  });
});

describe('a kubelet that somebody restarted with other files', () => {
  it('goes on until its turn, and then runs what was proven', async () => {
    const { node, good } = await settledNode({ dropIns: false });
    const starts = node.kubelet.starts();
    node.disk.plant(CONFIG_FILE, LOCAL_FILE);
    node.kubelet.restartByHand();
    await node.until('it asks for a turn', isWaiting(node));
    assert.equal(node.status().awaitsTurn?.reason, 'RunningOther');
    await node.pass(HOUR);
    assert.deepEqual([node.kubelet.starts(), node.maxPods()], [starts + 1, 42]);
    node.grant();
    await node.until('it runs what was proven', () => node.maxPods() === 100 && isIdleOn(node, good)());
    assert.equal(node.kubelet.starts(), starts + 2);
    await node.pass(HOUR);
    assert.equal(node.kubelet.starts(), starts + 2);
  });
});

describe('a kubelet that runs already what is assigned', () => {
  it('is taken over without a restart, a trial or a place in anybody’s way', async () => {
    const { node } = await settledNode({ dropIns: false });
    node.unassign();
    await node.until('local', () => node.maxPods() === 42 && node.status().phase === 'Idle');
    const starts = node.kubelet.starts();
    const name = node.assign({ maxPods: 42 });
    await node.until('taken over', isIdleOn(node, name));
    assert.equal(node.status().promotedAt, undefined);
    assert.notEqual(node.disk.tree()[CONFIG_FILE], LOCAL_FILE);
    await node.pass(HOUR);
    assert.equal(node.kubelet.starts(), starts);
  });

  it('is restarted where the config takes a value back that it runs', async () => {
    const { node } = await settledNode({ dropIns: false });
    const starts = node.kubelet.starts();
    const name = node.assign({ podPidsLimit: -1 });
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.kubelet.starts(), starts + 1);
  });

  it('asks for a turn where nobody can see what it runs, and the agent lost its state', async () => {
    const { node, good } = await settledNode({ isSeen: false });
    await node.stop();
    node.disk.plant(`${STATE}/meta`, null);
    node.disk.plant(`${STATE}/checkpoints`, null);
    const starts = node.kubelet.starts();
    node.start();
    await node.until('it asks for a turn', isWaiting(node));
    assert.equal(node.status().awaitsTurn?.reason, 'StateLost');
    await node.pass(HOUR);
    await node.stop();
    node.start();
    await node.pass(HOUR);
    assert.equal(node.kubelet.starts(), starts);
    node.grant();
    await node.until('its turn is over', isIdleOn(node, good));
    assert.equal(node.kubelet.starts(), starts + 1);
  });

  it('is taken over again where the agent lost its state, and /configz can be seen', async () => {
    const { node, good } = await settledNode();
    await node.stop();
    node.disk.plant(`${STATE}/meta`, null);
    const starts = node.kubelet.starts();
    node.start();
    await node.until('as before', isIdleOn(node, good));
    await node.pass(HOUR);
    assert.equal(node.kubelet.starts(), starts);
  });
});
