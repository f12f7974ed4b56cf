import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CONFIG_HEALTH } from '#shared/contract/api/kubelet-node.ts';
import type { Condition } from '#shared/contract/api/object.ts';
import { NODES } from '#shared/kube/kube.ts';
import { aSandbox } from '../sandbox/api-server/support/sandbox.ts';
import { fencedBlocks } from '../support/fenced-blocks.ts';
import { column } from '../support/columns.ts';

it('the last step of an uninstallation takes our condition off a Node, and no other', async () => {
  const patches = fencedBlocks('docs/uninstall.md', 'sh').flatMap((text) => /--patch='(\{.*\})'/.exec(text)?.[1] ?? []);
  assert.equal(patches.length, 1);
  await using sandbox = await aSandbox();
  const { store } = sandbox.server;
  const said = { status: 'True', reason: 'x', message: '', lastTransitionTime: '2026-11-21T12:00:00Z' } as const;
  const conditions: readonly Condition[] = ['Ready', CONFIG_HEALTH, 'DiskPressure'].map((type) => ({ type, ...said }));
  store.seed(NODES, { metadata: { name: 'a' } });
  store.patch(NODES, 'a', { status: { conditions } });
  const patch = JSON.parse(patches[0] ?? '') as Readonly<Record<string, unknown>>;
  await sandbox.kube.mergePatch(NODES_AT, 'a', patch, { subresource: 'status', lists: 'strategic' });
  const { status } = store.get(NODES, 'a') as { readonly status?: { readonly conditions: readonly Condition[] } };
  assert.deepEqual(column(status?.conditions, 'type'), ['Ready', 'DiskPressure']);
});

const NODES_AT = { resource: NODES };
