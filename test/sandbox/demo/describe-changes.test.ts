import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plain } from '#cli/paint.ts';
import type { StatusView } from '#cli/status/render.ts';
import { describeChanges } from '#sandbox/demo/describe-changes.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';

const MESSAGE = 'general-b was refused, and the kubelet left alone: reservedSystemCPUs: this node has no CPU 4';

const node = (status: Partial<KubeletNodeStatus>): KubeletNode => ({
  apiVersion: 'kubelet-gitops.dev/v1alpha1',
  kind: 'KubeletNode',
  metadata: { name: 'worker-1' },
  status: { active: { name: 'general-a' }, ...status },
});
const view = (status: Partial<KubeletNodeStatus>): StatusView => ({
  source: NO_STATE,
  pools: [],
  nodes: [node(status)],
});
const refused = {
  phase: 'Idle',
  error: { reason: 'PreflightFailed', message: MESSAGE, at: '2026-01-02T03:04:05Z' },
} as const;

describe('what the demo says of a config that preflight refuses', () => {
  const sentence = [`worker-1    preflight: ${MESSAGE}`];

  it('is the reason, whether or not the node was seen at work on it', () => {
    for (const phase of ['Idle', 'Staging'] as const)
      assert.deepEqual(describeChanges(view({ phase }), view(refused), plain), sentence);
  });

  it('is said once', () => {
    assert.deepEqual(describeChanges(view(refused), view(refused), plain), []);
  });

  it('says nothing of a kubelet that would have run it', () => {
    assert.doesNotMatch(
      describeChanges(view({ phase: 'Staging' }), view(refused), plain).join(),
      /again|takes it back/,
    );
  });
});
