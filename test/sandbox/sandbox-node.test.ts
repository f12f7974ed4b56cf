import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startSandbox, type Sandbox } from '#sandbox/sandbox.ts';
import { NODES } from '#shared/kube/kube.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../support/until.ts';

describe('a node of the sandbox', () => {
  let world: Sandbox;
  const get = async (path: string): Promise<{ status: number; text: string }> => {
    const answer = await fetch(`${world.api.url}/api/v1/nodes/${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const statusOf = (name: string) => world.api.store.get(NODES, name)?.['status'] as Record<string, unknown>;
  before(async () => {
    world = await startSandbox({
      cluster: 'demo',
      nodes: [{ name: 'worker-1', labels: {} }],
      log: () => silentLog,
      pollMs: 1_000,
    });
    await until('its kubelet was ready', () => statusOf('worker-1')['capacity'] !== undefined);
  });
  after(() => world.stop());

  it('says what it has, and what is left of it for pods', () => {
    const { capacity, allocatable } = statusOf('worker-1');
    const disk = 100 * 2 ** 30;
    assert.deepEqual(capacity, {
      cpu: '4',
      memory: '16777216Ki',
      'ephemeral-storage': `${disk / 1024}Ki`,
      pods: '110',
    });
    // The defaults of evictionHard: 100Mi of memory, a tenth of the disk.
    assert.deepEqual(allocatable, {
      cpu: '4000m',
      memory: '16674816Ki',
      'ephemeral-storage': String(Math.floor(disk * 0.9)),
      pods: '110',
    });
  });

  it('is asked what it runs through the API server', async () => {
    const { status, text } = await get('worker-1/proxy/configz');
    assert.equal(status, 200);
    const { kubeletconfig } = JSON.parse(text) as { readonly kubeletconfig: Readonly<Record<string, unknown>> };
    assert.equal(kubeletconfig['clusterDomain'], 'cluster.local');
    assert.equal((await get('worker-1/proxy/healthz')).text, 'ok');
    assert.equal((await get('worker-1/proxy/elsewhere')).status, 404);
  });

  it('cannot be asked while its kubelet is away', async () => {
    await world.nodes.get('worker-1')?.kubelet.stop();
    const { status, text } = await get('worker-1/proxy/configz');
    assert.equal(status, 503);
    assert.match(text, /"reason":"ServiceUnavailable"/);
  });
});
