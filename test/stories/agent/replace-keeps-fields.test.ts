import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import { createWholeNode, LOCAL_FILE, NODE, STATE, type WholeNode } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn } from '../../support/agent/whole-node-stories.ts';

const HOUR = 3_600_000;
const KEEP = ['authentication', 'staticPodPath'];
const OWN = `${LOCAL_FILE}staticPodPath: /etc/kubernetes/manifests
podPidsLimit: 2048
authentication: {x509: {clientCAFile: /ca}}
`;
const KEPT = { staticPodPath: '/etc/kubernetes/manifests', authentication: { x509: { clientCAFile: '/ca' } } };

const replace = (maxPods: number, keepFields: readonly string[] = KEEP) =>
  [{ maxPods }, { apply: 'replace', keepFields }] as const;
const fileOf = (node: WholeNode): unknown => {
  const { apiVersion: _, kind: __, ...fields } = parse(node.disk.tree()[CONFIG_FILE] ?? '') as Record<string, unknown>;
  return fields;
};
const isWaiting = (node: WholeNode) => () => node.status().awaitsTurn !== undefined;

async function replacedNode(options: Parameters<typeof createWholeNode>[0] = {}) {
  const node = createWholeNode({ dropIns: false, ...options });
  node.disk.plant(CONFIG_FILE, OWN);
  const good = node.assign(...replace(100));
  await node.until('it is proven', isIdleOn(node, good));
  return { node, good };
}

describe('a config that takes the place of the node’s own and keeps fields of it', () => {
  it('leaves them as they are, loses the others, and says so in the status', async () => {
    const { node } = await replacedNode();
    assert.deepEqual(fileOf(node), { maxPods: 100, ...KEPT });
    assert.equal(node.kubelet.running()['staticPodPath'], '/etc/kubernetes/manifests');
    assert.deepEqual(node.status().active?.keepFields, KEEP);
    assert.deepEqual(node.status().lastKnownGood?.keepFields, KEEP);
    node.unassign();
    await node.until('local', () => node.maxPods() === 42 && node.status().phase === 'Idle');
    assert.equal(node.disk.tree()[CONFIG_FILE], OWN);
  });

  it('is another config than the same bytes that keep others: it is tried, and a rejection of one is none of the other', async () => {
    const { node, good } = await replacedNode({
      fateOf: (config) => (config['staticPodPath'] === undefined ? 'dies' : undefined),
    });
    const starts = node.kubelet.starts();
    assert.equal(node.assign(...replace(100, ['authentication'])), good);
    await node.until('it is rejected', hasFallenBack(node, good));
    assert.ok(node.kubelet.starts() > starts);
    assert.deepEqual(
      node.status().rejected?.map(({ keepFields }) => keepFields),
      [['authentication']],
    );
    assert.deepEqual(fileOf(node), { maxPods: 100, ...KEPT });
    const before = node.kubelet.starts();
    node.assign(...replace(100));
    await node.until('what runs is wanted', isIdleOn(node, good));
    assert.equal(node.kubelet.starts(), before);
  });

  it('stays the same over restarts of the agent', async () => {
    const { node, good } = await replacedNode();
    const [ours, starts] = [node.disk.tree()[CONFIG_FILE], node.kubelet.starts()];
    await node.stop();
    node.start();
    await node.pass(HOUR);
    assert.ok(isIdleOn(node, good)());
    assert.deepEqual([node.disk.tree()[CONFIG_FILE], node.kubelet.starts()], [ours, starts]);
  });

  it('asks for a turn when a field that it keeps changes in the node’s own file, and for none when another does', async () => {
    const { node } = await replacedNode();
    const [ours, starts] = [node.disk.tree()[CONFIG_FILE], node.kubelet.starts()];
    node.disk.plant(CONFIG_FILE, OWN.replace('2048', '4096'));
    await node.pass(HOUR);
    assert.deepEqual([isWaiting(node)(), node.disk.tree()[CONFIG_FILE], node.kubelet.starts()], [false, ours, starts]);
    node.disk.plant(CONFIG_FILE, OWN.replace('/manifests', '/others'));
    await node.until('it asks for a turn', isWaiting(node));
    assert.equal(node.status().awaitsTurn?.reason, 'NewBase');
    assert.equal(node.kubelet.starts(), starts);
    node.grant();
    await node.until('its turn is over', () => node.status().phase === 'Idle');
    assert.deepEqual(fileOf(node), { maxPods: 100, ...KEPT, staticPodPath: '/etc/kubernetes/others' });
    assert.equal(node.kubelet.starts(), starts + 1);
  });

  it('goes back to the file before where the kubelet dies over the new one', async () => {
    const { node, good } = await replacedNode({
      guard: true,
      fateOf: (config) => (config['staticPodPath'] === '/etc/kubernetes/deadly' ? 'dies' : undefined),
    });
    node.disk.plant(CONFIG_FILE, OWN.replace('/manifests', '/deadly'));
    await node.until('it asks for a turn', isWaiting(node));
    node.grant();
    await node.until('it is refused', () => node.status().refusedBase !== undefined);
    await node.until('at rest', () => node.status().phase === 'Drifted');
    assert.equal(node.status().lastKnownGood?.name, good);
    assert.deepEqual(fileOf(node), { maxPods: 100, ...KEPT });
  });

  it('is not installed where the copy of the node’s own config is lost: nobody knows what to keep', async () => {
    const { node, good } = await replacedNode();
    const ours = node.disk.tree()[CONFIG_FILE];
    await node.stop();
    node.disk.plant(`${STATE}/local`, null);
    node.start();
    node.assign(...replace(150));
    await node.pass(HOUR);
    assert.equal(node.status().error?.reason, 'CannotInstall');
    assert.equal(node.disk.tree()[CONFIG_FILE], ours);
    assert.equal(node.status().active?.name, good);
    assert.equal(node.maxPods(), 100);
  });

  it('is refused as an assignment that cannot be read where the fields are no list', async () => {
    const { node } = await replacedNode();
    const ours = node.disk.tree()[CONFIG_FILE];
    node.kube.assign(NODE, { ...node.kube.spec(NODE), keepFields: 'all' as unknown as readonly string[] });
    await node.until('it is refused', () => node.status().error?.reason === 'InvalidAssignment');
    assert.equal(node.disk.tree()[CONFIG_FILE], ours);
  });
});
