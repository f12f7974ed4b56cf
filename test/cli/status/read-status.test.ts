import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readClusterStatus } from '#cli/status/read-status.ts';
import { KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import { aSandbox } from '../../sandbox/api-server/support/sandbox.ts';

it('pools and nodes are in the order of their names, and numbers in that of numbers', async () => {
  await using sandbox = await aSandbox();
  for (const name of ['n-10', 'n-9', 'm-1']) {
    sandbox.server.store.seed(KUBELET_POOLS, { metadata: { name } });
    sandbox.server.store.seed(KUBELET_NODES, { metadata: { name } });
  }
  const { pools, nodes } = await readClusterStatus(sandbox.kube);
  for (const objects of [pools, nodes]) {
    assert.deepEqual(
      objects.map(({ metadata }) => metadata.name),
      ['m-1', 'n-9', 'n-10'],
    );
  }
});
