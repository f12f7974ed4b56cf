import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { suspendedUntil } from '#reconciler/policy/suspension.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { buildModel } from '#reconciler/reporting/status-page/build-model.ts';
import type { WorkingModel } from '#reconciler/reporting/status-page/model.ts';
import { writeHistory } from '#reconciler/reporting/notes/commit-history.ts';
import type { SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { commit, COMMIT_A, COMMIT_B, invalidPool, NOW, validPool } from '../../../support/fleet.ts';
import type { FleetSimulation } from '../../../support/fleet-simulation.ts';
import { rollingFleet, passResultIn, passResultOf, settledFleet } from './pass-results.ts';
import { column, columns } from '../../../support/columns.ts';

const ABOUT = { cluster: 'prod', version: '1.2.3', forge: undefined } as const;

const modelOf = (simulation: FleetSimulation, source: Partial<SourceState> = {}): WorkingModel =>
  buildModel(passResultIn(simulation, source), ABOUT, simulation.now);
const poolIn = (model: WorkingModel, name: string) => model.pools.find((pool) => pool.name === name);
const stateOf = (model: WorkingModel, name: string): string | undefined =>
  model.nodes.find((node) => node.name === name)?.state;

describe('the model of the page', () => {
  it('says that all is well where it is, and needs nobody', () => {
    const model = modelOf(settledFleet(4));
    assert.deepEqual(columns(model.pools, 'name', 'state'), [
      ['gpu', 'settled'],
      ['workers', 'settled'],
    ]);
    assert.deepEqual(model.banners, []);
    assert.equal(stateOf(model, 'stray-1'), 'unselected');
  });

  it('has every node in exactly one state, and every pool’s nodes add up', () => {
    const model = modelOf(rollingFleet());
    assert.equal(new Set(model.nodes.map(({ name }) => name)).size, 14);
    for (const { counts, states } of model.pools) {
      assert.equal(
        states.reduce((sum, { nodes }) => sum + nodes, 0),
        counts.nodes,
      );
    }
  });

  it('shows a rollout with its waves over its time', () => {
    const simulation = rollingFleet();
    simulation.now += 60_000;
    const workers = poolIn(modelOf(simulation), 'workers');
    assert.equal(workers?.state, 'rolling');
    assert.equal(workers?.rollout?.finishedAt, '');
    assert.deepEqual(columns(workers?.rollout?.waves, 'name', 'span'), [['rest', { from: 0, to: 1_000 }]]);
  });

  it('says why a node waits, in the words of the planner', () => {
    const model = modelOf(rollingFleet());
    const waiting = model.nodes.filter(({ state }) => state === 'waiting');
    assert.ok(waiting.length > 0);
    for (const { now, because } of waiting) assert.deepEqual([now, because !== ''], ['budget', true]);
  });

  it('says how far a node is in its trial, and that a machine has to boot', () => {
    const simulation = rollingFleet();
    const [updating] = modelOf(simulation).nodes.filter(({ state }) => state === 'updating');
    const node = simulation.fleet.kubeletNodes.get(updating?.name ?? '');
    assert.ok(node !== undefined);
    const trial = { config: 'x', since: toTimestamp(NOW), healthySeconds: 120, durationSeconds: 600, restarts: 1 };
    const rowWith = (status: Partial<KubeletNodeStatus>) => {
      const changed = { ...node, status: { ...node.status, phase: 'Trial' as const, ...status } };
      const kubeletNodes = new Map([...simulation.fleet.kubeletNodes, [node.metadata.name, changed]]);
      const { inForce } = simulation;
      const model = buildModel(passResultOf({ fleet: { ...simulation.fleet, kubeletNodes }, inForce }), ABOUT, NOW);
      return model.nodes.find(({ name }) => name === node.metadata.name);
    };
    assert.equal(rowWith({ trial })?.progress, 'Trial, healthy for 120 of 600 s, unplanned restarts: 1');
    assert.equal(rowWith({ trial: { ...trial, awaitsReboot: 'systemd' } })?.state, 'rebooting');
  });

  it('says of a halted pool what failed where, and what to do', () => {
    const simulation = rollingFleet();
    const pool = validPool('workers', 9999, {
      rollout: { maxUnavailable: 2, soak: '0s', onFailure: { threshold: 1, action: 'halt' } },
    });
    simulation.deadly.add(pool.sha256);
    simulation.inForce = commit('c'.repeat(40), pool, validPool('gpu', 64));
    simulation.rounds(4);
    simulation.reconcile();
    const model = modelOf(simulation);
    assert.equal(poolIn(model, 'workers')?.state, 'halted');
    assert.equal(poolIn(model, 'workers')?.rollout?.waves[0]?.state, 'stopped');
    assert.equal(model.banners[0]?.title, 'Pool workers is halted');
    assert.match(model.banners[0]?.text ?? '', /workers-\d+: CrashLoop: exit-code 1/);
    assert.match(model.banners[0]?.remedies.join(' ') ?? '', /`kubelet-gitops release workers`/);
    const failed = model.nodes.filter(({ state }) => state === 'failed');
    assert.equal(failed.length, poolIn(model, 'workers')?.counts.failed);
  });

  it('reminds of a suspension, also where nothing waits for it, with the reason that was given', () => {
    const simulation = settledFleet(2);
    simulation.annotatePool('gpu', { [SUSPEND_ANNOTATION]: 'storage is being moved' });
    const model = modelOf(simulation);
    assert.equal(poolIn(model, 'gpu')?.state, 'suspended');
    assert.match(model.banners[0]?.text ?? '', /storage is being moved/);
  });

  it('says until when a pool is suspended, and no more once that is over', () => {
    const simulation = settledFleet(2);
    const at = simulation.now;
    simulation.annotatePool('gpu', { [SUSPEND_ANNOTATION]: suspendedUntil(at + 60_000, 'storage is being moved') });
    assert.match(modelOf(simulation).banners[0]?.text ?? '', /suspended \(until \S+Z: storage is being moved\)/);
    simulation.annotatePool('gpu', { [SUSPEND_ANNOTATION]: suspendedUntil(at, 'storage is being moved') });
    assert.equal(poolIn(modelOf(simulation), 'gpu')?.state, 'settled');
  });

  it('shows a node that asks for a restart as one that waits or starts, and its pool as under way', () => {
    const simulation = settledFleet(4);
    const names = [...simulation.fleet.nodes.keys()].filter((name) => name.startsWith('workers'));
    simulation.inForce = commit(COMMIT_A, validPool('workers', 110), validPool('gpu', 64));
    for (const name of names) simulation.rewriteBase(name, 'b1');
    const model = modelOf(simulation);
    const states = names.map((name) => stateOf(model, name));
    assert.deepEqual(states, ['starting', 'waiting', 'waiting', 'waiting']);
    const waits = model.nodes.find(({ state }) => state === 'waiting');
    assert.match(waits?.because ?? '', /^its own config file changed; its restart waits: maxUnavailable allows/);
  });

  it('tells windows from other waiting', () => {
    const simulation = settledFleet(2);
    const windows = { allow: [{ cron: '0 3 * * 1', duration: '1h' }], deny: [], overrun: 'stop' } as const;
    const rollout = { maxUnavailable: 1, soak: '0s', windows, onFailure: { threshold: 1, action: 'halt' } } as const;
    simulation.inForce = commit(COMMIT_B, validPool('workers', 200, { rollout }), validPool('gpu', 64));
    simulation.reconcile();
    assert.equal(poolIn(modelOf(simulation), 'workers')?.state, 'window');
  });

  it('shows what the commit has wrong about a pool that keeps what it had', () => {
    const simulation = settledFleet(2);
    simulation.inForce = commit(COMMIT_B, invalidPool('workers'), validPool('gpu', 64));
    const model = modelOf(simulation);
    assert.match(model.banners[0]?.text ?? '', /pools\/workers\/kubelet\.yaml:3:1: error unknown-field/);
    assert.equal(poolIn(model, 'workers')?.counts.updated, 2);
  });

  it('puts what needs a person most before everything else', () => {
    const model = modelOf(settledFleet(2), {
      refusedCommit: COMMIT_B,
      refusedBecause: 'it is not a descendant',
      failingSince: toTimestamp(NOW),
      failure: 'the server is away',
    });
    assert.deepEqual(column(model.banners, 'title'), [
      'Commit bbbbbbbbbbbb is refused',
      'The repository cannot be read',
    ]);
  });

  it('owns up to an old picture', () => {
    const simulation = settledFleet(2);
    const titles = (later: number) =>
      buildModel(passResultIn(simulation), ABOUT, simulation.now + later).banners.map(({ title }) => title);
    assert.deepEqual(titles(90_000), []);
    assert.deepEqual(titles(90_001), ['This picture is old']);
  });

  it('links commits to the forge where that is known', () => {
    const entry = { oid: COMMIT_A, subject: 'x', author: 'Ada', at: toTimestamp(NOW), outcome: 'settled' } as const;
    const history = writeHistory('', [entry]);
    const [row] = modelOf(settledFleet(2), { history, url: 'https://github.com/acme/config' }).commits;
    assert.deepEqual(row, { ...entry, link: `https://github.com/acme/config/commit/${COMMIT_A}` });
  });
});
