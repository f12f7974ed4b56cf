import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { CommitTooLargeError, firstFindings, readingBudget } from '#reconciler/policy/config-repo/reading-limits.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { filesOf, KUBELET, load, POOL, type Tree } from './support/load.ts';

const KIB = 1024;
const padded = (text: string, bytes: number): string => `${text}# ${'x'.repeat(bytes - text.length - 2)}`;
const named = (pool: string, layers: readonly string[]): string =>
  `${POOL}  layers: [${layers.join(', ')}]\n# ${pool}\n`;

/** @param layer of each pool, by its number */
const pools = (count: number, pool: (at: number) => string, layer: (at: number) => string): Tree =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      [`pools/p${at}/pool.yaml`, pool(at)],
      [`pools/p${at}/kubelet.yaml`, layer(at)],
    ]).flat(),
  );

describe('a commit within the limits', () => {
  it('is read: each file counts once, and none that no pool names', () => {
    const shared = padded(KUBELET, 250 * KIB);
    const other = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`other/${at}.yaml`, shared]));
    const tree = {
      'base/a.yaml': shared,
      ...other,
      ...pools(
        40,
        () => named('p', ['base/a.yaml']),
        () => KUBELET,
      ),
    };
    const { tooLarge, pools: read } = load(tree);
    assert.equal(tooLarge, undefined);
    assert.equal(read.length, 40);
  });

  it('is read up to the last byte', () => {
    const tree = pools(
      4,
      () => padded(POOL, 256 * KIB),
      () => padded(KUBELET, 256 * KIB),
    );
    assert.equal(load(tree).tooLarge, undefined);
    assert.match(
      load({ ...tree, 'pools/p9/pool.yaml': POOL }).tooLarge ?? '',
      /^the cluster's file and the pool\.yaml/,
    );
    const layers = pools(
      16,
      () => POOL,
      () => padded(KUBELET, 256 * KIB),
    );
    assert.equal(load(layers).tooLarge, undefined);
    assert.match(
      load({
        ...layers,
        ...pools(
          17,
          () => POOL,
          (at) => layers[`pools/p${at}/kubelet.yaml`] ?? KUBELET,
        ),
      }).tooLarge ?? '',
      /^the layers/,
    );
  });
});

describe('a commit beyond them', () => {
  it('has no pools that could be taken for gone, and says so in one finding', () => {
    const tree = pools(
      5,
      () => padded(POOL, 256 * KIB),
      () => KUBELET,
    );
    const { pools: read, findings, tooLarge, cluster } = load(tree);
    assert.deepEqual([read, findings.map(({ code }) => code)], [[], ['commit-too-large']]);
    assert.ok(tooLarge?.includes('1024 KiB'));
    assert.ok(cluster.unreadable !== undefined);
  });

  it('is one whose layer becomes large in many pools', () => {
    const wide = `${KUBELET}allowedUnsafeSysctls:\n${'- net.core.somaxconnection*\n'.repeat(7_000)}`;
    const tree = {
      'base/a.yaml': wide,
      ...pools(
        60,
        () => named('p', ['base/a.yaml']),
        () => KUBELET,
      ),
    };
    assert.match(load(tree).tooLarge ?? '', /^the merged configs/);
  });

  it('ends at the first byte too many, whatever it is a part of', () => {
    for (const kind of ['poolFiles', 'layers', 'payloads'] as const) {
      const budget = readingBudget({ poolFiles: 10, layers: 10, payloads: 10 });
      budget.spend(kind, 'a', 10);
      budget.spend(kind, 'a', 10);
      assert.throws(() => budget.spend(kind, 'b', 1), CommitTooLargeError);
    }
  });
});

describe('the findings of a pool', () => {
  const finding = (code: string, severity: Finding['severity'] = 'warning'): Finding => ({
    code,
    severity,
    message: 'm',
  });

  it('end at a hundred, with an error among them if there is one', () => {
    const many = Array.from({ length: 300 }, () => finding('odd'));
    const first = firstFindings([...many, finding('wrong', 'error')], 'f');
    assert.equal(first.length, 102);
    assert.deepEqual(
      first.slice(100).map(({ code }) => code),
      ['wrong', 'more-findings'],
    );
    assert.equal(firstFindings(many.slice(0, 100), 'f').length, 100);
  });

  it('quote no more of a file than is shown', () => {
    const long = {
      ...finding('odd'),
      message: 'x'.repeat(5_000),
      suggestion: 'y'.repeat(5_000),
      field: 'z'.repeat(5_000),
    };
    const [{ message, suggestion, field }] = firstFindings([long], 'f') as readonly [Finding];
    assert.deepEqual([message.length, suggestion?.length, field?.length], [1_500, 1_500, 1_500]);
  });

  it('of a file full of slips keep their pool invalid, also where slips of one kind are tolerated', () => {
    const slips = Array.from({ length: 300 }, (_, at) => `unknownField${at}: 1\n`).join('');
    const tree = {
      'pools/x/pool.yaml': `${POOL}  tolerate: [unknown-field]\n`,
      'pools/x/kubelet.yaml': `${KUBELET}${slips}maxPods: many\n`,
    };
    const [pool] = loadRepo(filesOf(tree), { cluster: 'prod' }).pools;
    assert.equal(pool?.status, 'invalid');
    assert.ok(pool.findings.some(({ code, severity }) => code === 'wrong-type' && severity === 'error'));
  });
});
