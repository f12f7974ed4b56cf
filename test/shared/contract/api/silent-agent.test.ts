import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AGENT_SILENT_MS, isAgentAlive } from '#shared/contract/api/silent-agent.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const node = (heartbeat?: string): KubeletNode => ({
  metadata: { name: 'a' },
  status: heartbeat === undefined ? {} : { heartbeat },
});
const silentFor = (ms: number): KubeletNode => node(new Date(NOW - ms).toISOString());

describe('an agent', () => {
  it('is alive until it has been silent for longer than fifteen minutes', () => {
    assert.equal(AGENT_SILENT_MS, 15 * 60_000);
    assert.equal(isAgentAlive(silentFor(AGENT_SILENT_MS), NOW), true);
    assert.equal(isAgentAlive(silentFor(AGENT_SILENT_MS + 1_000), NOW), false);
  });

  it('is silent where it never reported, or in no time that can be read', () => {
    const silent = [undefined, { metadata: { name: 'a' } }, node(), node('yesterday')];
    assert.deepEqual(
      silent.map((each) => isAgentAlive(each, NOW)),
      silent.map(() => false),
    );
  });
});
