import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { createAcceptedCommits } from '#reconciler/policy/commit-admission/accepted-commits.ts';
import { judgePool, poolJudge } from '#reconciler/policy/config-repo/judge-pool.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { createVerdictCache } from '#reconciler/policy/config-repo/verdict-cache.ts';
import { complaintsOf, type ComplaintsOf } from '#shared/contract/kubelet-config/validate.ts';
import { COMMIT_A, COMMIT_B, fleetOf, nodeView } from '../../../support/fleet.ts';
import { filesOf, KUBELET, type Tree } from './support/load.ts';

const POOLS = ['gpu', 'web'] as const;
const poolFile = (pool: string): string =>
  `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nspec:\n  nodeSelector: {matchLabels: {pool: ${pool}}}\n`;
const treeOf = (gpu: string, web: string, more: Tree = {}): Tree => ({
  'pools/gpu/pool.yaml': poolFile('gpu'),
  'pools/gpu/kubelet.yaml': `${KUBELET}${gpu}`,
  'pools/web/pool.yaml': poolFile('web'),
  'pools/web/kubelet.yaml': `${KUBELET}${web}`,
  ...more,
});

/** What judges, counted by version. */
function counting(): { readonly judge: ComplaintsOf; readonly counted: () => Readonly<Record<string, number>> } {
  let seen: Record<string, number> = {};
  return {
    judge: (value, version) => {
      seen[version.minor] = (seen[version.minor] ?? 0) + 1;
      return complaintsOf(value, version);
    },
    counted: () => {
      const then = seen;
      seen = {};
      return then;
    },
  };
}

/** Passes over a fleet, as the reconciler makes them, that remember at most so many verdicts. */
function passes(most: number) {
  const { judge, counted } = counting();
  const remembered = createVerdictCache(most, judge);
  const judgeIt = poolJudge(remembered);
  const takeUps = createAcceptedCommits({
    load: ({ files }) => loadRepo(files, { cluster: 'prod', complaintsOf: remembered }),
    judge: judgeIt,
    policy: 'refuse',
  });
  let recorded: string | null = null;
  return {
    counted,
    pass(oid: string, tree: Tree, versions: readonly string[]) {
      const nodes = POOLS.flatMap((pool) =>
        versions.map((kubeletVersion) => nodeView(`${pool}-${kubeletVersion}`, pool, { kubeletVersion })),
      );
      const fleet = fleetOf({ nodes });
      const commit = {
        oid,
        parents: [],
        author: { name: '', email: '', at: '' },
        subject: '',
        raw: new Uint8Array(),
      };
      const lineage = recorded === null ? ('first' as const) : ('descendant' as const);
      const signature = { verdict: 'not-required' as const };
      const tip = { commit, lineage, files: filesOf(tree), findings: [], signature, since: recorded };
      const taken = takeUps.consider(tip, fleet, { inForce: recorded, refused: null });
      takeUps.keep(taken);
      const { inForce } = taken;
      assert.equal(inForce?.oid, oid);
      recorded = oid;
      return desiredState(inForce, fleet, judgeIt);
    },
  };
}

describe('a payload', () => {
  const tree = treeOf('maxPods: 64\n', 'containerLogMonitorInterval: 20s\n');

  it('is validated once for each version, however many passes are made', () => {
    const { pass, counted } = passes(100);
    const first = pass(COMMIT_A, tree, ['v1.30.1', 'v1.34.0']);
    // Both pools for the five versions that every config is tried with; 1.30 and 1.34 are not among them.
    assert.deepEqual(counted(), { '1.20': 2, '1.24': 2, '1.28': 2, '1.32': 2, '1.37': 2, '1.30': 2, '1.34': 2 });
    for (let round = 0; round < 50; round += 1) {
      assert.deepEqual(pass(COMMIT_A, tree, ['v1.30.1', 'v1.34.0']).pools, first.pools);
    }
    assert.deepEqual(counted(), {}, 'nothing is validated again');
    pass(COMMIT_A, tree, ['v1.30.1', 'v1.34.0', 'v1.35.0']);
    assert.deepEqual(counted(), { '1.35': 2 }, 'a version that comes along is');
  });

  it('is validated once for all commits and pools that have it', () => {
    const { pass, counted } = passes(100);
    pass(COMMIT_A, treeOf('maxPods: 64\n', 'maxPods: 64\n'), ['v1.30.1']);
    assert.deepEqual(counted(), { '1.20': 1, '1.24': 1, '1.28': 1, '1.32': 1, '1.37': 1, '1.30': 1 });
    pass(COMMIT_B, treeOf('# why\nmaxPods: 64\n', 'maxPods: 65\n', { 'docs/x.yaml': 'a: 1\n' }), ['v1.30.1']);
    assert.deepEqual(counted(), { '1.20': 1, '1.24': 1, '1.28': 1, '1.32': 1, '1.37': 1, '1.30': 1 });
  });
});

describe('remembered verdicts', () => {
  const content = (maxPods: unknown): Readonly<Record<string, unknown>> => ({ maxPods });
  const at = { minor: '1.34', apply: 'replace' } as const;

  it('are no more than were asked for, and the ones last used stay', () => {
    const { judge, counted } = counting();
    const remembered = createVerdictCache(2, judge);
    for (const maxPods of [1, 2, 1, 3, 1]) remembered(content(maxPods), at);
    assert.deepEqual(counted(), { '1.34': 3 });
    remembered(content(2), at);
    assert.deepEqual(counted(), { '1.34': 1 }, 'what was asked for the longest ago went');
  });

  it('tell apart whatever a kubelet may tell apart', () => {
    const { judge, counted } = counting();
    const remembered = createVerdictCache(100, judge);
    const values = [1, '1', 1n, null, [1], { a: 1 }, Number.NaN, Infinity, -Infinity, 'NaN', '1n', 1e21, true];
    for (const value of [...values, ...values]) remembered(content(value), at);
    remembered(content(1), { ...at, apply: 'overlay' });
    remembered(content(1), { ...at, minor: '1.33' });
    assert.deepEqual(counted(), { '1.34': values.length + 1, '1.33': 1 });
  });

  it('change no word, whatever file, place and tolerance a pool with this content has', () => {
    const remembered = poolJudge(createVerdictCache(100));
    const layer = 'containerLogMonitorInterval: 20s\n';
    const trees = [treeOf(layer, layer), treeOf(`# a\n\n${layer}`, layer)];
    trees.push({ ...treeOf(layer, layer), 'pools/web/pool.yaml': `${poolFile('web')}  tolerate: [unknown-field]\n` });
    const minors = ['1.28', '1.29', '1.34'];
    for (const tree of trees) {
      for (const pool of loadRepo(filesOf(tree), { cluster: 'prod' }).pools) {
        assert.ok(pool.status === 'valid');
        const findings = remembered(pool, minors);
        assert.equal(findings.length, 1);
        assert.deepEqual(findings, judgePool(pool, minors));
      }
    }
  });
});
