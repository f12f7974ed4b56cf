import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readSource } from '#cli/status/read-source.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import { SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { aSandbox } from '../../sandbox/api-server/support/sandbox.ts';
import { COMMIT_A } from '../../support/fleet.ts';
import { sourceObject } from '../../support/source-object.ts';

it('the record is what the reconciler wrote, and nothing at all where it has written nothing', async () => {
  await using sandbox = await aSandbox();
  const { store } = sandbox.server;
  assert.equal(await readSource(sandbox.kube), NO_STATE);
  store.seed(KUBELET_SOURCES, { metadata: { name: SOURCE_NAME } });
  assert.equal(await readSource(sandbox.kube), NO_STATE);
  const state = {
    commit: COMMIT_A,
    subject: 's',
    refusedCommit: 'r',
    refusedReason: 'Rewritten',
    failure: 'no answer',
  };
  store.patch(KUBELET_SOURCES, SOURCE_NAME, { status: sourceObject(state).status });
  assert.deepEqual(await readSource(sandbox.kube), { ...NO_STATE, ...state });
});
