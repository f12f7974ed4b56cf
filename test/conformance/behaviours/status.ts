import assert from 'node:assert/strict';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { NODES } from '#shared/kube/kube.ts';
import type { Behaviours } from '../suite.ts';
import { AT_NODES, identityOf, refusalOf } from '../support/bench.ts';
import { column } from '../../support/columns.ts';

const STATUS = { subresource: 'status' } as const;

export const statusBehaviours: Behaviours = {
  async 'the status is written through its own door only'({ kube, aNode }) {
    const { name } = (await aNode({ pool: 'a' })).metadata;
    const main = await kube.mergePatch<KubeletNode>(AT_NODES, name, { status: { phase: 'Broken' } });
    assert.equal(main.status, undefined);
    const written = await kube.mergePatch<KubeletNode>(AT_NODES, name, { status: { phase: 'Idle' } }, STATUS);
    assert.deepEqual(written.status, { phase: 'Idle' });
    const kept = await kube.mergePatch<KubeletNode>(AT_NODES, name, { spec: { pool: 'b' }, status: null });
    assert.deepEqual(kept.status, { phase: 'Idle' });
  },
  async 'spec and metadata are not written through the door of the status'({ kube, aNode }) {
    const { name } = (await aNode({ pool: 'a' }, { a: 'b' })).metadata;
    const patch = { metadata: { labels: { c: 'd' } }, spec: { pool: 'b' }, status: { phase: 'Idle' } };
    const written = await kube.mergePatch<KubeletNode>(AT_NODES, name, patch, STATUS);
    assert.deepEqual(written.spec, { pool: 'a' });
    assert.deepEqual(written.metadata.labels, { a: 'b' });
  },
  async 'the generation counts changes of the spec, not of labels or the status'({ kube, aNode }) {
    const { name } = (await aNode({ pool: 'a' })).metadata;
    const generation = async (patch: Readonly<Record<string, unknown>>, options = {}): Promise<number | undefined> =>
      (await kube.mergePatch(AT_NODES, name, patch, options)).metadata.generation;
    assert.equal(await generation({ metadata: { labels: { a: 'b' } } }), 1);
    assert.equal(await generation({ status: { phase: 'Idle' } }, STATUS), 1);
    assert.equal(await generation({ spec: { pool: 'b' } }), 2);
    assert.equal(await generation({ spec: { pool: 'b' } }), 2);
    assert.equal(await generation({ spec: null }), 3);
  },
  async 'a stale version is refused at this door too, and both doors count on'({ kube, aNode }) {
    const made = await aNode();
    const { name } = made.metadata;
    const { resourceVersion } = identityOf(made);
    await kube.mergePatch(AT_NODES, name, { spec: { pool: 'a' } });
    const stale = { metadata: { resourceVersion }, status: { phase: 'Idle' } };
    assert.equal((await refusalOf(kube.mergePatch(AT_NODES, name, stale, STATUS))).code, 'KUBE_CONFLICT');
    const present = identityOf((await kube.get(AT_NODES, name)) ?? made).resourceVersion;
    const fitting = { metadata: { resourceVersion: present }, status: { phase: 'Idle' } };
    const written = await kube.mergePatch(AT_NODES, name, fitting, STATUS);
    assert.notEqual(identityOf(written).resourceVersion, present);
  },
  async 'null takes a part of the status away, lists are replaced whole'({ kube, aNode }) {
    const { name } = (await aNode()).metadata;
    const error = { reason: 'CrashLoop', message: 'it crashed', at: '2026-01-01T00:00:00Z' };
    const condition = { type: 'A', status: 'True', reason: 'B', message: '', lastTransitionTime: error.at };
    await kube.mergePatch(AT_NODES, name, { status: { error, phase: 'Idle', conditions: [condition] } }, STATUS);
    const other = { ...condition, type: 'C' };
    const patch = { status: { error: null, conditions: [other] } };
    const written = await kube.mergePatch<KubeletNode>(AT_NODES, name, patch, STATUS);
    assert.deepEqual(written.status, { phase: 'Idle', conditions: [other] });
  },
  async "a Node's spec and status are apart as well"({ kube, fresh }) {
    const at = { resource: NODES };
    const name = fresh();
    const ready = { conditions: [{ type: 'Ready', status: 'True' }] };
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {}, status: {} };
    type Node = typeof body & {
      readonly spec: { readonly unschedulable?: boolean };
      readonly status: Partial<typeof ready>;
    };
    await kube.create(at, body);
    const main = await kube.mergePatch<Node>(at, name, { spec: { unschedulable: true }, status: ready });
    assert.equal(main.spec.unschedulable, true);
    assert.equal(main.status.conditions, undefined);
    const side = await kube.mergePatch<Node>(at, name, { spec: { unschedulable: null }, status: ready }, STATUS);
    assert.equal(side.spec.unschedulable, true);
    assert.equal(side.status.conditions?.length, 1);
  },
  async 'a strategic patch writes one condition of a Node and leaves those of others'({ kube, fresh }) {
    const at = { resource: NODES };
    const name = fresh();
    await kube.create(at, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    const strategic = { ...STATUS, lists: 'strategic' } as const;
    const write = async (conditions: readonly object[]) =>
      (await kube.mergePatch<NodeWithConditions>(at, name, { status: { conditions } }, strategic)).status.conditions;
    await write([{ type: 'Ready', status: 'True', reason: 'KubeletReady' }]);
    await write([{ type: 'Ours', status: 'True', reason: 'Healthy', message: 'm' }]);
    const after = await write([{ type: 'Ours', status: 'False', reason: 'Broken' }]);
    const said = Object.fromEntries((after ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]));
    assert.deepEqual(said, { Ready: 'True KubeletReady', Ours: 'False Broken' });
    const left = await write([{ type: 'Ours', $patch: 'delete' }]);
    assert.deepEqual(column(left ?? [], 'type'), ['Ready']);
  },
};

interface NodeWithConditions extends KubeObject {
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}
