import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clusterNames } from '#reconciler/policy/config-repo/cluster-names.ts';

it('the clusters of a repository are those that files in clusters/ are named after, in order and once', () => {
  const paths = [
    'clusters/prod.yaml',
    'clusters/eu-1.yml',
    'clusters/a.json',
    'clusters/prod.yml',
    'clusters/.hidden.yaml',
    'clusters/README.md',
    'clusters/old.yaml.bak',
    'clusters/team/x.yaml',
    'pools/clusters/y.yaml',
    'my-clusters/z.yaml',
  ];
  assert.deepEqual(clusterNames(paths), ['a', 'eu-1', 'prod']);
  assert.deepEqual(clusterNames([]), []);
});
