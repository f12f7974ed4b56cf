import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readSource } from '#cli/status/read-source.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { aSandbox } from '../../sandbox/api-server/support/sandbox.ts';

it('the KubeletSource says what the record of the reconciler does, but for its history and limits', async () => {
  await using sandbox = await aSandbox();
  const at = '2026-11-21T11:00:00Z';
  const commit = { url: 'u', branch: 'main', cluster: 'demo', commit: 'c', subject: 's', author: 'a', takenUpAt: at };
  const status = {
    ...commit,
    refused: { commit: 'r', reason: 'Rewritten', message: 'the branch was rewritten' },
    failure: { since: at, message: 'no answer' },
    conditions: [{ type: 'Stalled', status: 'True', reason: 'InvalidFiles', message: 'a: b', lastTransitionTime: at }],
  };
  sandbox.server.store.seed(KUBELET_SOURCES, { metadata: { name: SOURCE_NAME }, status } as object as KubeletSource);
  assert.deepEqual(await readSource(sandbox.kube, 'elsewhere'), {
    ...NO_STATE,
    ...commit,
    refusedCommit: 'r',
    refusedReason: 'Rewritten',
    refusedBecause: 'the branch was rewritten',
    failingSince: at,
    failure: 'no answer',
    findings: 'a: b',
  });
});
