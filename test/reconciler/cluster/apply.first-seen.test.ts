import assert from 'node:assert/strict';
import { it } from 'node:test';
import { apply } from '#reconciler/cluster/apply.ts';
import { viewKubeletNode } from '#reconciler/cluster/object-views.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import {
  FIRST_SEEN_ANNOTATION,
  MACHINE_ANNOTATION,
  MEASURE_ANNOTATION,
  MOVED_SINCE_ANNOTATION,
  UNSELECTED_SINCE_ANNOTATION,
} from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { NOW } from '../../support/fleet.ts';
import { aSandbox, type ApiServerSandbox } from '../../sandbox/api-server/support/sandbox.ts';
import { applyPorts } from './support/apply-ports.ts';

const never = new AbortController().signal;
const SINCE = toTimestamp(NOW + 60_000);

const knode = async ({ kube }: ApiServerSandbox): Promise<KubeletNode> => {
  const found = await kube.get<KubeletNode>({ resource: KUBELET_NODES }, 'a');
  assert.ok(found !== null);
  return viewKubeletNode(found);
};

const remembering = (present: KubeletNode, since: string | null): Step => ({
  step: 'remember',
  node: 'a',
  present,
  annotations: { [UNSELECTED_SINCE_ANNOTATION]: since },
});

it('keeps on a KubeletNode when its Node was first seen, and since when no pool selects it, which no agent hears of', async () => {
  await using sandbox = await aSandbox();
  const ports = applyPorts(sandbox.kube);
  await apply([{ step: 'create-node', node: 'a', uid: 'u', at: NOW }], ports, never);
  const made = await knode(sandbox);
  assert.deepEqual(made.metadata.annotations, { [FIRST_SEEN_ANNOTATION]: toTimestamp(NOW) });
  assert.deepEqual(await apply([remembering(made, SINCE)], ports, never), { done: 1, left: 0 });
  const lost = await knode(sandbox);
  assert.equal(lost.metadata.annotations?.[UNSELECTED_SINCE_ANNOTATION], SINCE);
  assert.deepEqual([lost.metadata.generation, lost.spec], [made.metadata.generation, made.spec]);
  await apply([remembering(lost, null)], ports, never);
  assert.deepEqual((await knode(sandbox)).metadata.annotations, made.metadata.annotations);
});

it('keeps nothing on a KubeletNode that somebody else wrote since it was read', async () => {
  await using sandbox = await aSandbox();
  const ports = applyPorts(sandbox.kube);
  await apply([{ step: 'create-node', node: 'a', uid: 'u', at: NOW }], ports, never);
  const made = await knode(sandbox);
  await sandbox.kube.mergePatch({ resource: KUBELET_NODES }, 'a', { spec: { pool: 'workers' } });
  assert.deepEqual(await apply([remembering(made, SINCE)], ports, never), { done: 0, left: 1 });
  assert.equal((await knode(sandbox)).metadata.annotations?.[UNSELECTED_SINCE_ANNOTATION], undefined);
});

it('reads back all that it remembers on a KubeletNode: what it forgets it would decide without, and write again in each pass', async () => {
  await using sandbox = await aSandbox();
  const ports = applyPorts(sandbox.kube);
  await apply([{ step: 'create-node', node: 'a', uid: 'u', at: NOW }], ports, never);
  const annotations = {
    [UNSELECTED_SINCE_ANNOTATION]: SINCE,
    [MOVED_SINCE_ANNOTATION]: SINCE,
    [MACHINE_ANNOTATION]: 'memory=7680Mi',
    [MEASURE_ANNOTATION]: 'a'.repeat(64),
  };
  await apply([{ step: 'remember', node: 'a', present: await knode(sandbox), annotations }], ports, never);
  const { metadata } = await knode(sandbox);
  assert.deepEqual(metadata.annotations, { [FIRST_SEEN_ANNOTATION]: toTimestamp(NOW), ...annotations });
});
