import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AGENT_SILENT_MS } from '#shared/contract/api/silent-agent.ts';
import { LABEL_GRACE_MS } from '#reconciler/policy/rollout/label-grace.ts';
import { clockJump, shiftTimes } from '#reconciler/policy/first-seen/clock-jump.ts';
import type { FirstSeenTimes } from '#reconciler/policy/first-seen/first-seen-times.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, poolSpec, validPool } from '../../../support/fleet.ts';
import { FleetSimulation } from '../../../support/fleet-simulation.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const JUMPS = [HOUR, -HOUR, DAY, -DAY, 400 * DAY, -400 * DAY] as const;

const names = ['a', 'b', 'c', 'd'];
const rollout = { ...poolSpec().rollout, maxUnavailable: 4, soak: '0s' };
const canary = { ...rollout, canary: { nodes: 1, soak: '1h' } };
const before = validPool('workers', 100, { rollout });
const after = validPool('workers', 110, { rollout: canary });

/** What happens to the reconciler's clock: it is set, or another reconciler goes on whose clock is that far off. */
type Event = (fleet: FleetSimulation, by: number) => void;
const EVENTS: Readonly<Record<string, Event>> = {
  'its clock is set': (fleet, by) => {
    fleet.own += by;
  },
  'another takes over whose clock is off': (fleet, by) => fleet.restart(fleet.own + by),
};

function settled(): FleetSimulation {
  const fleet = new FleetSimulation();
  for (const name of names) fleet.addNode(nodeView(name, 'workers'));
  fleet.inForce = commit(COMMIT_A, before);
  fleet.rounds(5);
  minutes(fleet, 30, () => true);
  assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Settled');
  return fleet;
}

/** Lets minutes pass until it no longer holds. @returns how many it held for */
function minutes(fleet: FleetSimulation, most: number, holds: (minute: number) => boolean): number {
  for (let minute = 0; minute < most; minute += 1) {
    fleet.agentsStep();
    fleet.reconcile();
    if (!holds(minute)) return minute;
    fleet.now += MINUTE;
  }
  return most;
}

for (const [what, event] of Object.entries(EVENTS)) {
  for (const by of JUMPS) {
    describe(`a reconciler of which ${what} by ${by / HOUR} hours`, () => {
      it('lets canaries soak for as long as they have to', () => {
        const fleet = settled();
        fleet.inForce = commit(COMMIT_B, after);
        const told = (): number => fleet.exposed.get(after.sha256)?.size ?? 0;
        const toCanary = minutes(fleet, 10, () => told() === 0);
        const soaked = minutes(fleet, 200, (minute) => {
          if (minute === 20) event(fleet, by);
          return told() === 1;
        });
        assert.ok(toCanary < 10 && soaked >= 60 && soaked <= 64, `${soaked} minutes`);
      });

      it('gives lost labels their time to come back, and no more', () => {
        const fleet = settled();
        fleet.addNode(nodeView('d', 'nobody'));
        const kept = minutes(fleet, 60, (minute) => {
          if (minute === 5) event(fleet, by);
          return fleet.fleet.kubeletNodes.get('d')?.spec?.configSource?.sha256 === before.sha256;
        });
        const grace = LABEL_GRACE_MS / MINUTE;
        assert.ok(kept >= grace && kept <= grace + 1, `${kept} minutes`);
      });

      it('takes agents for silent when nothing was heard of them for long enough, and not before', () => {
        const fleet = settled();
        event(fleet, by);
        const counts = () => fleet.reconcile().pools.get('workers')?.counts;
        assert.equal(counts()?.noAgent, 0);
        let silent = 0;
        for (; silent < 60 && counts()?.noAgent === 0; silent += 1) fleet.now += MINUTE;
        assert.ok(silent >= AGENT_SILENT_MS / MINUTE && silent <= AGENT_SILENT_MS / MINUTE + 1, `${silent} minutes`);
      });
    });
  }
}

describe('the time that a clock was put forward by', () => {
  const read = (wall: number, monotonic: number) => ({ wall, monotonic });

  it('is what it went beyond the time that passed', () => {
    assert.equal(clockJump(null, read(5, 5)), 0);
    assert.equal(clockJump(read(1_000, 7), read(61_000, 60_007)), 0);
    assert.equal(clockJump(read(1_000, 7), read(61_900, 60_007)), 0, 'clocks are corrected all the time');
    assert.equal(clockJump(read(1_000, 7), read(61_999, 60_007)), 0);
    assert.equal(clockJump(read(1_000, 7), read(62_000, 60_007)), 1_000);
    assert.equal(clockJump(read(1_000, 7), read(HOUR + 61_000.4, 60_007)), HOUR);
    assert.equal(clockJump(read(HOUR, 7), read(60_000, 60_007)), -HOUR);
  });

  it('is added to whatever was seen, and to nothing that was there before', () => {
    const stamp = (at: number) => ({ stamp: '2027-01-01T00:00:00Z', at, own: new Date(at).toISOString() });
    const sights = (by: number): FirstSeenTimes => ({
      nodes: new Map([
        [
          'a',
          {
            uid: 'u',
            firstSeen: 1_000 + by,
            assigned: 1_500 + by,
            unselected: { since: 2_000 + by, by: 'labels' },
            poolChange: { since: 3_000 + by, by: 'labels', to: 'b' },
            readiness: { stamp: 'true 1', at: 4_000 + by },
            heartbeat: stamp(5_000 + by),
            promotion: stamp(6_000 + by),
            drainFailed: { stamp: 7, at: 7_000 + by },
          },
        ],
        ['b', { uid: 'v', firstSeen: 0, readiness: { stamp: 'true 1', at: 1 + by } }],
      ]),
      sources: new Map([['s', 8_000 + by]]),
    });
    assert.deepEqual(shiftTimes(sights(0), HOUR), sights(HOUR));
    assert.deepEqual(shiftTimes(sights(HOUR), -HOUR), sights(0));
  });

  it('doubts a status for as long as it would have', () => {
    const doubting = (at: number): FirstSeenTimes => ({
      nodes: new Map([['a', { uid: 'a', firstSeen: 0, readiness: { stamp: '', at }, doubted: { stamp: 's', at } }]]),
      sources: new Map(),
    });
    assert.deepEqual(shiftTimes(doubting(1), HOUR), doubting(1 + HOUR));
  });
});
