import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createNodeLease } from '#agent/observe/node-lease.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createFakeKube } from '../../support/agent/fake-kube.ts';

const NEVER = new AbortController().signal;

function setUp() {
  const kube = createFakeKube();
  const clock = createManualClock();
  const lease = createNodeLease(kube, 'node-1', clock);
  const renew = (renewTime: string, leaseDurationSeconds = 40): void =>
    kube.put('leases', { metadata: { name: 'node-1' }, spec: { renewTime, leaseDurationSeconds } });
  return { kube, clock, lease, renew };
}

describe('the lease of a node', () => {
  it('is stale when it was not renewed for as long as it lasts, whatever time it names', async () => {
    const { clock, lease, renew } = setUp();
    renew('1999-01-01T00:00:00.000000Z');
    assert.equal(await lease.isStale(NEVER), false);
    await clock.advance(40_000);
    assert.equal(await lease.isStale(NEVER), false);
    await clock.advance(1);
    assert.equal(await lease.isStale(NEVER), true);
    renew('1999-01-01T00:00:10.000000Z');
    assert.equal(await lease.isStale(NEVER), false);
  });

  it('is not called stale where it cannot be read, or is not there', async () => {
    const { kube, clock, lease, renew } = setUp();
    assert.equal(await lease.isStale(NEVER), false);
    renew('2026-01-01T00:00:00.000000Z');
    await lease.isStale(NEVER);
    await clock.advance(60_000);
    kube.setAway(true);
    assert.equal(await lease.isStale(NEVER), false);
  });
});
