import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import { createWholeNode, LOCAL_FILE } from '../../support/agent/whole-node.ts';
import { hasFallenBack, isIdleOn } from '../../support/agent/whole-node-stories.ts';

/** A kubelet that goes back to defaults for all that a drop-in does not name. */
function nodeThatResets(options: Parameters<typeof createWholeNode>[0] = {}) {
  const node = createWholeNode({
    ...options,
    shownOf: (config) => (config['podPidsLimit'] === 1024 ? { ...config, maxPods: 110 } : config),
  });
  node.disk.plant(CONFIG_FILE, `${LOCAL_FILE}clusterDomain: c\n`);
  node.kubelet.restartByHand();
  return node;
}

describe('a config under which the node’s own goes back to its defaults', () => {
  it('is taken back, although all that it names is as it says', async () => {
    const node = nodeThatResets();
    const name = node.assign({ podPidsLimit: 1024 });
    await node.until('taken back', () => hasFallenBack(node, name)() && node.status().rejected !== undefined);
    assert.equal(node.status().rejected?.[0]?.reason, 'ConfigContradicted');
    assert.match(node.status().error?.message ?? '', /maxPods=110 instead of 42/);
  });

  it('is promoted where a flag or another drop-in says the default', async () => {
    const theirDropIns = [{ path: '/etc/k/50-them.conf', fields: { maxpods: 110 } }];
    for (const options of [{ theirDropIns }, { flags: ['--max-pods=110'] }]) {
      const node = nodeThatResets(options);
      const name = node.assign({ podPidsLimit: 1024 });
      await node.until('promoted', isIdleOn(node, name));
      assert.equal(node.status().rejected, undefined);
    }
  });
});
