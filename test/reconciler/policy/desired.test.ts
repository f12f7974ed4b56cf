import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import { massChange } from '#reconciler/policy/commit-admission/mass-change.ts';
import { type DesiredPool, desiredState } from '#reconciler/policy/desired.ts';
import type { JudgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  commit,
  COMMIT_A,
  COMMIT_B,
  fleetOf,
  idleNode,
  invalidPool,
  nodeView,
  poolInCluster,
  recordOf,
  settledNode,
  validPool,
} from '../../support/fleet.ts';
import { sizedNode, sizedPool } from '../../support/rollout/sized-pool.ts';

const workers = validPool('workers', 110);
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

describe('a config that every node of a pool refuses', () => {
  const node = nodeView('a', 'workers', { kubeletVersion: 'v1.21.0' });
  const refuse: JudgePool = () => [{ code: 'odd', severity: 'error', message: 'no' }];
  const known = (pool: ValidPool) => desiredState(commit(COMMIT_A, pool), fleetOf({}), accept).pools;
  const wanted = (pools: readonly KubeletPool[], before?: ReadonlyMap<string, DesiredPool>) => {
    const fleet = fleetOf({ nodes: [node], kubeletNodes: [idleNode(node)], pools });
    return desiredState(commit(COMMIT_B, workers), fleet, refuse, undefined, before);
  };
  const inCluster = (pool: ValidPool) => [poolInCluster(pool)];
  const other = validPool('workers', 99);
  const replacing = validPool('workers', 110, { apply: 'replace' });
  const rows: readonly (readonly [string, Parameters<typeof wanted>, DesiredPool['origin'] | undefined])[] = [
    ['is refused where nobody has it', [[]], undefined],
    ['is refused where the pool has another', [inCluster(other), known(other)], 'kept'],
    ['stays in force where a commit said it since the start', [[], known(workers)], 'rendered'],
    ['stays in force where the cluster has it, of a leader before', [inCluster(workers)], 'rendered'],
    [
      'is refused where another leader had it, and a commit said otherwise since',
      [inCluster(workers), known(other)],
      'kept',
    ],
    ['is refused where the pool has it laid over in another way', [[], known(replacing)], 'kept'],
    ['is refused where the cluster has it laid over in another way', [inCluster(replacing)], 'kept'],
  ];
  for (const [name, given, origin] of rows) {
    it(name, () => {
      const { pools, unusable } = wanted(...given);
      const found = pools.get('workers');
      assert.equal(found?.origin, origin);
      assert.equal(unusable.has('workers'), origin === undefined);
      assert.equal(found?.findings.some(({ severity }) => severity === 'error') ?? true, origin !== 'rendered');
    });
  }

  it('changes nothing for a node that would refuse it, whatever a commit may change', () => {
    const fleet = fleetOf({ nodes: [node], kubeletNodes: [settledNode(node, other)] });
    const before = desiredState(commit(COMMIT_A, other), fleet, accept);
    const changed = (judge: JudgePool) => {
      const after = desiredState(commit(COMMIT_B, workers), fleet, judge, undefined, known(workers));
      return massChange(before, after, 0, fleet)?.changed ?? 0;
    };
    assert.deepEqual([changed(accept), changed(refuse)], [1, 0]);
  });

  it('is judged again by who is there now where a later commit has errors', () => {
    const fleet = (kubeletVersion: string) => fleetOf({ nodes: [nodeView('a', 'workers', { kubeletVersion })] });
    const old: JudgePool = (_, minors) => (minors.includes('1.21') ? refuse(workers, minors) : []);
    const { pools } = desiredState(commit(COMMIT_A, workers), fleet('v1.21.0'), old);
    assert.equal(pools.get('workers')?.unfit?.size, 1);
    const kept = (version: string) =>
      desiredState(commit(COMMIT_B, invalidPool('workers')), fleet(version), old, undefined, pools).pools.get(
        'workers',
      );
    assert.deepEqual([kept('v1.34.0')?.unfit?.size, kept('v1.21.0')?.unfit?.size], [0, 1]);
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

describe('a pool with computed values', () => {
  const [large, small] = [sizedNode('large', 16, 62.3), sizedNode('small', 2, 7.7)];
  const inCluster = () => {
    const sized = sizedPool('computed: {systemReserved: {memory: \'memory - quantity("16Gi")\'}}\n');
    const given = poolOfNode(sized, large).class.pool ?? workers;
    const config = { name: given.configName, sha256: given.sha256 };
    const classes = [{ name: 'recorded', nodes: 1, configName: config.name, sha256: config.sha256 }];
    const told = assignedNode(large, given);
    const proof = writeProof([recordOf('recorded', config.sha256)]);
    const [recorded, plain] = [poolInCluster(sized, { classes, proof }), poolInCluster(workers)];
    return { sized, given, told, recorded, plain };
  };
  const classOf = (pools: ReturnType<typeof desiredState>['pools'], node = 'large') =>
    pools.get('x')?.classes?.byNode.get(node)?.name;

  it('is sorted beside pools that are not, also while it has no nodes', () => {
    const { sized } = inCluster();
    const nodes = [large, small, nodeView('w', 'workers')];
    const { pools } = desiredState(commit(COMMIT_B, sized, workers), fleetOf({ nodes }), accept);
    assert.equal(classOf(pools), 'memory=63488Mi');
    assert.ok(!('classes' in (pools.get('workers') ?? {})));
    const empty = desiredState(commit(COMMIT_B, sized), fleetOf({}), accept).pools.get('x');
    assert.equal(empty?.classes?.byNode.size, 0);
  });

  it('has the classes that its status has where no commit was read, or where that is wrong about it', () => {
    const { sized, told, recorded, plain } = inCluster();
    const fleet = fleetOf({ nodes: [large], kubeletNodes: [told], pools: [recorded, plain] });
    const unread = desiredState(null, fleet, accept).pools;
    assert.equal(classOf(unread), 'recorded');
    assert.ok(!('classes' in (unread.get('workers') ?? {})));
    const wrong = desiredState(commit(COMMIT_B, invalidPool('x'), workers), fleet, accept).pools;
    assert.equal(classOf(wrong), 'recorded');
    const without = fleetOf({ nodes: [large], kubeletNodes: [told], pools: [poolInCluster(sized), plain] });
    assert.ok(!('classes' in (desiredState(null, without, accept).pools.get('x') ?? {})));
  });

  it('has those that a commit in force gave it, where one did since the start', () => {
    const { sized, told, recorded } = inCluster();
    const fleet = fleetOf({ nodes: [large], kubeletNodes: [told], pools: [recorded] });
    const { pools: known } = desiredState(commit(COMMIT_A, sized), fleet, accept);
    const kept = desiredState(commit(COMMIT_B, invalidPool('x')), fleet, accept, undefined, known);
    assert.equal(kept.pools.get('x')?.origin, 'kept');
    assert.equal(classOf(kept.pools), 'memory=63488Mi');
    const { inGit: _, ...untemplated } = known.get('x') ?? assert.fail();
    const again = desiredState(
      commit(COMMIT_B, invalidPool('x')),
      fleet,
      accept,
      undefined,
      new Map([['x', untemplated]]),
    );
    assert.equal(classOf(again.pools), 'memory=63488Mi');
  });

  it('changes nothing for a node that it has no config for, whatever that has', () => {
    const { sized, given } = inCluster();
    const fleet = fleetOf({ nodes: [small], kubeletNodes: [assignedNode(small, given)] });
    const [before, after] = [sizedPool("computed: {systemReserved: {memory: 'memory * 0.1'}}\n"), sized].map((pool) =>
      desiredState(commit(COMMIT_B, pool), fleet, accept),
    );
    assert.ok(before !== undefined && after !== undefined);
    assert.equal(massChange(before, after, 0, fleet), undefined);
    assert.equal(massChange(after, before, 0, fleet)?.changed, 1);
  });
});
