import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { poolOfNode } from '#reconciler/policy/config-repo/pool-of-class.ts';
import { massChange } from '#reconciler/policy/commit-admission/mass-change.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import { writeProof } from '#reconciler/policy/proof/record.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  commit,
  COMMIT_A,
  COMMIT_B,
  fleetOf,
  invalidPool,
  nodeView,
  poolInCluster,
  recordOf,
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
