import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_FACTS } from '../../support/agent/no-facts.ts';
import { createPreflight } from '#agent/preflight/preflight.ts';
import { CONFIG_FILE, DROP_INS } from '../../support/agent/fake-kubelet.ts';
import { createWholeNode, type WholeNode } from '../../support/agent/whole-node.ts';
import { isIdleOn } from '../../support/agent/whole-node-stories.ts';

const KIND = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** A node on which others have put drop-ins, too. */
async function nodeWith(dropIns: Readonly<Record<string, string>>): Promise<WholeNode> {
  const host = { commandLine: () => Promise.resolve(undefined), look: () => Promise.resolve(NO_FACTS) };
  const preflight = createPreflight({ configFile: CONFIG_FILE, configDirectory: DROP_INS, host });
  const node = createWholeNode({ preflight });
  for (const path of ['/etc/kubernetes', DROP_INS]) node.disk.plant(path, { directory: true });
  for (const [name, fields] of Object.entries(dropIns)) node.disk.plant(`${DROP_INS}/${name}`, KIND + fields);
  node.kubelet.restartByHand();
  await node.pass(5_000);
  return node;
}

describe('drop-ins of other people beside ours', () => {
  it('a config that one of them would win over is refused, and the kubelet left alone', async () => {
    const node = await nodeWith({
      '50-site.conf': 'maxPods: 60\n',
      '99-local.conf': 'maxPods: 70\npodPidsLimit: 99\n',
    });
    const before = node.kubelet.starts();
    node.assign({ maxPods: 150 });
    await node.until('refused', () => node.status().error?.reason === 'PreflightFailed');
    assert.match(node.status().error?.message ?? '', /99-kubelet-gitops\.conf.*maxPods=70 instead of 150/);
    assert.equal(node.kubelet.starts(), before);
  });

  it('a config that has its say beside them is taken', async () => {
    const node = await nodeWith({ '50-site.conf': 'maxPods: 60\n', '99-local.conf': 'podPidsLimit: 99\n' });
    const name = node.assign({ maxPods: 150 });
    await node.until('promoted', isIdleOn(node, name));
    assert.deepEqual([node.maxPods(), node.kubelet.running()['podPidsLimit']], [150, 99]);
  });

  it('one that comes later and wins is drift that is told of, and no reason to try what was good again', async () => {
    const node = await nodeWith({});
    const name = node.assign({ maxPods: 150 });
    await node.until('promoted', isIdleOn(node, name));
    const before = node.kubelet.starts();
    node.disk.plant(`${DROP_INS}/99-later.conf`, `${KIND}maxPods: 70\n`);
    node.kubelet.restartByHand();
    await node.until('told', () => node.status().phase === 'Drifted');
    await node.pass(600_000);
    assert.equal(node.status().phase, 'Drifted');
    assert.match(JSON.stringify(node.status().conditions), /maxPods=70 instead of 150/);
    assert.equal(node.kubelet.starts(), before + 1);
  });
});
