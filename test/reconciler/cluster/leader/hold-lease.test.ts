import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { holdLease, type LeaseHold } from '#reconciler/cluster/leader/hold-lease.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts';
import { type Fate, type LeaseStore, leaseStore, machineClock } from './support/lease-store.ts';

const quick: Fate = { thereMs: 1, backMs: 1 };

interface Replica extends LeaseHold {
  readonly told: string[];
  /** From now on. */
  befall(fate: () => Fate): void;
  stop(): void;
}

function replica(
  identity: string,
  world: ManualClock,
  store: LeaseStore,
  rate = 1,
  wallSkewMs = 0,
  pod?: string,
): Replica {
  const told: string[] = [];
  const stop = new AbortController();
  let fate = (): Fate => quick;
  const hold = holdLease({
    kube: store.kubeWith(() => fate()),
    namespace: 'ns',
    name: 'l',
    identity,
    pod,
    clock: machineClock(world, rate, wallSkewMs),
    random: () => 0,
    log: silentLog,
    signal: stop.signal,
    onGained: (ahead) => told.push(ahead === 0 ? 'gained' : `gained, ${Math.round(ahead / 60_000)} minutes ahead`),
    onLost: () => told.push('lost'),
  });
  return { ...hold, told, befall: (next) => (fate = next), stop: () => stop.abort() };
}

/** One replica, and how to start more beside it. */
function alone() {
  const world = createManualClock();
  const store = leaseStore(world);
  const join = (identity: string) => replica(identity, world, store);
  return { world, store, a: join('a'), join };
}

const lose =
  (lost: 'request' | 'answer'): (() => Fate) =>
  () => ({ ...quick, lost });

describe('a lease that is held', () => {
  it('goes to the first who asks, and stays there', async () => {
    const { world, store, a, join } = alone();
    await world.advance(100);
    const b = join('b');
    await world.advance(120_000);
    assert.deepEqual([a.isLeader(), b.isLeader()], [true, false]);
    assert.deepEqual([a.holder(), b.holder()], ['a', 'a']);
    assert.deepEqual([a.told, b.told], [['gained'], []]);
    assert.equal(store.lease?.spec?.leaseTransitions, 0);
  });

  it('is renewed every two seconds with one call', async () => {
    const world = createManualClock();
    const store = leaseStore(world);
    replica('a', world, store);
    await world.advance(20_100);
    assert.deepEqual(store.calls.slice(0, 2), ['get', 'create a']);
    assert.deepEqual(new Set(store.calls.slice(2)), new Set(['write a']));
    assert.equal(store.calls.length, 12);
  });

  it('is given back at the end, and taken by the next within its pause', async () => {
    const { world, store, a, join } = alone();
    await world.advance(100);
    const b = join('b');
    await world.advance(10_000);
    a.stop();
    assert.equal(a.isLeader(), false);
    await world.advance(10);
    await a.ended;
    assert.equal(store.lease?.spec?.holderIdentity, '');
    await world.advance(2000);
    assert.deepEqual([b.isLeader(), store.lease?.spec?.leaseTransitions], [true, 1]);
    assert.deepEqual(a.told, ['gained']);
  });

  it('is taken over after fifteen seconds from one who is cut off, who has stopped after ten', async () => {
    const { world, store, a } = alone();
    await world.advance(100);
    const b = replica('b', world, store, 1, -3_600_000);
    await world.advance(10_000);
    a.befall(lose('request'));
    await world.advance(8000);
    assert.deepEqual([a.isLeader(), b.isLeader()], [true, false]);
    await world.advance(2000);
    assert.deepEqual([a.isLeader(), b.isLeader(), a.told], [false, false, ['gained', 'lost']]);
    await world.advance(7000);
    assert.deepEqual([a.isLeader(), b.isLeader()], [false, true]);
    a.befall(() => quick);
    await world.advance(10_000);
    assert.deepEqual([a.isLeader(), b.isLeader(), a.holder()], [false, true, 'b']);
  });

  it('is taken after five seconds by the next process of the same pod, which then lists again', async () => {
    const world = createManualClock();
    const store = leaseStore(world);
    const killed = replica('pod-1_a', world, store, 1, 0, 'pod-1');
    await world.advance(9000);
    killed.befall(lose('request'));
    await world.advance(1000);
    const next = replica('pod-1_b', world, store, 1, 0, 'pod-1');
    const other = replica('pod-2_a', world, store, 1, 0, 'pod-2');
    await world.advance(4900);
    assert.deepEqual([next.isLeader(), other.isLeader()], [false, false]);
    await world.advance(2000);
    assert.deepEqual([next.isLeader(), other.isLeader(), next.told], [true, false, ['gained']]);
  });

  it('stays with a process that renews it, though another of the same pod asks', async () => {
    const world = createManualClock();
    const store = leaseStore(world);
    const first = replica('pod-1_a', world, store, 1, 0, 'pod-1');
    await world.advance(100);
    const second = replica('pod-1_b', world, store, 1, 0, 'pod-1');
    await world.advance(120_000);
    assert.deepEqual([first.isLeader(), second.isLeader()], [true, false]);
  });

  for (const [skewMs, told] of [
    [3_600_000, 'gained, 60 minutes ahead'],
    [-3_600_000, 'gained, -60 minutes ahead'],
    [30_000, 'gained'],
  ] as const) {
    it(`tells whoever takes it how far apart the two clocks are: ${told}`, async () => {
      for (const isLost of [false, true]) {
        const world = createManualClock();
        const store = leaseStore(world);
        const a = replica('a', world, store);
        await world.advance(60_000);
        const b = replica('b', world, store, 1, skewMs);
        await world.advance(10_000);
        let writes = 0;
        if (isLost) b.befall(() => ((writes += 1) === 2 ? { ...quick, lost: 'answer' } : quick));
        a.stop();
        await world.advance(30_000);
        assert.ok(b.isLeader());
        assert.deepEqual(b.told, [told]);
        b.stop();
      }
    });
  }

  it('survives a server that is away for less than the renew time', async () => {
    const { world, a } = alone();
    await world.advance(5000);
    a.befall(lose('request'));
    await world.advance(6000);
    a.befall(() => quick);
    await world.advance(6000);
    assert.deepEqual([a.isLeader(), a.told], [true, ['gained']]);
  });

  it('comes back to who lost sight of it, if nobody else took it', async () => {
    const { world, a } = alone();
    await world.advance(5000);
    a.befall(lose('answer'));
    await world.advance(60_000);
    assert.equal(a.isLeader(), false);
    a.befall(() => quick);
    await world.advance(10_000);
    assert.deepEqual([a.isLeader(), a.told], [true, ['gained', 'lost', 'gained']]);
  });

  it('is made again when somebody deletes it', async () => {
    const { world, store, a } = alone();
    await world.advance(5000);
    store.replace(null);
    await world.advance(5000);
    assert.deepEqual([a.isLeader(), a.told, store.lease?.spec?.holderIdentity], [true, ['gained'], 'a']);
  });

  it('is lost at once to whoever is named in it instead', async () => {
    const { world, store, a } = alone();
    await world.advance(5000);
    store.replace({ metadata: { name: 'l' }, spec: { holderIdentity: 'x', leaseDurationSeconds: 15 } });
    await world.advance(4100);
    assert.deepEqual([a.isLeader(), a.holder()], [false, 'x']);
  });

  it('is never trusted longer than the clock allows, even by a process that was stopped', async () => {
    const world = createManualClock();
    let elapsed = 0;
    const hold = holdLease({
      kube: leaseStore(world).kubeWith(() => quick),
      namespace: 'ns',
      name: 'l',
      identity: 'a',
      // Sleeps do not end, as in a process under SIGSTOP, but time goes on.
      clock: { ...world, monotonic: () => elapsed, sleep: () => new Promise(() => undefined) },
      random: () => 0,
      log: silentLog,
      signal: new AbortController().signal,
    });
    await world.advance(10);
    assert.equal(hold.isLeader(), true);
    elapsed = 9999;
    assert.equal(hold.isLeader(), true);
    elapsed = 10_000;
    assert.equal(hold.isLeader(), false);
  });
});

/** How a replica's network is for a while. */
interface Weather {
  readonly forMs: number;
  readonly network: keyof typeof NETWORKS;
}

const NETWORKS = {
  well: { thereMs: 20, backMs: 20 },
  slow: { thereMs: 1500, backMs: 1500 },
  /** Requests arrive after their caller gave up. */
  late: { thereMs: 9000, backMs: 20 },
  deaf: { thereMs: 20, backMs: 20, lost: 'answer' },
  cut: { thereMs: 20, backMs: 20, lost: 'request' },
} as const satisfies Record<string, Fate>;

function weatherAt(series: readonly Weather[], ms: number): Fate {
  let until = 0;
  for (const { forMs, network } of series) {
    until += forMs;
    if (ms < until) return NETWORKS[network];
  }
  return NETWORKS.well;
}

describe('three replicas with clocks that run up to 15 % fast or slow, on a network that delays and loses', () => {
  const weather = fc.record<Weather>({
    forMs: fc.integer({ min: 2000, max: 30_000 }),
    network: fc.constantFrom('well', 'well', 'slow', 'late', 'deaf', 'cut'),
  });
  const machine = fc.record({
    rate: fc.constantFrom(0.85, 1, 1.15),
    weather: fc.array(weather, { minLength: 2, maxLength: 10 }),
  });

  it('never have two leaders, and have one soon after the network is well', async () => {
    await fc.assert(
      fc.asyncProperty(fc.tuple(machine, machine, machine), async (machines) => {
        const world = createManualClock();
        const store = leaseStore(world);
        const all = machines.map(({ rate }, at) => replica('abc'.charAt(at), world, store, rate, at * 1e7));
        for (const [at, one] of all.entries()) {
          one.befall(() => weatherAt(machines[at]?.weather ?? [], world.monotonic()));
        }
        const leaders = (): number => all.filter((one) => one.isLeader()).length;
        for (let step = 0; step < 400; step += 1) {
          await world.advance(250);
          assert.ok(leaders() <= 1, `two leaders after ${world.monotonic()} ms`);
        }
        for (const one of all) one.befall(() => NETWORKS.well);
        await world.advance(40_000);
        assert.equal(leaders(), 1);
        for (const one of all) one.stop();
        await world.advance(15_000);
        await Promise.all(all.map(({ ended }) => ended));
      }),
      { numRuns: 40 },
    );
  });
});

describe('a lease that is handed over', () => {
  it('is free at once, taken by the next, and never asked for again by who gave it', async () => {
    const { world, store, a, join } = alone();
    await world.advance(100);
    const b = join('b');
    await world.advance(10_000);
    const given = a.handOver();
    assert.equal(a.isLeader(), false, 'not one write more');
    await world.advance(10);
    await given;
    assert.equal(store.lease?.spec?.holderIdentity, '');
    await world.advance(2_500);
    assert.equal(b.isLeader(), true);
    await world.advance(60_000);
    assert.deepEqual([a.isLeader(), b.isLeader()], [false, true]);
    // Its process lived on: it starts again, because what it remembers is out of date.
    assert.deepEqual(a.told, ['gained', 'lost']);
  });

  it('is not taken back by a look that is on its way and finds it free', async () => {
    const { world, store, a } = alone();
    await world.advance(100);
    // A renewal is lost, so that the lease is read again, and that is on its way for long; what is sent after it is not.
    const fates: Fate[] = [
      { ...quick, lost: 'request' },
      { thereMs: 400, backMs: 1 },
    ];
    a.befall(() => fates.shift() ?? quick);
    for (let ms = 0; fates.length > 0 && ms < 15_000; ms += 10) await world.advance(10);
    assert.deepEqual([fates.length, a.isLeader()], [0, true]);
    const given = a.handOver();
    await world.advance(10_000);
    await given;
    assert.equal(store.lease?.spec?.holderIdentity, '');
  });

  it('ends in order where the process is told to', async () => {
    const { world, a } = alone();
    await world.advance(100);
    const given = a.handOver();
    await world.advance(10);
    await given;
    a.stop();
    await world.advance(10);
    await a.ended;
    assert.deepEqual(a.told, ['gained']);
  });
});
