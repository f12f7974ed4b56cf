import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeTemplate } from '#reconciler/policy/templates/template.ts';
import { examplePoolOf } from '#reconciler/policy/config-repo/example-machines.ts';
import { type ClassPool, poolOfNode, unrendered } from '#reconciler/policy/config-repo/pool-of-class.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { nodeView, validPool } from '../../../support/fleet.ts';
import { sizedNode, sizedPool } from '../../../support/rollout/sized-pool.ts';
import { brief, KUBELET, load, POOL, pool } from './support/load.ts';

/** What a node gets, or why nothing. */
const given = ({ pool: found, because, class: { name } }: ClassPool) => ({
  name,
  gives: found?.value['podPidsLimit'] ?? because,
});

function unworded(finding: Finding): Omit<Finding, 'message'> {
  const { message: _, ...rest } = finding;
  return rest;
}

describe('what a pool gives a node', () => {
  it('is told apart by the labels that it asks for: one that is empty is not one that is missing', () => {
    const pool = sizedPool('computed: {podPidsLimit: \'labels["tier"] == "gold" ? 9000 : 5000\'}\n', undefined);
    const node = sizedNode('a', 2, 8);
    const withLabels = (labels: Readonly<Record<string, string>>) => given(poolOfNode(pool, { ...node, labels }).class);
    assert.deepEqual(withLabels({ tier: 'gold' }), { name: 'tier=gold', gives: 9000 });
    assert.deepEqual(withLabels({ tier: 'base' }), { name: 'tier=base', gives: 5000 });
    assert.deepEqual(withLabels({ tier: '' }), { name: 'tier=', gives: 5000 });
    const nothing = 'podPidsLimit cannot be computed: the Node has no label tier';
    assert.deepEqual(withLabels({}), { name: 'any', gives: nothing });
    assert.deepEqual(withLabels({ tier: 'gold', other: 'x' }), { name: 'tier=gold', gives: 9000 });
  });

  it('is told apart by the architecture, where it asks for that', () => {
    const pool = sizedPool('computed: {podPidsLimit: \'arch == "arm64" ? 9000 : 5000\'}\n');
    const node = sizedNode('a', 2, 8);
    const on = (arch?: string) => {
      const labels = arch === undefined ? {} : { 'kubernetes.io/arch': arch };
      return given(poolOfNode(pool, { ...node, labels }).class);
    };
    assert.deepEqual(on('arm64'), { name: 'arch=arm64', gives: 9000 });
    assert.deepEqual(on('amd64'), { name: 'arch=amd64', gives: 5000 });
    assert.equal(on().name, 'any');
  });

  it('is told apart by nodes of memory, where it asks for them, of machines of one size', () => {
    const pool = sizedPool("computed: {podPidsLimit: 'numaNodes * 1000'}\n");
    const node = sizedNode('a', 2, 8);
    const on = (numaNodes?: number) => given(poolOfNode(pool, { ...node, numaNodes }).class);
    assert.deepEqual(on(2), { name: 'numaNodes=2', gives: 2000 });
    assert.deepEqual(on(4), { name: 'numaNodes=4', gives: 4000 });
    assert.equal(on().name, 'any');
  });

  it('is told apart by each amount, however alike they are when they are written one after the other', () => {
    const pool = sizedPool("computed: {podPidsLimit: 'milliCpu + maxPods'}\n");
    const amounts = (cpu: string, pods: string) => {
      const capacity = { cpu, pods, memory: '8Gi', 'ephemeral-storage': '100Gi' };
      const size = { kubeletVersion: 'v1.36.1', capacity, allocatable: capacity };
      return given(poolOfNode(pool, nodeView('a', 'x', { size })).class).gives;
    };
    assert.deepEqual([amounts('1', '110'), amounts('11', '10')], [1110, 11_010]);
  });

  it('is its only config where nothing is computed, whatever the node is', () => {
    const plain = validPool('x', 110);
    for (const node of [nodeView('a', 'x'), sizedNode('b', 2, 8)]) {
      const { class: found } = poolOfNode(plain, node);
      assert.equal(found.pool, plain);
      assert.equal(found.class.name, 'any');
    }
  });

  it('follows what a Node was sorted by before, and its size where that changes', () => {
    const pool = sizedPool("computed: {systemReserved: {memory: 'memory * 0.1'}}\n");
    const node = sizedNode('a', 2, 15.49);
    const sizes = (had?: string) => poolOfNode(pool, node, had).sizes;
    assert.equal(sizes(), 'memory=15360Mi,ephemeralStorage=102400Mi');
    assert.equal(sizes('memory=15872Mi'), 'memory=15872Mi,ephemeralStorage=102400Mi');
    assert.equal(sizes(), 'memory=15360Mi,ephemeralStorage=102400Mi');
  });
});

describe('a class that gets nothing', () => {
  const of = { name: 'memory=4096Mi', machine: { labels: {} } };

  it('is a warning at the pool itself where nobody knows its files, and at its field where it is about one', () => {
    const found = (more: Partial<ClassPool>) => unrendered(validPool('x', 110), { class: of, because: 'no', ...more });
    const about = { code: 'not-computable', severity: 'warning', file: 'pools/x/pool.yaml' };
    assert.deepEqual(found({}).map(unworded), [about]);
    assert.deepEqual(found({ path: ['kubeReserved', 'cpu'] }).map(unworded), [{ ...about, field: 'kubeReserved.cpu' }]);
    assert.deepEqual(unrendered(validPool('x', 110), { class: of }), []);
  });
});

describe('an example of what a pool gives', () => {
  it('is the first that can be computed, and the pool itself where nothing is computed or can be', () => {
    const plain = validPool('x', 110);
    assert.equal(examplePoolOf(plain), plain);
    const from = (amount: string) =>
      sizedPool(`computed: {systemReserved: {memory: 'memory - quantity("${amount}")'}}\n`);
    assert.deepEqual(examplePoolOf(from('2Gi')).value['systemReserved'], { memory: '2048Mi' });
    assert.deepEqual(examplePoolOf(from('8Gi')).value['systemReserved'], { memory: '8192Mi' });
    const never = from('4000Gi');
    assert.equal(examplePoolOf(never), never);
  });
});

describe('a computed layer', () => {
  const found = (computed: string, version = 'v1alpha1', more = '') =>
    pool(
      load({
        'pools/a/pool.yaml': `${POOL}  layers: [plain.yaml, computed.yaml]\n${more}`,
        'pools/a/plain.yaml': `${KUBELET}maxPods: 110\n`,
        'pools/a/computed.yaml': `apiVersion: kubelet-gitops.dev/${version}\nkind: ComputedKubeletConfiguration\n${computed}`,
      }),
      'a',
    );

  it('of another version is refused where it says so', () => {
    const { findings } = found('profile: gke\n', 'v1');
    assert.deepEqual(brief(findings), ['wrong-kind pools/a/computed.yaml:1:1']);
    assert.equal(findings[0]?.field, 'apiVersion');
  });

  it('has the fields of a profile where it names the profile', () => {
    const denied = found('profile: gke\n', 'v1alpha1', '  fields: {deny: [kubeReserved]}\n');
    const atProfile = 'denied-field pools/a/computed.yaml:3:1';
    // For CPUs and for memory.
    assert.deepEqual(brief(denied.findings), [atProfile, atProfile]);
    const own = found(
      "profile: gke\ncomputed: {kubeReserved: {cpu: 'cpu * 0.1'}}\n",
      'v1alpha1',
      '  fields: {deny: [kubeReserved]}\n',
    );
    assert.deepEqual(brief(own.findings), [atProfile, 'denied-field pools/a/computed.yaml:4:27']);
  });

  it('is laid over a plain one of which an unknown field is tolerated, and no node gets that', () => {
    const tree = {
      'pools/a/pool.yaml': `${POOL}  layers: [plain.yaml, computed.yaml]\n  tolerate: [unknown-field]\n`,
      'pools/a/plain.yaml': `${KUBELET}maxPodz: 110\n`,
      'pools/a/computed.yaml':
        "apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\ncomputed: {podPidsLimit: '5000'}\n",
    };
    const tolerated = pool(load(tree), 'a');
    assert.ok(tolerated.status === 'valid');
    const { maxPodz, podPidsLimit } = examplePoolOf(tolerated).value;
    assert.deepEqual([maxPodz, podPidsLimit], [undefined, 5000]);
  });

  it('is refused where its bounds are no map, and as a whole where it computes nothing', () => {
    const listed = found('profile: gke\nbounds: [kubeReserved]\n');
    assert.deepEqual(brief(listed.findings), ['wrong-type pools/a/computed.yaml:4:1']);
    const nothing = found('bounds: {}\n').findings.map(({ code, field }) => [code, field]);
    assert.deepEqual(nothing, [['missing-field', undefined]]);
  });

  it('says in words which of its fields are of a profile', () => {
    const own = found("profile: gke\ncomputed: {kubeReserved: {cpu: 'cpu * 0.1'}}\n");
    assert.ok(own.status === 'valid' && own.template !== undefined);
    assert.deepEqual(describeTemplate(own.template)['kubeReserved'], {
      cpu: 'computed: cpu * 0.1',
      memory: 'computed: profile gke',
    });
  });

  it('is bounded from below, from above and from both sides, and takes a number for a bound', () => {
    const bounded = (bounds: string) => {
      const read = found(`computed: {podPidsLimit: '5000'}\nbounds: {podPidsLimit: ${bounds}}\n`);
      return read.status === 'valid' ? examplePoolOf(read).value['podPidsLimit'] : brief(read.findings).join();
    };
    const rows = [
      ['{max: 4096}', 4096],
      ['{min: 6000}', 6000],
      ["{min: '6000'}", 6000],
      ['{min: 4096, max: 4096}', 4096],
      ['{min: 4095, max: 4096}', 4096],
      ['{min: 4097, max: 4096}', 'out-of-range pools/a/computed.yaml:4:25'],
      ['{max: true}', 'bad-quantity pools/a/computed.yaml:4:25'],
      ["{max: ['1']}", 'bad-quantity pools/a/computed.yaml:4:25'],
      ['{min: 1, max: many}', 'bad-quantity pools/a/computed.yaml:4:33'],
    ] as const;
    for (const [bounds, expected] of rows) assert.equal(bounded(bounds), expected, bounds);
  });
});
