import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { poolOfClass } from '#reconciler/policy/config-repo/pool-of-class.ts';
import type { Machine } from '#reconciler/policy/templates/machine.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { brief, KUBELET, load, POOL, pool, valid } from './support/load.ts';

const COMPUTED = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\n';
const GIBIBYTE = 2 ** 30;
const machine = (cpu: number, memory: number, more: Partial<Machine> = {}): Machine => ({
  cpu,
  memory: memory * GIBIBYTE,
  ephemeralStorage: 64 * GIBIBYTE,
  maxPods: 110,
  arch: 'amd64',
  labels: {},
  ...more,
});

/** A pool of a plain layer and a computed one above it. */
const treeOf = (computed: string, plain = 'maxPods: 110\n', layers = '[plain.yaml, computed.yaml]') => ({
  'pools/a/pool.yaml': `${POOL}  layers: ${layers}\n`,
  'pools/a/plain.yaml': `${KUBELET}${plain}`,
  'pools/a/computed.yaml': `${COMPUTED}${computed}`,
});

/** What the pool gives a machine, without its type. */
function given(of: ValidPool, to: Machine): unknown {
  const rendered = poolOfClass(of, to);
  if (rendered.pool === undefined) return rendered.because;
  const { apiVersion: _, kind: __, ...fields } = rendered.pool.value;
  return fields;
}

describe('a computed layer', () => {
  it('is laid over the layers below it, and gives each machine its own', () => {
    const computed = 'computed:\n  systemReserved: {memory: \'max(quantity("255Mi"), memory * 0.06)\'}\n';
    const of = valid(load(treeOf(computed, 'maxPods: 110\nsystemReserved: {cpu: 100m, memory: 1Gi}\n')), 'a');
    assert.deepEqual(given(of, machine(2, 4)), { maxPods: 110, systemReserved: { cpu: '100m', memory: '255Mi' } });
    assert.deepEqual(given(of, machine(2, 64)), { maxPods: 110, systemReserved: { cpu: '100m', memory: '3932Mi' } });
  });

  it('counts for nothing where a layer above it says the same field', () => {
    const computed = "computed: {maxPods: '30', kubeReserved: {cpu: 'cpu * 0.1'}}\n";
    const tree = treeOf(computed, 'maxPods: 110\nkubeReserved: {cpu: 200m}\n', '[computed.yaml, plain.yaml]');
    const of = valid(load(tree), 'a');
    assert.equal(of.template, undefined);
    assert.match(of.payload, /"cpu": "200m"/);
  });

  it('takes a profile, of which it says some fields itself and takes others back', () => {
    const computed = "profile: eks\ncomputed:\n  kubeReserved: {cpu: 'cpu * 0.1', ephemeral-storage: null}\n";
    const of = valid(load(treeOf(computed)), 'a');
    assert.deepEqual(given(of, machine(4, 16)), { maxPods: 110, kubeReserved: { cpu: '400m', memory: '1465Mi' } });
  });

  it('computes with the maxPods that the config sets, and not with those that the node has now', () => {
    const of = valid(load(treeOf('profile: eks\n')), 'a');
    const has = (pods: number) => poolOfClass(of, machine(4, 16, { maxPods: pods }));
    assert.equal(has(737).pool?.sha256, has(29).pool?.sha256);
    assert.equal(has(737).class.name, 'cpu=4,memory=16384Mi,ephemeralStorage=65536Mi');
    const own = valid(load(treeOf("profile: eks\ncomputed: {maxPods: 'int(milliCpu / 1000) * 20'}\n", '')), 'a');
    assert.deepEqual((given(own, machine(4, 16)) as { kubeReserved: object }).kubeReserved, {
      cpu: '80m',
      'ephemeral-storage': '1024Mi',
      memory: '1135Mi',
    });
    const none = valid(load(treeOf('profile: eks\n', 'podsPerCore: 0\n')), 'a');
    assert.equal(poolOfClass(none, machine(4, 16, { maxPods: 29 })).class.machine.maxPods, 29);
    const replaced = `${POOL}  apply: replace\n  layers: [plain.yaml, computed.yaml]\n`;
    const usual = load({ ...treeOf('profile: eks\n', 'podsPerCore: 0\n'), 'pools/a/pool.yaml': replaced });
    assert.equal(poolOfClass(valid(usual, 'a'), machine(4, 16, { maxPods: 29 })).class.machine.maxPods, undefined);
  });

  it('is the same template whatever the order of its keys is, and another one for another expression', () => {
    const sha = (computed: string) => valid(load(treeOf(computed)), 'a').sha256;
    const one = sha("computed: {kubeReserved: {cpu: 'cpu * 0.1', memory: 'memory * 0.1'}}\n");
    assert.equal(sha("# the same\ncomputed: {kubeReserved: {memory: 'memory * 0.1', cpu: 'cpu * 0.1'}}\n"), one);
    assert.notEqual(sha("computed: {kubeReserved: {memory: 'memory * 0.2', cpu: 'cpu * 0.1'}}\n"), one);
    const bounded =
      "computed: {kubeReserved: {memory: 'memory * 0.1', cpu: 'cpu * 0.1'}}\nbounds: {kubeReserved: {memory: {max: 1Gi}}}\n";
    assert.notEqual(sha(bounded), one);
  });

  it('makes one config source for classes whose configs are the same', () => {
    const of = valid(
      load(treeOf('computed: {systemReserved: {memory: \'min(memory * 0.5, quantity("1Gi"))\'}}\n')),
      'a',
    );
    const [small, large] = [poolOfClass(of, machine(2, 4)), poolOfClass(of, machine(2, 64))];
    assert.notEqual(small.class.name, large.class.name);
    assert.equal(small.pool?.configName, large.pool?.configName);
  });

  it('gives no config to a class that it cannot be computed for, or that would keep nothing for pods, and says why', () => {
    const label = valid(load(treeOf('computed: {maxPods: \'int(labels["pods"])\'}\n')), 'a');
    assert.deepEqual(given(label, machine(2, 4, { labels: { pods: '30' } })), { maxPods: 30 });
    assert.equal(given(label, machine(2, 4)), 'maxPods cannot be computed: the Node has no label pods');
    const eks = valid(load(treeOf('profile: eks\n', 'maxPods: 250\n')), 'a');
    const because = 'the reservations keep back 3105Mi of 3072Mi memory, so nothing is left';
    assert.equal(given(eks, machine(2, 3)), because);
    const shared = 'profile: eks\nbounds: {kubeReserved: {memory: {maxShare: 25%}}}\n';
    const bounded = valid(load(treeOf(shared, 'maxPods: 250\n')), 'a');
    assert.notEqual(given(bounded, machine(2, 3)), because);
    const { memory: _, ...unknown } = machine(2, 3);
    assert.match(String(given(bounded, unknown)), /does not say its memory, of which it may take 25%$/);
  });

  const refused = [
    ["computed: {kubeReserved: {cpu: 'cpu * '}}\n", ['bad-expression pools/a/computed.yaml:3:27']],
    ["computed: {kubeReserved: {cpu: 'memry * 0.1'}}\n", ['bad-expression pools/a/computed.yaml:3:27']],
    ["computed:\n  maxPods: 'maxPods + 1'\n", ['bad-expression pools/a/computed.yaml:4:3']],
    ['computed: {maxPods: 110}\n', ['wrong-type pools/a/computed.yaml:3:12']],
    ['computed: {allowedUnsafeSysctls: [a]}\n', ['wrong-type pools/a/computed.yaml:3:12']],
    ['profile: gkee\n', ['unknown-profile pools/a/computed.yaml:3:1']],
    ['profiles: gke\n', ['unknown-field pools/a/computed.yaml:3:1', 'missing-field pools/a/computed.yaml:1:1']],
    ['computed: [a]\n', ['wrong-type pools/a/computed.yaml:3:1']],
    [
      'profile: gke\nbounds: {kubeReserved: {memory: {min: 2Gi, max: 1Gi}}}\n',
      ['out-of-range pools/a/computed.yaml:4:34'],
    ],
    ['profile: gke\nbounds: {kubeReserved: {memory: {min: 2GB}}}\n', ['bad-quantity pools/a/computed.yaml:4:34']],
    ['profile: gke\nbounds: {kubeReserved: {memory: {maxShare: 0.25}}}\n', ['wrong-type pools/a/computed.yaml:4:34']],
    ['profile: gke\nbounds: {kubeReserved: {pid: {max: 3}}}\n', ['unknown-field pools/a/computed.yaml:4:25']],
    ["computed: {maxPods: '30'}\nbounds: {maxPods: {maxShare: 25%}}\n", ['wrong-type pools/a/computed.yaml:4:20']],
  ] as const;
  for (const [computed, expected] of refused) {
    it(`is refused with its place: ${computed.replaceAll('\n', ' ')}`, () => {
      const found = pool(load(treeOf(computed)), 'a');
      assert.equal(found.status, 'invalid');
      assert.deepEqual(brief(found.findings), expected);
    });
  }

  const KNOWN = 'known are cpu, milliCpu, memory, ephemeralStorage, maxPods, numaNodes, arch, labels';
  const meant: readonly (readonly [string, string | undefined])[] = [
    ['memry * 0.1', 'did you mean memory?'],
    ['disk * 0.1', KNOWN],
    ['x', KNOWN],
    ['flor(memory, cpu)', 'did you mean floor?'],
    ['labels["a"].endWith("b") ? memory : cpu', 'did you mean endsWith?'],
    ['average(memory, cpu)', undefined],
    ['memory * ', undefined],
    // What only quotes the words of a parser is no slip in a name.
    ['quantity("Unknown variable: memry")', undefined],
    ['quantity("there is no function flor")', undefined],
  ];
  for (const [expression, suggestion] of meant) {
    it(`${suggestion === undefined ? 'guesses nothing' : `says "${suggestion}"`} for ${expression}`, () => {
      const found = pool(load(treeOf(`computed: {kubeReserved: {memory: '${expression}'}}\n`)), 'a');
      assert.deepEqual(
        found.findings.map(({ code, suggestion: said }) => [code, said]),
        [['bad-expression', suggestion]],
      );
    });
  }

  it('is judged whole, on machines of several sizes, at the place of the expression', () => {
    const wrong = pool(load(treeOf("computed:\n  maxPods: '\"many\"'\n  kubeReserved: {memry: 'memory'}\n")), 'a');
    assert.equal(wrong.status, 'invalid');
    assert.ok(brief(wrong.findings).includes('wrong-type pools/a/computed.yaml:4:3'), brief(wrong.findings).join());
  });

  it('warns of machines that it has no config for', () => {
    const found = pool(load(treeOf('computed: {kubeReserved: {memory: \'memory - quantity("16Gi")\'}}\n')), 'a');
    assert.equal(found.status, 'valid');
    assert.deepEqual(
      found.findings.map(({ message }) => message),
      [
        'for machines with memory=4096Mi, kubeReserved.memory cannot be computed: it comes to less than nothing: nodes of this class keep what they have',
      ],
    );
    assert.deepEqual(brief(found.findings), ['not-computable pools/a/computed.yaml:3:27']);
  });

  it('cannot be forged by a plain layer', () => {
    const plain = 'clusterDomain: "\\0computed [\\"x\\"]"\n';
    const of = pool(load(treeOf("computed: {maxPods: '30'}\n", plain)), 'a');
    assert.ok(of.status === 'invalid' || given(of, machine(2, 4)) !== undefined);
  });
});
