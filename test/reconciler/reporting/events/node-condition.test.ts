import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conditionPatch, configHealthOf, unreadableHealth } from '#reconciler/reporting/events/node-condition.ts';
import { CONFIG_HEALTH, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { AGENT_SILENT_MS } from '#shared/contract/api/silent-agent.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { nodeView, NOW } from '../../../support/fleet.ts';

const SAID = {
  type: CONFIG_HEALTH,
  status: 'True',
  reason: 'Healthy',
  message: 'it runs web-1',
  lastTransitionTime: '',
};
const NODE = nodeView('n1', 'web');
const reporting = (ago: number, message = SAID.message): KubeletNode =>
  ({
    metadata: { name: 'n1' },
    status: { heartbeat: toTimestamp(NOW - ago), conditions: [{ ...SAID, message }] },
  }) as KubeletNode;

describe('what a Node says of its config', () => {
  it('is the word of its agent for as long as that reports, and then its silence', () => {
    const told = { status: 'True', reason: 'Healthy', message: 'it runs web-1' };
    assert.deepEqual(configHealthOf(reporting(AGENT_SILENT_MS), NODE, NOW), told);
    const silent = configHealthOf(reporting(AGENT_SILENT_MS + 1_000), NODE, NOW);
    assert.deepEqual([silent?.status, silent?.reason], ['Unknown', 'AgentSilent']);
  });

  it('is nothing where no agent ever reported, and silence where one did and its object is gone', () => {
    assert.equal(configHealthOf(undefined, NODE, NOW), null);
    const health = { status: 'True', reason: 'Healthy', message: 'm', lastTransitionTime: '' } as const;
    assert.equal(configHealthOf(undefined, { ...NODE, configHealth: health }, NOW)?.reason, 'AgentSilent');
  });

  it('is no more than four hundred characters, without a credential', () => {
    const long = `https://user:secret@host/${'x'.repeat(500)}`;
    const error = new Error(long);
    for (const health of [
      configHealthOf(reporting(0, long), NODE, NOW),
      unreadableHealth({ of: 'node', name: 'n1', uid: 'u', error }),
    ]) {
      assert.equal(health?.message.length, 400);
      assert.doesNotMatch(health.message, /secret/);
    }
  });

  it('keeps the time of the last change of status, and tells the time of each word', () => {
    const wanted = { status: 'True', reason: 'Healthy', message: 'new' } as const;
    const timesAfter = (status: 'True' | 'False' | undefined): unknown => {
      const present = status && { ...wanted, status, lastTransitionTime: 'before' };
      const patch = conditionPatch(wanted, present, 'now').status as { readonly conditions: readonly object[] };
      return patch.conditions[0];
    };
    const written = { type: CONFIG_HEALTH, ...wanted, lastHeartbeatTime: 'now' };
    assert.deepEqual(timesAfter('True'), { ...written, lastTransitionTime: 'before' });
    assert.deepEqual(timesAfter('False'), { ...written, lastTransitionTime: 'now' });
    assert.deepEqual(timesAfter(undefined), { ...written, lastTransitionTime: 'now' });
  });
});
