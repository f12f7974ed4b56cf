import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adoptName } from '#reconciler/policy/adopt-name.ts';
import { poolsToAsk } from '#reconciler/policy/blockers.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { ConfigSourceView, Fleet } from '#reconciler/policy/fleet.ts';
import { planConfigSources } from '#reconciler/policy/plan-config-sources.ts';
import { configMapName, otherConfigMapName } from '#shared/contract/config-map.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import {
  commit,
  COMMIT_A,
  COMMIT_B,
  configSource,
  fleetOf,
  idleNode,
  invalidPool,
  nodeView,
  NOW,
  poolInCluster,
  validPool,
} from '../../support/fleet.ts';

const HOUR = 3_600_000;
const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: HOUR };
const workers = validPool('workers', 110);
const a = nodeView('a', 'workers');
const accept = () => [];

describe('a pool is judged for', () => {
  it('each minor version of its own nodes once, in order, as far as it can be read', () => {
    const versions = ['v1.34.2', '1.33.1', 'v1.34.0', 'unknown', 'v1.30.0-rc.1', 'a1.31.0', 'v10.2.0'];
    const nodes = versions.map((kubeletVersion, index) => nodeView(`n${index}`, 'workers', { kubeletVersion }));
    const other = nodeView('other', 'gpu', { kubeletVersion: 'v1.20.0' });
    const asked: (readonly [string, readonly string[]])[] = [];
    desiredState(
      commit(COMMIT_B, workers, invalidPool('gpu')),
      fleetOf({ nodes: [...nodes, other] }),
      (pool, minors) => {
        asked.push([pool.name, minors]);
        return [];
      },
    );
    assert.deepEqual(asked, [['workers', ['1.30', '1.33', '1.34', '10.2']]]);
  });
});

describe('what the cluster has of a pool while git was not read', () => {
  const { configName, sha256 } = workers;
  const rows: readonly (readonly [string, KubeletPool['status'], string | undefined])[] = [
    ['stays, and nothing is wrong with it,', { phase: 'Settled', configName, sha256 }, 'kept'],
    ['stays where it has no phase yet', { configName, sha256 }, 'kept'],
    ['goes on leaving where its record says so', { phase: 'Progressing' }, 'retiring'],
    ['is nothing where its record is lost', {}, undefined],
  ];
  for (const [name, status = {}, origin] of rows) {
    it(name, () => {
      const pool = { ...poolInCluster(workers), status };
      const found = desiredState(null, fleetOf({ pools: [pool] }), accept).pools.get('workers');
      assert.deepEqual([found?.origin, found?.findings ?? []], [origin, []]);
    });
  }
});

describe('what the cluster has of a pool', () => {
  const kept = (pool: KubeletPool) =>
    desiredState(commit(COMMIT_B, invalidPool('workers')), fleetOf({ pools: [pool] }), accept);
  const present = poolInCluster(workers);
  const { spec: _, ...specless } = present;

  it('stays in force where the commit is wrong about it, with what is wrong', () => {
    const { pools, unusable, findings } = kept(present);
    const { origin, config, commit: oid, findings: own } = pools.get('workers') ?? {};
    assert.deepEqual([origin, config, oid], ['kept', { name: workers.configName, sha256: workers.sha256 }, COMMIT_A]);
    assert.equal(own?.length, 1);
    assert.deepEqual([[...unusable], findings], [[], []]);
  });

  it('may be of a commit that nobody knows', () => {
    const { configName, sha256 } = workers;
    const unknown = { ...present, status: { configName, sha256 } };
    assert.equal(kept(unknown).pools.get('workers')?.commit, null);
  });

  const lacking: readonly (readonly [string, KubeletPool])[] = [
    ['a spec', specless],
    ['a status', { metadata: present.metadata, spec: workers.spec }],
    ['the name of its config', { ...present, status: { sha256: workers.sha256 } }],
    ['the hash of its config', { ...present, status: { configName: workers.configName } }],
  ];
  for (const [what, pool] of lacking) {
    it(`is nothing without ${what}: what is wrong belongs to no pool then`, () => {
      const { pools, unusable, findings } = kept(pool);
      assert.deepEqual([pools.size, [...unusable], findings.length], [0, ['workers'], 1]);
    });
  }

  it('goes with the pool, but for one that never had a spec', () => {
    const gone = (pool: KubeletPool) =>
      desiredState(commit(COMMIT_B), fleetOf({ pools: [pool] }), accept).pools.get('workers');
    assert.deepEqual(gone(present), {
      name: 'workers',
      origin: 'retiring',
      spec: workers.spec,
      config: null,
      commit: null,
      findings: [],
    });
    assert.equal(gone(specless), undefined);
  });
});

describe('a config of other bytes', () => {
  const spaced = JSON.stringify(workers.value);
  const older = (view: Partial<ConfigSourceView> = {}): ConfigSourceView =>
    configSource(workers, {
      name: configMapName('workers', spaced),
      payload: spaced,
      sha256: 'old',
      canonicalForm: 0,
      ...view,
    });
  const adopted = (...sources: readonly ConfigSourceView[]): string =>
    adoptName(workers, new Map(sources.map((source) => [source.name, source]))).name;
  const none = workers.configName;
  const own = older().name;
  const bare: ConfigSourceView = { ...older(), payload: undefined };
  const fake = configMapName('workers', '{');

  const rows: readonly (readonly [string, readonly ConfigSourceView[], string])[] = [
    ['is kept where it means the same', [older()], own],
    ['is not kept where ours is there as well', [older(), configSource(workers)], none],
    ['is not kept where it is of another pool', [older({ pool: 'other' })], none],
    ['is not kept where it was written in our own form', [older({ canonicalForm: 1 })], none],
    ['is not kept where its bytes are not there', [bare], none],
    ['is not kept where its name is not that of its bytes', [older({ name: 'workers-other' })], none],
    [
      'is not kept where it means something else',
      [older({ name: configMapName('workers', '{}'), payload: '{}' })],
      none,
    ],
    ['is not kept where it cannot be read', [older({ name: fake, payload: '{' })], none],
  ];
  for (const [what, sources, expected] of rows) it(what, () => assert.equal(adopted(...sources), expected));

  it('comes with its own hash and bytes', () => {
    const source = older();
    assert.deepEqual(adoptName(workers, new Map([[source.name, source]])), {
      name: own,
      sha256: 'old',
      payload: spaced,
    });
  });
});

describe('the name of a config', () => {
  const other = (mark = 'a1', view: Partial<ConfigSourceView> = {}): ConfigSourceView =>
    configSource(workers, { name: otherConfigMapName('workers', mark, workers.payload), ...view });
  const usual = workers.configName;
  const made = (...sources: readonly ConfigSourceView[]) =>
    adoptName(workers, new Map(sources.map((source) => [source.name, source])));

  const rows: readonly (readonly [string, readonly ConfigSourceView[], string])[] = [
    ['is another one where that was made because the usual was taken', [other()], other().name],
    ['is another one where the usual has other bytes', [configSource(workers, { sha256: 'x' }), other()], other().name],
    [
      'is another one where the usual can be edited',
      [configSource(workers, { passing: 'editable' }), other()],
      other().name,
    ],
    [
      'is another one where the usual is being deleted',
      [configSource(workers, { passing: 'leaving' }), other()],
      other().name,
    ],
    ['is the usual where that is sound', [other(), configSource(workers)], usual],
    ['is the usual where nothing sound is there', [configSource(workers, { passing: 'leaving' })], usual],
    ['is none that can be edited', [other('a1', { passing: 'editable' })], usual],
    ['is none that is being deleted', [other('a1', { passing: 'leaving' })], usual],
    ['is none with other bytes', [other('a1', { sha256: 'x' })], usual],
    ['is none of another pool', [other('a1', { pool: 'gpu' })], usual],
    ['is none whose name is not that of its bytes', [other('a1', { name: 'workers.a1-bcdfghklmt' })], usual],
    ['is none that only begins alike', [other('a1', { name: configMapName('workers-2', workers.payload) })], usual],
  ];
  for (const [what, sources, expected] of rows) it(what, () => assert.equal(made(...sources).name, expected));

  it('is said to be another one, as a finding of the pool', () => {
    const fleet = fleetOf({ configSources: [other()] });
    const pool = desiredState(commit(COMMIT_B, workers), fleet, accept).pools.get('workers');
    assert.deepEqual(
      pool?.findings.map(({ code, severity, message }) => [
        code,
        severity,
        message.includes(usual),
        message.includes(other().name),
      ]),
      [['config-name-taken', 'warning', true, true]],
    );
    assert.deepEqual(
      planConfigSources(desiredState(commit(COMMIT_B, workers), fleet, accept), fleet, SETTINGS, NOW + 9 * HOUR),
      [],
    );
  });
});

describe('a config source', () => {
  it('is made again where it can be edited, and nothing more is done to one that somebody keeps from being deleted', () => {
    const steps = (passing: 'editable' | 'leaving') => {
      const fleet = fleetOf({ configSources: [configSource(workers, { passing })] });
      const of = (...pools: Parameters<typeof commit> extends [string, ...infer P] ? P : never) =>
        planConfigSources(desiredState(commit(COMMIT_B, ...pools), fleet, accept), fleet, SETTINGS, NOW + 9 * HOUR);
      return [of(workers), of()].map((planned) => planned.map(({ step }) => step));
    };
    assert.deepEqual(steps('editable'), [['delete-config-source', 'create-config-source'], ['delete-config-source']]);
    assert.deepEqual(steps('leaving'), [['create-config-source'], []]);
  });

  const stale = (age: number): ConfigSourceView => configSource(workers, { createdAt: NOW - age });
  const pruned = (fleet: Partial<Fleet>, age = 2 * HOUR): number => {
    const whole = { ...fleetOf({ configSources: [stale(age)] }), ...fleet };
    return planConfigSources(desiredState(commit(COMMIT_B), whole, accept), whole, SETTINGS, NOW).length;
  };
  const nodes = (status: object, spec: object = {}) => ({
    kubeletNodes: new Map([['a', { ...idleNode(a, status), spec } as ReturnType<typeof idleNode>]]),
  });
  const reference = { name: workers.configName };

  it('goes when nobody refers to it for longer than it is kept', () => {
    assert.equal(pruned({}, HOUR), 0);
    assert.equal(pruned({}, HOUR + 1), 1);
    assert.equal(pruned(nodes({})), 1);
    assert.equal(pruned({ kubeletNodes: new Map([['a', { metadata: { name: 'a' } }]]) }), 1, 'a new node');
  });

  const users: readonly (readonly [string, Partial<Fleet>])[] = [
    ['is told to run it', nodes({}, { configSource: reference })],
    ['has it assigned', nodes({ assigned: reference })],
    ['runs it', nodes({ active: reference })],
    ['would fall back to it', nodes({ lastKnownGood: reference })],
  ];
  for (const [what, fleet] of users) it(`stays while a node ${what}`, () => assert.equal(pruned(fleet), 0));

  it('stays while a pool has it, or has settled on it', () => {
    const having = (status: object) => ({
      pools: new Map([['x', { ...poolInCluster(workers), status } as KubeletPool]]),
    });
    assert.equal(pruned(having({ configName: workers.configName })), 0);
    assert.equal(pruned(having({ settled: { configName: workers.configName } })), 0);
    assert.equal(pruned(having({})), 1);
  });

  it('of a pool that is only known from the cluster is not made again from nothing', () => {
    const fleet = fleetOf({ pools: [poolInCluster(workers)], configSources: [configSource(workers, { sha256: 'x' })] });
    assert.deepEqual(planConfigSources(desiredState(null, fleet, accept), fleet, SETTINGS, NOW), []);
  });

  it('is made of all that is known of it', () => {
    const fleet = fleetOf({});
    const [step] = planConfigSources(desiredState(commit(COMMIT_B, workers), fleet, accept), fleet, SETTINGS, NOW);
    const { configName: name, sha256, payload } = workers;
    assert.deepEqual(step, {
      step: 'create-config-source',
      pool: 'workers',
      config: { name, sha256, payload },
      commit: COMMIT_B,
    });
  });
});

describe('the blockers of a pool are asked', () => {
  const blockers = { prometheus: { url: 'http://p', query: 'up' } };
  const asked = (status: object | undefined, maxPods = 110, spec: object = { blockers }): readonly string[] => {
    const pool = validPool('workers', maxPods, spec);
    const present = { ...poolInCluster(workers), ...(status === undefined ? {} : { status }) } as KubeletPool;
    const fleet = fleetOf(status === undefined ? {} : { pools: [present] });
    return poolsToAsk(desiredState(commit(COMMIT_B, pool), fleet, accept), fleet).map(({ name }) => name);
  };
  const { sha256 } = workers;
  const rows: readonly (readonly [string, Parameters<typeof asked>, number])[] = [
    ['where the pool is new', [undefined], 1],
    ['while it changes', [{ phase: 'Progressing', sha256 }], 1],
    ['not where it has settled', [{ phase: 'Settled', sha256 }], 0],
    ['where it has, and a node asks for a restart', [{ phase: 'Settled', sha256, holds: [{ reason: 'blocked' }] }], 1],
    ['not where it is empty', [{ phase: 'Empty', sha256 }], 0],
    ['where it had settled on another config', [{ phase: 'Settled', sha256 }, 120], 1],
    ['not where it has none', [{ phase: 'Progressing', sha256 }, 110, {}], 0],
  ];
  for (const [what, parts, expected] of rows) {
    it(what, () => assert.deepEqual(asked(...parts), Array(expected).fill('workers')));
  }

  it('are none of a pool that goes, and has come to rest', () => {
    const going = poolInCluster(validPool('workers', 110, { blockers }));
    const fleet = fleetOf({ pools: [{ ...going, status: { phase: 'Empty' } }] });
    assert.deepEqual(poolsToAsk(desiredState(commit(COMMIT_B), fleet, accept), fleet), []);
  });
});
