import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DROP_IN_NAME } from '#agent/kubelet/install-drop-ins.ts';
import { CONFIG_FILE, DROP_INS } from '../../support/agent/fake-kubelet.ts';
import { createWholeNode, LOCAL_FILE, NODE, type WholeNode } from '../../support/agent/whole-node.ts';
import { isIdleOn } from '../../support/agent/whole-node-stories.ts';

const DROP_IN = `${DROP_INS}/${DROP_IN_NAME}`;

function runs(node: WholeNode, kubeletVersion: string): void {
  const [, before] = node.kube.objects().find(([plural]) => plural === 'nodes') ?? [];
  node.kube.put('nodes', {
    metadata: { name: NODE },
    status: { ...(before?.['status'] as object), nodeInfo: { kubeletVersion } },
  });
}

/** Which of the two files holds something of ours. */
const places = (node: WholeNode): readonly string[] => {
  const tree = node.disk.tree();
  return [...(tree[CONFIG_FILE] === LOCAL_FILE ? [] : ['file']), ...(tree[DROP_IN] === undefined ? [] : ['drop-in'])];
};

async function provenOn(version: string, isSeen: boolean) {
  const node = createWholeNode({ isVersionFollowed: true, guard: true, isSeen });
  runs(node, version);
  const good = node.assign({ maxPods: 100 });
  await node.until('proven', isIdleOn(node, good));
  return { node, good };
}

describe('a kubelet that is upgraded over the minor from which drop-ins are patches', () => {
  for (const [from, to, before, after] of [
    ['v1.31.9', 'v1.32.1', 'file', 'drop-in'],
    ['v1.32.1', 'v1.31.9', 'drop-in', 'file'],
  ] as const) {
    for (const isSeen of [true, false]) {
      it(`from ${from} to ${to} gets its config as a ${after}, without a restart${isSeen ? '' : ', unseen too'}`, async () => {
        const { node, good } = await provenOn(from, isSeen);
        assert.deepEqual(places(node), [before]);
        node.kubelet.restartByHand();
        runs(node, to);
        await node.until('moved', () => places(node).join() === after);
        const starts = node.kubelet.starts();
        await node.pass(600_000);
        assert.ok(isIdleOn(node, good)());
        assert.deepEqual([places(node), node.maxPods(), node.kubelet.starts()], [[after], 100, starts]);
        node.kubelet.restartByHand();
        await node.pass(60_000);
        assert.ok(isIdleOn(node, good)());
        assert.equal(node.maxPods(), 100, 'what lies there is what was proven');
        node.unassign();
        await node.until('local', () => node.status().active?.name === 'local');
        assert.deepEqual([places(node), node.maxPods()], [[], 42]);
      });
    }
  }
});
