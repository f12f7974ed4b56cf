import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_CLUSTER } from '#reconciler/policy/repo/read-cluster.ts';
import { brief, CLUSTER, KUBELET, load, POOL, pool } from './support/load.ts';

describe('a cluster file', () => {
  const pools = { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': `${KUBELET}podLogsDir: /var/log/pods\n` };
  const cluster = (spec: string) => load({ ...pools, 'clusters/prod.yaml': `${CLUSTER}${spec}` });

  it('may be absent', () => assert.deepEqual(load(pools).cluster, { ...DEFAULT_CLUSTER, missing: true }));

  for (const name of ['prod.yml', 'prod.json', 'Prod.yaml']) {
    it(`called ${name} is not overlooked: nothing new is started before it has its right name`, () => {
      const repo = load({ ...pools, [`clusters/${name}`]: `${CLUSTER}  suspend: true\n` });
      assert.deepEqual(brief(repo.findings), [`misnamed-cluster clusters/${name}`]);
      assert.match(repo.cluster.unreadable ?? '', /rename it to clusters\/prod\.yaml/);
      assert.equal(pool(repo, 'x').status, 'valid');
    });
  }

  it('that only other clusters have holds everything up: CLUSTER or a name is wrong', () => {
    const repo = load({ ...pools, 'clusters/prd.yaml': CLUSTER });
    assert.deepEqual(brief(repo.findings), ['missing-cluster clusters/prod.yaml']);
    assert.match(repo.cluster.unreadable ?? '', /there is clusters\/prd\.yaml/);
    assert.equal(pool(repo, 'x').status, 'valid');
  });

  it('of another cluster is none of this one’s business', () => {
    const others = { 'clusters/prod-2.yaml': 'a: [', 'clusters/other.yml': CLUSTER, 'clusters/README.md': 'x' };
    const repo = load({ ...pools, ...others, 'clusters/prod.yaml': CLUSTER });
    assert.deepEqual(repo.cluster, DEFAULT_CLUSTER);
    assert.deepEqual(repo.findings, []);
  });

  it('names the versions that every pool is judged for', () => {
    assert.equal(pool(cluster('  kubeletVersions: ["1.34"]\n'), 'x').status, 'valid');
    const [finding] = pool(cluster('  kubeletVersions: ["1.28", "1.34"]\n'), 'x').findings;
    assert.deepEqual([finding?.code, finding?.versions], ['unknown-field', ['1.28']]);
  });

  it('sets how many nodes a commit may send home', () =>
    assert.equal(cluster('  maxUnassign: 3\n').cluster.maxUnassign, 3));

  const faults: readonly (readonly [string, string, readonly string[]])[] = [
    ['an unknown key', '  maxUnasign: 3\n', ['unknown-field clusters/prod.yaml:4:3']],
    ['a version without quotes', '  kubeletVersions: [1.30]\n', ['bad-version clusters/prod.yaml:4:21']],
    ['an allowance that is none', '  maxUnassign: all\n', ['out-of-range clusters/prod.yaml:4:3']],
    ['a key twice', '  maxUnassign: 3\n  maxUnassign: 90%\n', ['duplicate-key clusters/prod.yaml:5:3']],
  ];
  for (const [name, spec, expected] of faults) {
    it(`with ${name} is reported, breaks no pool and allows nothing to be unassigned`, () => {
      const repo = cluster(spec);
      assert.deepEqual(brief(repo.findings), expected);
      assert.equal(pool(repo, 'x').status, 'valid');
      assert.equal(repo.cluster.maxUnassign, 0);
    });
  }

  it('that is no YAML does the same', () => {
    const repo = load({ ...pools, 'clusters/prod.yaml': 'a: [' });
    const { kubeletVersions, maxUnassign, suspend, unreadable = '', fields } = repo.cluster;
    assert.deepEqual(
      [{ kubeletVersions, maxUnassign, suspend, fields }, pool(repo, 'x').status],
      [{ kubeletVersions: [], maxUnassign: 0, suspend: false, fields: { allow: [], deny: [] } }, 'valid'],
    );
    assert.match(unreadable, /^clusters\/prod\.yaml:1:\d+: error /);
  });

  it('with an error that could hide what holds changes up says which, and does not say that somebody suspended', () => {
    const { suspend, unreadable } = cluster('  suspnd: true\n').cluster;
    assert.equal(suspend, false);
    assert.equal(
      unreadable,
      'clusters/prod.yaml:4:3: error unknown-field: spec.suspnd is not a field of ours (did you mean suspend?)',
    );
    assert.equal(cluster('  maxUnassign: all\n').cluster.unreadable, undefined);
  });
});
