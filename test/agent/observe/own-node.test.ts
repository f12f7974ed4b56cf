import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOwnNode } from '#agent/observe/own-node.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createFakeKube } from '../../support/agent/fake-kube.ts';
import { createMemoryDisk, type MemoryDisk } from '../../support/agent/memory-disk.ts';

const FILE = '/state/meta/kubelet-version';
const NEVER = new AbortController().signal;

function setUp(disk: MemoryDisk = createMemoryDisk()) {
  const kube = createFakeKube();
  const clock = createManualClock();
  const put = (version: string, ready?: string): void =>
    kube.put('nodes', {
      metadata: { name: 'node-1' },
      status: {
        nodeInfo: { kubeletVersion: version },
        conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready }],
      },
    });
  put('v1.34.2', 'True');
  const ownNode = createOwnNode({ kube, nodeName: 'node-1', clock, disk, versionFile: FILE });
  return { kube, clock, put, ownNode, disk };
}

describe('the agent’s own Node', () => {
  it('is read once, and again when that is too long ago', async () => {
    const { kube, clock, put, ownNode } = setUp();
    assert.deepEqual(await ownNode.look(60_000, NEVER), {
      kubeletVersion: 'v1.34.2',
      ready: 'yes',
      pressures: [],
      reserved: null,
    });
    put('v1.35.0', 'False');
    await clock.advance(59_999);
    assert.deepEqual(await ownNode.look(60_000, NEVER), {
      kubeletVersion: 'v1.34.2',
      ready: 'yes',
      pressures: [],
      reserved: null,
    });
    await clock.advance(1);
    assert.deepEqual(await ownNode.look(60_000, NEVER), {
      kubeletVersion: 'v1.35.0',
      ready: 'no',
      pressures: [],
      reserved: null,
    });
    assert.equal(kube.calls.length, 2);
  });

  it('is not known to be Ready where nobody says so, and is not Ready where its lease ran out', async () => {
    const { put, ownNode } = setUp();
    put('v1.34.2', 'Unknown');
    assert.equal((await ownNode.look(0, NEVER)).ready, 'no');
    put('v1.34.2');
    assert.equal((await ownNode.look(0, NEVER)).ready, 'unknown');
  });

  it('tells the pressures that the kubelet says it is under, and none where it was not read', async () => {
    const { kube, ownNode } = setUp();
    const type = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable', 'CoffeePressure'];
    const put = (...states: readonly string[]): void =>
      kube.put('nodes', {
        metadata: { name: 'node-1' },
        status: { conditions: states.map((status, index) => ({ type: type[index], status })) },
      });
    put('True', 'False', 'True', 'True', 'True');
    assert.deepEqual((await ownNode.look(0, NEVER)).pressures, ['MemoryPressure', 'PIDPressure']);
    put('Unknown', 'False');
    assert.deepEqual((await ownNode.look(0, NEVER)).pressures, []);
    put('True');
    await ownNode.look(0, NEVER);
    kube.setAway(true);
    assert.equal((await ownNode.look(0, NEVER)).pressures, null);
  });

  it('tells which share of its memory pods cannot have, where the Node says so', async () => {
    const { kube, ownNode } = setUp();
    const reservedBy = async (capacity: unknown, allocatable: unknown): Promise<number | null> => {
      kube.put('nodes', { metadata: { name: 'node-1' }, status: { capacity, allocatable } });
      return (await ownNode.look(0, NEVER)).reserved;
    };
    assert.equal(await reservedBy({ memory: '8Gi' }, { memory: '6144Mi' }), 0.25);
    assert.equal(await reservedBy({ memory: '8Gi' }, { memory: '9Gi' }), 0);
    assert.equal(await reservedBy({ memory: '0' }, { memory: '0' }), null);
    assert.equal(await reservedBy({ memory: '8Gi' }, {}), null);
    assert.equal(await reservedBy(undefined, { memory: 'much' }), null);
    kube.setAway(true);
    assert.equal((await ownNode.look(0, NEVER)).reserved, null);
  });

  it('tells its version after a restart of the agent too, while the API server is away', async () => {
    const first = setUp();
    await first.ownNode.look(0, NEVER);
    const { kube, ownNode } = setUp(first.disk);
    kube.setAway(true);
    const { kubeletVersion, ready, problem } = await ownNode.look(0, NEVER);
    assert.deepEqual([kubeletVersion, ready], ['v1.34.2', 'unknown']);
    assert.match(problem ?? '', /no answer from the API server/);
    assert.equal(await ownNode.kubeletVersion(), 'v1.34.2');
  });

  it('says why its version is not known: another name, a missing right, or nobody who answers', async () => {
    const { kube, put, ownNode } = setUp();
    kube.remove('nodes', 'node-1');
    assert.deepEqual(await ownNode.look(0, NEVER), {
      kubeletVersion: undefined,
      ready: 'unknown',
      pressures: null,
      reserved: null,
      problem: 'there is no Node node-1: is NODE_NAME right?',
    });
    put('v1.34.2', 'True');
    assert.deepEqual(await ownNode.look(0, NEVER), {
      kubeletVersion: 'v1.34.2',
      ready: 'yes',
      pressures: [],
      reserved: null,
    });
  });

  it('does not believe a damaged note of its version, and needs none', async () => {
    for (const content of ['', 'garbage', { directory: true } as const]) {
      const { disk, ownNode } = setUp();
      disk.plant(FILE, content);
      assert.equal(await ownNode.kubeletVersion(), undefined);
      disk.failAfter(0);
      assert.equal((await ownNode.look(0, NEVER)).kubeletVersion, 'v1.34.2');
    }
  });

  it('gives up on an API server that hangs, and looks at the kubelet meanwhile', async () => {
    const { clock, disk } = setUp();
    const hanging = {
      ...createFakeKube(),
      get: (_place: unknown, _name: unknown, signal?: AbortSignal) =>
        new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
    };
    const ownNode = createOwnNode({ kube: hanging, nodeName: 'node-1', clock, disk, versionFile: FILE });
    const looking = ownNode.look(0, NEVER);
    await clock.advance(5_000);
    assert.equal((await looking).ready, 'unknown');
  });
});
