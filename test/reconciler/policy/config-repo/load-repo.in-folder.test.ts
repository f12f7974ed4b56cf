import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { CLUSTER, filesOf, KUBELET, POOL, type Tree } from './support/load.ts';

const FOLDER = 'infra/kubelet';

/** The same files at the root of a repository, and in a folder of one. */
function loadBoth(tree: Tree, leftOut: readonly Finding[]): readonly [LoadedRepo, LoadedRepo] {
  const files = filesOf(tree);
  const moved = new Map([...files].map(([path, file]) => [path, { ...file, path: `${FOLDER}/${path}` }]));
  const gitFindings = leftOut.map((finding) => ({ ...finding, file: `${FOLDER}/${finding.file}` }));
  return [
    loadRepo(files, { cluster: 'prod', gitFindings: leftOut }),
    loadRepo(moved, { cluster: 'prod', gitFindings, folder: FOLDER }),
  ];
}

const findingsOf = (repo: LoadedRepo): readonly Finding[] => [
  ...repo.findings,
  ...repo.pools.flatMap((pool) => [
    ...pool.findings,
    ...(pool.status === 'valid' ? judgePool(pool, ['1.28', '1.34']) : []),
  ]),
];

const inPool = (pool: string, layer: string): Tree => ({ 'pools/x/pool.yaml': pool, 'pools/x/kubelet.yaml': layer });
const GOOD = inPool(POOL, KUBELET);
const LEFT_OUT: Finding = { code: 'symlink', severity: 'error', message: 'is a link', file: 'pools/x/kubelet.yaml' };

const ROWS: readonly (readonly [code: string, tree: Tree, leftOut?: readonly Finding[]])[] = [
  ['wrong-kind', inPool(POOL.replace('KubeletPool', 'Pool'), KUBELET)],
  ['yaml-syntax', inPool('a: [', KUBELET)],
  ['unknown-field', inPool(POOL, `${KUBELET}maxPodz: 1\n`)],
  ['unknown-field', inPool(POOL, `${KUBELET}containerLogMonitorInterval: 20s\n`)],
  ['denied-field', inPool(POOL, `${KUBELET}staticPodPath: /x\n`)],
  ['missing-pool', { 'pools/x/kubelet.yaml': KUBELET, 'pools/x/pool.yml': POOL }],
  ['missing-pool', { 'pools/x/kubelet.yaml': KUBELET }, [{ ...LEFT_OUT, file: 'pools/x/pool.yaml' }]],
  ['missing-layer', { 'pools/x/pool.yaml': POOL, 'pools/x/kubelt.yaml': KUBELET }],
  ['missing-layer', { 'pools/x/pool.yaml': POOL }, [LEFT_OUT]],
  ['unused-file', { ...GOOD, 'pools/x/more.yaml': KUBELET }],
  ['nested-pool', { ...GOOD, 'pools/x/deep/pool.yaml': POOL }],
  ['missing-cluster', { ...GOOD, 'clusters/stage.yaml': CLUSTER }],
  ['misnamed-cluster', { ...GOOD, 'clusters/PROD.yml': CLUSTER }],
  ['unknown-field', { ...GOOD, 'clusters/prod.yaml': `${CLUSTER}  nonsense: 1\n` }],
];

describe('what is told of a config repository in a folder of another', () => {
  for (const [code, tree, leftOut = []] of ROWS) {
    it(`names places as people see them: ${code} among ${Object.keys(tree).join(', ')}`, () => {
      const [atRoot, inside] = loadBoth(tree, leftOut);
      const before = findingsOf(atRoot);
      assert.ok(
        before.some((finding) => finding.code === code),
        JSON.stringify(before.map((finding) => finding.code)),
      );
      // Every path in it, also in its sentences.
      const moved = (text: string): string => text.replaceAll(/(?<![\w/])(?=(?:pools|clusters|base)\/)/g, `${FOLDER}/`);
      const expected = before.map((finding) => ({
        ...finding,
        message: moved(finding.message),
        ...(finding.suggestion === undefined ? {} : { suggestion: moved(finding.suggestion) }),
        ...(finding.file === undefined ? {} : { file: moved(finding.file) }),
      }));
      assert.deepEqual(findingsOf(inside), expected);
      assert.equal(inside.cluster.unreadable, atRoot.cluster.unreadable && moved(atRoot.cluster.unreadable));
    });
  }

  it('changes nothing else: layers, payload and name of the config stay', () => {
    const layered = `${POOL}  layers: [base/all.yaml, kubelet.yaml]\n`;
    const tree = { ...inPool(layered, `${KUBELET}maxPods: 5\n`), 'base/all.yaml': `${KUBELET}maxPods: 9\n` };
    const [atRoot, inside] = loadBoth(tree, []).map(({ pools }) => pools[0]);
    assert.ok(atRoot?.status === 'valid' && inside?.status === 'valid');
    assert.deepEqual(inside.spec, atRoot.spec);
    assert.equal(inside.configName, atRoot.configName);
    // A finding that no layer has a place for is one of the pool's own file.
    const { positionOf: _, ...placeless } = {
      ...inside,
      value: { ...inside.value, containerLogMonitorInterval: '20s' },
    };
    assert.equal(judgePool(placeless, ['1.28'])[0]?.file, `${FOLDER}/pools/x/pool.yaml`);
    assert.deepEqual(inside.positionOf?.(['maxPods']), { file: `${FOLDER}/pools/x/kubelet.yaml`, line: 3, column: 1 });
  });
});
