import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from '#shared/contract/finding.ts';
import { load, POOL, CLUSTER, KUBELET, type Tree } from './support/load.ts';

const left = (file: string, more: Partial<Finding> = {}): Finding => ({
  code: 'symlink',
  severity: 'error',
  message: 'not followed',
  file,
  ...more,
});
const TREE: Tree = {
  'clusters/prod.yaml': CLUSTER,
  'pools/x/pool.yaml': `${POOL}  layers: [base/a.yaml, team/b.yaml, kubelet.yaml]\n`,
  'pools/x/kubelet.yaml': KUBELET,
  'base/a.yaml': KUBELET,
  'team/b.yaml': KUBELET,
};

describe('what was left out of a commit', () => {
  const without = (path: string): Tree => Object.fromEntries(Object.entries(TREE).filter(([each]) => each !== path));
  const told = (tree: Tree, file: string) => {
    const { findings, pools } = load(tree, [left(file)]);
    return { findings: findings.map(({ file: at }) => at), pools: pools.map(({ status }) => status) };
  };

  for (const file of [
    'base/unused.yaml',
    'clusters/other.yaml',
    'docs',
    'pools/README.md',
    'pools/x/picture.png',
    'pools/x/more.yaml',
    'pools/x/kubelet.yaml.d',
  ]) {
    it(`and nobody refers to is no matter: ${file}`, () => {
      assert.deepEqual(told(TREE, file), { findings: [], pools: ['valid'] });
    });
  }

  const referred: readonly (readonly [what: string, missing: string, file: string])[] = [
    ['a layer', 'base/a.yaml', 'base/a.yaml'],
    ['a layer elsewhere', 'team/b.yaml', 'team/b.yaml'],
    ['the folder of a layer', 'base/a.yaml', 'base'],
    ['the folder of a layer elsewhere', 'team/b.yaml', 'team'],
    ['the file of a pool', 'pools/x/pool.yaml', 'pools/x/pool.yaml'],
    ['the folder of a pool', 'pools/x/pool.yaml', 'pools/x'],
    ['a folder with an odd name', 'pools/x/pool.yaml', 'pools/x/'],
  ];
  for (const [what, missing, file] of referred) {
    it(`is an error where it is ${what}: ${file}`, () => {
      assert.deepEqual(told(without(missing), file), { findings: [file], pools: ['invalid'] });
    });
  }

  for (const file of ['clusters/prod.yaml', 'clusters']) {
    it(`lets nothing new start where it is the cluster’s file: ${file}`, () => {
      const { cluster, findings } = load(without('clusters/prod.yaml'), [left(file)]);
      assert.match(cluster.unreadable ?? '', /not followed/);
      assert.deepEqual(
        findings.map((finding) => finding.file),
        [file],
      );
    });
  }

  it('is an error where it is all pools', () => {
    assert.deepEqual(told({ 'clusters/prod.yaml': CLUSTER }, 'pools'), { findings: ['pools'], pools: [] });
  });

  it('names the folder that keeps a layer from being read', () => {
    const [pool] = load(without('base/a.yaml'), [left('base')]).pools;
    assert.equal(pool?.findings[0]?.message, 'base/a.yaml cannot be used, because of base: not followed');
  });

  it('is a pool that is not there only where it can be one', () => {
    const names = ['pools/gpu', 'pools/README', 'pools/map.png', 'pools/a:b', 'pools/c:d/', 'pools/y/.keep'];
    const { pools } = load(
      TREE,
      names.map((file) => left(file)),
    );
    assert.deepEqual(
      pools.map(({ name }) => name),
      ['c:d', 'gpu', 'x'],
    );
  });

  it('is told where it may be the reason why something is not found', () => {
    const odd = left('pools\\u{200b}/', { severity: 'warning' });
    assert.deepEqual(load(TREE, [odd]).findings, [odd]);
  });
});
