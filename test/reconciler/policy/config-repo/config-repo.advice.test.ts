import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeName } from '#reconciler/policy/config-repo/file-report.ts';
import { KUBELET, load, CLUSTER, POOL, type Tree } from './support/load.ts';

const X = { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': KUBELET };
const at = 'blockers: {prometheus: ';

/** What stands in a repository, and the finding with what it advises. */
/** The pool asks this Prometheus, and the cluster denies this field. */
const asking = (prometheus: string): Tree => ({ ...X, 'pools/x/pool.yaml': `${POOL}  ${at}${prometheus}}\n` });
const denying = (field: string): Tree => ({ ...X, 'clusters/prod.yaml': `${CLUSTER}  fields: {deny: [${field}]}\n` });

const ROWS: readonly (readonly [string, Tree, string, RegExp])[] = [
  [
    'a Prometheus that is asked nothing',
    asking('{url: "http://p"}'),
    'missing-field',
    /neither query nor alerts.*write a query/,
  ],
  [
    'no measures, which are all where the line is left out',
    { ...X, 'pools/x/pool.yaml': `${POOL}  rollout: {canary: {nodes: 1}, analysis: {measures: []}}\n` },
    'wrong-type',
    /at least one.*write one, or leave it out/,
  ],
  [
    'a Prometheus that is asked twice',
    asking('{url: "http://p", query: up, alerts: [A]}'),
    'conflict',
    /both query and alerts/,
  ],
  [
    'a Prometheus that speaks more than http',
    asking('{url: "https+unix://p", query: up}'),
    'bad-url',
    /not an http or https address/,
  ],
  [
    'a Prometheus at no address at all',
    asking('{url: "http://", query: up}'),
    'bad-url',
    /not an http or https address/,
  ],
  ['text that YAML takes for a number', asking('{url: "http://p", query: 5}'), 'bad-text', /write it in quotes/],
  ['a field that is misspelt', denying('maxPod'), 'unknown-value', /did you mean maxPods\?/],
  [
    'a field that nobody can guess',
    denying('zzzzzzzzzzzz'),
    'unknown-value',
    /is not a field of a KubeletConfiguration$/,
  ],
  ['a field that is a number', denying('5'), 'unknown-value', /5 is not a field of a KubeletConfiguration$/],
  [
    'a layer in other letters',
    { 'pools/x/pool.yaml': `${POOL}  layers: [base/KUBELET.yaml]\n`, 'base/kubelet.yaml': KUBELET },
    'missing-layer',
    /there is base\/kubelet\.yaml$/,
  ],
  [
    'a layer in a folder in other letters',
    { 'pools/x/pool.yaml': `${POOL}  layers: [Base/abcdefgh.yaml]\n`, 'base/abcdefgh.yaml': KUBELET },
    'missing-layer',
    /there is base\/abcdefgh\.yaml$/,
  ],
  [
    'a layer beside which is a copy',
    { 'pools/x/pool.yaml': `${POOL}  layers: [pools/x/abcdefgh.yaml]\n`, 'pools/x/kubelet.yaml.orig': KUBELET },
    'missing-layer',
    /there is no pools\/x\/abcdefgh\.yaml$/,
  ],
  [
    'a file of another kind',
    { ...X, 'pools/x/pool.yaml': POOL.replace('KubeletPool', 'Pool') },
    'wrong-kind',
    /kind is "Pool".*write kind: KubeletPool/,
  ],
  [
    'a cluster that others have',
    { ...X, 'clusters/test.yaml': CLUSTER },
    'missing-cluster',
    /there is no clusters\/prod\.yaml.*add clusters\/prod\.yaml/,
  ],
];

describe('what is said of', () => {
  for (const [name, tree, code, words] of ROWS) {
    it(`${name} is what to write instead`, () => {
      const { findings, pools } = load(tree);
      const found = [...findings, ...pools.flatMap((pool) => pool.findings)].find((finding) => finding.code === code);
      assert.equal(found?.severity, 'error');
      assert.match(`${found?.message} ${found?.suggestion ?? ''}`.trim(), words);
    });
  }

  it('a place is its path, or the whole file', () => {
    assert.deepEqual([placeName([]), placeName(['spec', 'a', 0])], ['the file', 'spec.a[0]']);
  });

  it('a copy of a cluster’s file is nothing', () => {
    assert.deepEqual(load({ ...X, 'clusters/prod.yaml.orig': CLUSTER }).findings, []);
  });
});
