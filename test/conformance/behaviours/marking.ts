import assert from 'node:assert/strict';
import { NOT_CONFIGURED_TAINT } from '#shared/contract/api/group.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import { type NodeObject, type NodeStep, writeNode } from '#reconciler/cluster/drains/node-writes.ts';
import { viewNode } from '#reconciler/cluster/object-views.ts';
import type { Behaviours } from '../suite.ts';
import type { Bench } from '../support/bench.ts';

const AT_NODES = { resource: NODES };
const never = new AbortController().signal;
const mark = { config: 'general-7k2mh5gf8d', at: Date.parse('2026-11-21T12:00:00Z') };
const OTHERS = { key: 'example.com/gpu', effect: 'NoSchedule' };

async function newNode({ kube, fresh }: Bench, spec: NodeObject['spec'] = {}): Promise<NodeObject & { uid: string }> {
  const made = await kube.create<NodeObject>(AT_NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: fresh('node') },
    spec,
  });
  return { ...made, uid: made.metadata.uid ?? '' };
}

const cordon = ({ metadata, uid }: NodeObject & { uid: string }): NodeStep => ({
  step: 'cordon',
  node: metadata.name,
  uid,
  mark,
});
const uncordon = ({ metadata, uid }: NodeObject & { uid: string }): NodeStep => ({
  step: 'uncordon',
  node: metadata.name,
  uid,
  failed: null,
});

/** The same API server, on which somebody else writes the Node right after it was read. */
const withSomebodyQuicker = (kube: Kube, node: string): Kube => ({
  ...kube,
  async list(selection, signal) {
    const found = await kube.list(selection, signal);
    await kube.mergePatch(AT_NODES, node, { metadata: { labels: { quicker: 'yes' } } });
    return found as never;
  },
});

export const markingBehaviours: Behaviours = {
  async 'a Node is cordoned with a mark, once, and uncordoned without a trace'(bench) {
    const node = await newNode(bench);
    const cordoned = viewNode((await writeNode(bench.kube, cordon(node), never)) ?? node);
    assert.deepEqual([cordoned.cordoned, cordoned.drain], [true, mark]);
    assert.equal(await writeNode(bench.kube, cordon(node), never), null, 'it is done already');
    const uncordoned = viewNode((await writeNode(bench.kube, uncordon(node), never)) ?? node);
    assert.deepEqual([uncordoned.cordoned, uncordoned.drain, uncordoned.drainFailed], [false, undefined, undefined]);
  },
  async 'a Node that somebody else cordoned is neither marked nor uncordoned'(bench) {
    const node = await newNode(bench, { unschedulable: true });
    assert.equal(await writeNode(bench.kube, cordon(node), never), null);
    assert.equal(await writeNode(bench.kube, uncordon(node), never), null);
    assert.equal((await bench.kube.get<NodeObject>(AT_NODES, node.metadata.name))?.spec?.unschedulable, true);
  },
  async 'a Node that somebody wrote since it was read is not written over'(bench) {
    const node = await newNode(bench);
    const kube = withSomebodyQuicker(bench.kube, node.metadata.name);
    await assert.rejects(writeNode(kube, cordon(node), never), (error) => isKubeError(error, 'KUBE_CONFLICT'));
    assert.equal((await bench.kube.get<NodeObject>(AT_NODES, node.metadata.name))?.spec?.unschedulable, undefined);
  },
  async 'our taint is taken away, once, and others stay'(bench) {
    const ours = { key: NOT_CONFIGURED_TAINT, effect: 'NoSchedule' };
    const node = await newNode(bench, { taints: [ours, OTHERS] });
    assert.equal(viewNode(node).gated, true);
    const untaint: NodeStep = { step: 'untaint', node: node.metadata.name, uid: node.uid, because: 'a test' };
    const written = (await writeNode(bench.kube, untaint, never)) as NodeObject;
    const keys = (written.spec?.taints ?? [])
      .map(({ key }) => key)
      .filter((key) => !key.startsWith('node.kubernetes.io'));
    assert.deepEqual(keys, [OTHERS.key]);
    assert.equal(await writeNode(bench.kube, untaint, never), null);
    assert.equal(viewNode(written).gated, undefined);
  },
  async 'a later Node of the same name is left alone'(bench) {
    const node = await newNode(bench, { unschedulable: true });
    assert.equal(await writeNode(bench.kube, { ...cordon(node), uid: 'another' }, never), null);
    assert.equal(await writeNode(bench.kube, { ...cordon(node), node: bench.fresh('gone') }, never), null);
  },
};
