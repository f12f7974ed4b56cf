import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Snapshot } from '#reconciler/policy/commit-snapshot.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { poolOfClass } from '#reconciler/policy/config-repo/pool-of-class.ts';
import { type CommitReaderOptions, createCommitReader } from '#reconciler/reading/commit-reader.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { templateFiles } from '#sandbox/demo/template-repository.ts';
import { fc } from '../../support/property.ts';
import { heavyCommits } from '../../security/support/heavy-commits.ts';
import { CLUSTER, filesOf, KUBELET, POOL, type Tree } from '../policy/config-repo/support/load.ts';

const never = new AbortController().signal;
const bounds = { fields: { allow: [], deny: ['maxPods'] }, trial: { minDuration: '1h', maxStartTimeout: '1m' } };

const snapshotOf = (files: Snapshot['files'], findings: Snapshot['findings'] = []): Snapshot => {
  const author = { name: '', email: '', at: '' };
  const commit = { oid: 'c'.repeat(40), parents: [], author, subject: '', raw: new Uint8Array() };
  return { commit, lineage: 'first', files, findings };
};

const reader = (options: Partial<CommitReaderOptions> = {}) =>
  createCommitReader({ cluster: 'prod', clock: systemClock, ...options });

const COMPUTED =
  'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\n' +
  "computed:\n  maxPods: 'cpu > quantity(\"4\") ? 110 : 60'\n  systemReserved: {memory: 'memory * 0.1'}\n";

const TREES: readonly Tree[] = [
  {},
  { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': `${KUBELET}maxPods: 5\n__proto__: {a: 1}\nconstructor: 1\n` },
  {
    'clusters/prod.yaml': `${CLUSTER}  kubeletVersions: ["1.28"]\n  tolerate: [unknown-field]\n`,
    'pools/x/pool.yaml': POOL,
    'pools/x/kubelet.yaml': `${KUBELET}containerLogMonitorInterval: 20s\nimageMinimumGCAge: 9223372036854775807ns\n`,
  },
  { 'pools/x/pool.yaml': `${POOL}  layers: [computed.yaml]\n`, 'pools/x/computed.yaml': COMPUTED },
  { 'pools/x/pool.yaml': 'a: [', 'pools/y/readme': '' },
];

const MACHINE = {
  cpu: 8,
  memory: 2 ** 34,
  ephemeralStorage: 2 ** 36,
  maxPods: 110,
  numaNodes: 1,
  arch: 'amd64',
  labels: {},
};

/** All that is used of a pool, functions as what they give. */
function shown(pool: LoadedPool): unknown {
  if (pool.status === 'invalid') return pool;
  const { positionOf, template, ...rest } = pool;
  const places = [[], ...Object.keys(pool.value).map((key) => [key]), ['systemReserved', 'memory', 'more'], ['none']];
  const made = template && poolOfClass(pool, MACHINE);
  return {
    ...rest,
    places: places.map((path) => positionOf?.(path)),
    inputs: template?.inputs,
    made: made && { because: made.because, payload: made.pool?.payload },
  };
}

describe('a commit that is read in a thread of its own', () => {
  it('is what the same function reads here, whatever is in it', async () => {
    const read = reader();
    for (const tree of [...TREES, await templateFiles()]) {
      for (const boundsBefore of [undefined, bounds]) {
        const finding = { code: 'symlink', severity: 'error', message: 'a link', file: 'pools/z' } as const;
        const there = await read(snapshotOf(filesOf(tree), [finding]), never, boundsBefore);
        const options = { cluster: 'prod', gitFindings: [finding], ...(boundsBefore && { boundsBefore }) };
        const here = loadRepo(filesOf(tree), options);
        assert.deepEqual({ ...there, pools: there.pools.map(shown) }, { ...here, pools: here.pools.map(shown) });
      }
    }
  });

  it('so are random configs', async () => {
    const read = reader();
    const key = fc.constantFrom(
      'maxPods',
      'evictionHard',
      'featureGates',
      'unknown',
      '__proto__',
      'registerWithTaints',
    );
    const config = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }));
    await fc.assert(
      fc.asyncProperty(config, async (fields) => {
        const json = JSON.stringify({
          ...fields,
          apiVersion: 'kubelet.config.k8s.io/v1beta1',
          kind: 'KubeletConfiguration',
        });
        const tree = { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': json };
        const there = await read(snapshotOf(filesOf(tree)), never);
        assert.deepEqual(there.pools.map(shown), loadRepo(filesOf(tree), { cluster: 'prod' }).pools.map(shown));
      }),
      { numRuns: 10 },
    );
  });

  it('is given up where its thread runs out of memory, and the next one is read', async () => {
    const [heavy] = heavyCommits().filter(({ what }) => what === 'unknown fields up to the limit');
    assert.ok(heavy !== undefined);
    const read = reader({ heapMiB: 16 });
    const code = 'COMMIT_NOT_READ';
    await assert.rejects(read(snapshotOf(heavy.files), never), { code, message: /16 MiB of memory/ });
    const { pools } = await reader()(snapshotOf(filesOf(TREES[1] ?? {})), never);
    assert.equal(pools.length, 1);
  });

  it('is given up where it takes too long', async () => {
    const [heavy] = heavyCommits().filter(({ what }) => what === 'unknown fields up to the limit');
    assert.ok(heavy !== undefined);
    await assert.rejects(reader({ ms: 200 })(snapshotOf(heavy.files), never), { message: /longer than 0.2 s/ });
  });

  it('is given up when the reconciler stops', async () => {
    const stop = new AbortController();
    const reading = reader()(snapshotOf(filesOf(TREES[1] ?? {})), stop.signal);
    stop.abort(new Error('shutting down'));
    await assert.rejects(reading, { message: 'shutting down' });
  });
});
