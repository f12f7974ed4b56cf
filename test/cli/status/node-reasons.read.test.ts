import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readFleet } from '#cli/status/node-reasons.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, POOL_LABEL } from '#shared/contract/api/group.ts';
import { CONFIG_MAPS, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import { aSandbox } from '../../sandbox/api-server/support/sandbox.ts';

it('what the planner looks at is read from the namespace alone that is asked for, and of ConfigMaps only our own', async () => {
  await using sandbox = await aSandbox({ namespaces: ['ours', 'theirs'] });
  const { store } = sandbox.server;
  const labels = { [MANAGED_BY_LABEL]: MANAGED_BY, [POOL_LABEL]: 'general' };
  store.seed(CONFIG_MAPS, { metadata: { name: 'general-a', namespace: 'ours', labels } });
  store.seed(CONFIG_MAPS, { metadata: { name: 'notes', namespace: 'ours' } });
  store.seed(CONFIG_MAPS, { metadata: { name: 'general-b', namespace: 'theirs', labels } });
  for (const resource of [NODES, KUBELET_NODES]) store.seed(resource, { metadata: { name: 'n-1' } });
  store.seed(KUBELET_POOLS, { metadata: { name: 'general' } });
  const { nodes, kubeletNodes, pools, configSources } = await readFleet(sandbox.kube, 'ours');
  const names = [nodes, kubeletNodes, pools, configSources].map((objects) => [...objects.keys()]);
  assert.deepEqual(names, [['n-1'], ['n-1'], ['general'], ['general-a']]);
});
