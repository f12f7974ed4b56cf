import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAllOf } from '../../support/property.ts';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { AGENT_SILENT_MS } from '#shared/contract/api/silent-agent.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { NEW_NODE_MS } from '#reconciler/policy/rollout/new-node.ts';
import type { Plan } from '#reconciler/policy/plan.ts';
import { subjectOf } from '#reconciler/policy/steps.ts';
import { commit, COMMIT_A, COMMIT_B, nodeView, NOW, poolSpec, validPool } from '../../support/fleet.ts';
import { FleetSimulation } from '../../support/fleet-simulation.ts';
import { disruptions, events, MOST_NODES, rollouts, RolloutStory } from '../../support/rollout-story.ts';
import { EVERY_POINT } from '../../support/sample.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;

const CLOCKS = [
  ['right', 0],
  ['an hour behind', -HOUR],
  ['an hour ahead', HOUR],
  ['a year behind', -YEAR],
  ['a year ahead', YEAR],
] as const;

const names = ['a', 'b', 'c', 'd'];
const rollout = { ...poolSpec().rollout, maxUnavailable: 4, canary: { nodes: 1, soak: '1h' } };
const [before, after] = [validPool('workers', 100, { rollout }), validPool('workers', 110, { rollout })];

/** A pool that settled long ago, on machines whose clocks are off. */
function settled(off: number): FleetSimulation {
  const fleet = new FleetSimulation();
  fleet.clocks = { machine: () => off, apiServer: 0 };
  for (const name of names) fleet.addNode(nodeView(name, 'workers'));
  const { canary: _, ...atOnce } = rollout;
  fleet.inForce = commit(COMMIT_A, validPool('workers', 100, { rollout: atOnce }));
  fleet.rounds(5);
  assert.equal(fleet.fleet.pools.get('workers')?.status?.phase, 'Settled');
  fleet.inForce = commit(COMMIT_A, before);
  later(fleet, 30);
  return fleet;
}

/** Minutes pass, in which agents do what they are told and the reconciler looks. */
function later(fleet: FleetSimulation, minutes: number, restarts = false): void {
  for (let minute = 0; minute < minutes; minute += 1) {
    fleet.now += MINUTE;
    if (restarts) fleet.restart();
    fleet.agentsStep();
    fleet.reconcile();
  }
}

const told = (fleet: FleetSimulation): number => fleet.exposed.get(after.sha256)?.size ?? 0;

/** How many minutes after it was promoted its canary lets the others begin. */
function soak(
  off: number,
  restartAt: (minute: number) => boolean,
  says = (_: number, { status }: KubeletNode): KubeletNodeStatus => status ?? {},
): number {
  const fleet = settled(off);
  fleet.inForce = commit(COMMIT_B, after);
  fleet.reconcile();
  fleet.reconcile();
  fleet.agentsStep();
  fleet.agentsStep();
  for (let minute = 0; minute < 200; minute += 1) {
    if (restartAt(minute)) fleet.restart();
    for (const [name, node] of fleet.fleet.kubeletNodes) fleet.report(name, says(minute, node));
    fleet.reconcile();
    // What was found in one pass is written, and gone by in the next.
    fleet.reconcile();
    if (told(fleet) > 1) return minute;
    fleet.now += MINUTE;
    fleet.agentsStep();
  }
  return Number.POSITIVE_INFINITY;
}

describe('a canary that soaks for an hour', () => {
  for (const [clock, off] of CLOCKS) {
    it(`does so on a machine whose clock is ${clock}`, () =>
      assert.equal(
        soak(off, () => false),
        60,
      ));

    it(`does so on a machine whose clock is ${clock} while reconcilers come and go`, () => {
      assert.equal(
        soak(off, (minute) => minute === 30),
        61,
      );
      const often = soak(off, () => true);
      assert.ok(often >= 60 && often <= 61, String(often));
    });
  }

  for (const [when, from] of [
    ['before its promotion is seen', 0],
    ['in the middle of it', 10],
  ] as const) {
    it(`does so on a machine whose clock is put forward by a year ${when}`, () => {
      const isForward = (minute: number, { status }: KubeletNode): KubeletNodeStatus => ({
        ...status,
        ...(minute < from ? {} : { heartbeat: toTimestamp(NOW + YEAR + minute * MINUTE) }),
      });
      assert.equal(
        soak(0, () => false, isForward),
        60,
      );
    });
  }

  it('soaks for all of it where it was promoted while no reconciler looked', () => {
    const fleet = settled(-YEAR);
    fleet.inForce = commit(COMMIT_B, after);
    fleet.reconcile();
    fleet.reconcile();
    fleet.agentsStep();
    fleet.now += 3 * HOUR;
    fleet.agentsStep();
    fleet.restart();
    later(fleet, 59);
    assert.equal(told(fleet), 1);
    later(fleet, 3);
    assert.equal(told(fleet), 4);
  });
});

describe('an agent', () => {
  for (const [clock, off] of CLOCKS) {
    it(`counts as silent when nothing was heard of it for long enough, with a clock that is ${clock}`, () => {
      const fleet = settled(off);
      const silent = (): number => fleet.reconcile().pools.get('workers')?.counts?.noAgent ?? -1;
      assert.equal(silent(), 0);
      fleet.now += AGENT_SILENT_MS;
      assert.equal(silent(), 0);
      fleet.now += 1;
      assert.equal(silent(), names.length);
      fleet.beat('a');
      assert.equal(silent(), names.length - 1);
    });
  }

  it('counts as alive to a reconciler that has just started, and as silent to the same soon after', () => {
    const fleet = settled(-HOUR);
    const silent = (): number => fleet.reconcile().pools.get('workers')?.counts?.noAgent ?? -1;
    fleet.restart();
    assert.equal(silent(), 0);
    fleet.now += AGENT_SILENT_MS + 1;
    assert.equal(silent(), names.length);
  });
});

describe('a node that joins', () => {
  const joins = (apiServer: number, after: (fleet: FleetSimulation) => void): readonly string[] => {
    const fleet = settled(0);
    fleet.clocks = { ...fleet.clocks, apiServer };
    fleet.addNode(nodeView('new', 'workers', { createdAt: fleet.now, readySince: fleet.now, gated: true }));
    const closed = {
      ...rollout,
      windows: { allow: [{ cron: '0 0 30 2 *', duration: '1h' }], deny: [], overrun: 'stop' },
    } as const;
    fleet.inForce = commit(COMMIT_A, validPool('workers', 100, { rollout: closed, suspend: true }));
    after(fleet);
    return ['new', ...names].filter((name) =>
      fleet
        .reconcile()
        .nodes.groups.some(({ decisions }) =>
          decisions.some(({ member }) => member.node.name === name && member.joining),
        ),
    );
  };

  for (const [clock, off] of CLOCKS) {
    it(`is new, and nobody else is, where the clock of the API server is ${clock}`, () => {
      const noAgent = (fleet: FleetSimulation): void => {
        fleet.reconcile();
        const node = fleet.fleet.kubeletNodes.get('new');
        if (node !== undefined) fleet.report('new', {});
      };
      assert.deepEqual(joins(off, noAgent), ['new']);
      assert.deepEqual(
        joins(off, (fleet) => {
          noAgent(fleet);
          fleet.now += NEW_NODE_MS - MINUTE;
          fleet.restart();
        }),
        ['new'],
        'also for the next reconciler',
      );
      assert.deepEqual(
        joins(off, (fleet) => {
          noAgent(fleet);
          fleet.now += NEW_NODE_MS + 1_000;
          fleet.restart();
        }),
        [],
      );
    });
  }

  it('while no reconciler looked is new to the next one', () => {
    assert.deepEqual(
      joins(-YEAR, (fleet) => fleet.restart()),
      ['new'],
    );
  });

  it('before there was any reconciler is not new', () => {
    const fleet = new FleetSimulation();
    fleet.addNode(nodeView('old', 'workers', { createdAt: fleet.now }));
    fleet.inForce = commit(COMMIT_A, before);
    for (let pass = 0; pass < 3; pass += 1) {
      const [group] = fleet.reconcile().nodes.groups;
      assert.deepEqual(
        group?.decisions.map(({ member }) => member.joining),
        [false],
      );
    }
  });
});

describe('a config source that nothing refers to', () => {
  for (const [clock, apiServer] of CLOCKS) {
    it(`goes an hour after it was first seen, where the clock of the API server is ${clock}`, () => {
      const fleet = settled(0);
      fleet.clocks = { ...fleet.clocks, apiServer };
      const stray = {
        name: 'stray',
        uid: 'stray',
        resourceVersion: '1',
        pool: 'x',
        payload: 'x',
        sha256: 'x',
        canonicalForm: 1,
      };
      const sources = new Map([...fleet.fleet.configSources, ['stray', { ...stray, createdAt: fleet.now }]]);
      fleet.fleet = { ...fleet.fleet, configSources: sources };
      later(fleet, 61);
      assert.equal(fleet.fleet.configSources.has('stray'), true);
      later(fleet, 1);
      assert.equal(fleet.fleet.configSources.has('stray'), false);
    });
  }
});

/** What is written, and what people see, without the timestamps that only identify something. */
const decisionsOf = ({ steps, pools }: Plan): unknown => [
  steps.map((step) => {
    const { config, commit: oid, ...subject } = subjectOf(step);
    return [step.step, subject, config, oid, 'because' in step ? step.because : ''];
  }),
  [...pools].map(([name, { phase, message, counts, halt, settled: on, rollout: way }]) => [
    name,
    phase,
    message,
    counts,
    halt?.at,
    on?.sha256,
    way?.waves,
  ]),
];

describe('decisions', () => {
  it('are the same however far the clock of any machine is off, whenever a reconciler starts', () => {
    const off = fc
      .oneof(fc.constantFrom(...CLOCKS.map(([, by]) => by)), fc.integer({ min: -100_000, max: 100_000 }))
      .map((by) => Math.round(by / 1_000) * 1_000);
    const offs = fc.array(off, { minLength: MOST_NODES, maxLength: MOST_NODES });
    const happenings = fc.array(
      fc.oneof({ weight: 12, arbitrary: events }, { weight: 1, arbitrary: fc.constant('restart' as const) }),
      { maxLength: 80 },
    );
    forAllOf(
      EVERY_POINT ? 2_000 : 300,
      rollouts,
      disruptions,
      offs,
      off,
      happenings,
      (way, disruption, machines, apiServer, told) => {
        const [right, wrong] = [new RolloutStory(way, 6, disruption), new RolloutStory(way, 6, disruption)];
        wrong.fleet.clocks = { machine: (name) => machines[Number(name.slice(1))] ?? 0, apiServer };
        for (const event of told) {
          const [one, other] = [right, wrong].map((story) => {
            if (event === 'restart') story.fleet.restart();
            else story.happen(event);
            return decisionsOf(story.fleet.reconcile());
          });
          assert.deepEqual(other, one);
        }
      },
    );
  });
});

it('a time that lies ahead, of a drain that was given up, holds a node no longer than any other', () => {
  const fleet = settled(0);
  const disruption = { allow: ['restart', 'drain'] as const, drainTimeout: '10m' };
  const draining = validPool(
    'workers',
    120,
    { rollout: { ...poolSpec().rollout }, disruption },
    { topologyManagerScope: 'pod' },
  );
  fleet.inForce = commit(COMMIT_B, draining);
  const [first] = names.map((name) => fleet.fleet.nodes.get(name));
  assert.ok(first !== undefined);
  fleet.addNode({ ...first, drainFailed: { config: draining.configName, at: fleet.now + YEAR, times: 1 } });
  const drains = (): boolean =>
    fleet.reconcile().steps.some((step) => step.step === 'cordon' && step.node === first.name);
  for (const name of names.slice(1)) fleet.removeNode(name);
  fleet.reconcile();
  later(fleet, 28);
  assert.equal(drains(), false);
  later(fleet, 3);
  assert.equal(fleet.fleet.nodes.get(first.name)?.drain !== undefined || drains(), true);
});
