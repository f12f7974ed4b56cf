import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ImportedNode } from '#cli/import/pools/fleet-node.ts';
import { groupNodes } from '#cli/import/pools/group-nodes.ts';
import { nameOfDifference, nameOfLabel, nameTogether, slug } from '#cli/import/pools/pool-names.ts';
import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import { isDnsLabel } from '#shared/contract/kubelet-config/syntax/names.ts';
import { fc } from '../../../support/property.ts';
import { column, columns } from '../../../support/columns.ts';

type Config = Readonly<Record<string, unknown>>;
const HOSTNAME = 'kubernetes.io/hostname';
const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';
const NODEGROUP = 'eks.amazonaws.com/nodegroup';

const node = (name: string, labels: Readonly<Record<string, string>>, config: Config): ImportedNode => ({
  name,
  labels: { 'kubernetes.io/os': 'linux', [HOSTNAME]: name, ...labels },
  config,
});

const some = (count: number, name: string, labels: Readonly<Record<string, string>>, config: Config) =>
  Array.from({ length: count }, (_, index) => node(`${name}-${index + 1}`, labels, config));

const KUBEADM: Config = { clusterDomain: 'cluster.local', shutdownGracePeriod: '30s', imageMinimumGCAge: '5m' };
const eks = (maxPods: number, memory: string): Config => ({
  clusterDomain: 'cluster.local',
  serializeImagePulls: false,
  kubeAPIQPS: 10,
  kubeAPIBurst: 20,
  podPidsLimit: 4096,
  maxPods,
  kubeReserved: { cpu: '70m', memory },
});

/** The fleet of somebody who adopts: kubeadm, three node groups of EKS, k3s and GPUs, and three nodes that were tuned by hand. */
const FLEET = [
  ...some(3, 'cp', { [CONTROL_PLANE]: '' }, KUBEADM),
  ...some(84, 'kadm', {}, KUBEADM),
  node('tuned-1', {}, { ...KUBEADM, maxPods: 250 }),
  node('tuned-2', {}, { ...KUBEADM, maxPods: 250, podPidsLimit: 4096 }),
  node('tuned-3', {}, { ...KUBEADM, evictionHard: { 'memory.available': '1Gi' } }),
  ...some(20, 'apps', { [NODEGROUP]: 'apps' }, eks(29, '500Mi')),
  ...some(20, 'batch', { [NODEGROUP]: 'batch' }, eks(58, '700Mi')),
  ...some(20, 'edge', { [NODEGROUP]: 'edge' }, eks(17, '1Gi')),
  ...some(20, 'k3s', { 'egress.k3s.io/cluster': 'true' }, { clusterDomain: 'cluster.local', failSwapOn: false }),
  ...some(30, 'gpu', { 'nvidia.com/gpu.present': 'true' }, { ...KUBEADM, topologyManagerPolicy: 'restricted' }),
];

describe('pools of a mixed fleet', () => {
  const { common, shared, groups, lost, scattered } = groupNodes(FLEET, []);
  const byName = new Map(groups.map((group) => [group.name, group]));

  it('have names that people would give, with outliers above the pool that they differ from', () => {
    assert.deepEqual(
      groups.map(({ name, nodes, priority }) => [name, nodes.length, priority]),
      [
        ['workers', 84, 0],
        ['gpu', 30, 10],
        ['apps', 20, 0],
        ['batch', 20, 0],
        ['edge', 20, 0],
        ['k3s-cluster', 20, 10],
        ['workers-max-pods-250', 1, 10],
        ['workers-max-pods-and-pod-pids-limit', 1, 10],
        ['workers-eviction-hard', 1, 10],
        ['control-plane', 3, 100],
      ],
    );
    assert.deepEqual([lost, scattered], [[], []]);
  });

  it('are told by what later nodes have as well, and only hand-tuned nodes by name', () => {
    assert.deepEqual(byName.get('workers')?.nodeSelector, {
      matchExpressions: [
        { key: CONTROL_PLANE, operator: 'DoesNotExist' },
        { key: NODEGROUP, operator: 'DoesNotExist' },
      ],
    });
    assert.deepEqual(byName.get('gpu')?.nodeSelector, { matchLabels: { 'nvidia.com/gpu.present': 'true' } });
    assert.deepEqual(byName.get('apps')?.nodeSelector, { matchLabels: { [NODEGROUP]: 'apps' } });
    assert.deepEqual(
      column(
        groups.filter(({ isByName }) => isByName),
        'nodes',
      ),
      [['tuned-1'], ['tuned-2'], ['tuned-3']],
    );
  });

  it('keep the control plane apart, though it runs what the workers run', () => {
    assert.deepEqual(byName.get('control-plane')?.nodeSelector, {
      matchExpressions: [{ key: CONTROL_PLANE, operator: 'Exists' }],
    });
    assert.deepEqual(byName.get('control-plane')?.own, byName.get('workers')?.own);
  });

  it('write once what several of them say', () => {
    assert.deepEqual(common, { clusterDomain: 'cluster.local' });
    const [first] = shared;
    assert.deepEqual([first?.name, first?.pools], ['eks', ['apps', 'batch', 'edge']]);
    const { clusterDomain: _, maxPods: __, kubeReserved: ___, ...alike } = eks(0, '');
    assert.deepEqual(first?.config, { ...alike, kubeReserved: { cpu: '70m' } });
    assert.deepEqual(byName.get('apps')?.own, { maxPods: 29, kubeReserved: { memory: '500Mi' } });
    assert.deepEqual(byName.get('apps')?.shared, ['eks']);
  });
});

describe('grouping by labels', () => {
  it('makes one pool of a provider’s pools that run the same, and another of one that does not', () => {
    const nodes = [
      ...some(4, 'a', { [NODEGROUP]: 'shop-a' }, { maxPods: 20 }),
      ...some(4, 'b', { [NODEGROUP]: 'shop-b' }, { maxPods: 20 }),
      ...some(3, 'c', { [NODEGROUP]: 'search' }, { maxPods: 30 }),
    ];
    assert.deepEqual(columns(groupNodes(nodes, []).groups, 'name', 'nodeSelector'), [
      ['shop', { matchExpressions: [{ key: NODEGROUP, operator: 'In', values: ['shop-a', 'shop-b'] }] }],
      ['search', { matchLabels: { [NODEGROUP]: 'search' } }],
    ]);
  });

  it('asks for two labels where one is not enough', () => {
    const nodes = [
      ...some(5, 'a', { [NODEGROUP]: 'a' }, { maxPods: 20 }),
      ...some(2, 'a-gpu', { [NODEGROUP]: 'a', gpu: 'true' }, { maxPods: 5 }),
      ...some(5, 'b', { [NODEGROUP]: 'b', gpu: 'true' }, { maxPods: 30 }),
    ];
    const part = groupNodes(nodes, []).groups.find(({ name }) => name === 'gpu');
    assert.deepEqual(part?.nodeSelector, { matchLabels: { [NODEGROUP]: 'a', gpu: 'true' } });
    assert.deepEqual([part?.priority, part?.nodes], [10, ['a-gpu-1', 'a-gpu-2']]);
  });

  it('keeps off single nodes of which nobody knows what they run, by their names', () => {
    const nodes = some(3, 'a', { [NODEGROUP]: 'a' }, { maxPods: 20 });
    const stranger = { 'kubernetes.io/os': 'linux', [NODEGROUP]: 'a', [HOSTNAME]: 'broken' };
    const [group] = groupNodes(nodes, [stranger]).groups;
    assert.deepEqual(group?.nodeSelector.matchExpressions, [{ key: HOSTNAME, operator: 'NotIn', values: ['broken'] }]);
    assert.equal(group?.excluded, 1);
  });

  it('selects by the label kubernetes.io/hostname, which is not always the node’s name', () => {
    const named = (name: string, hostname: string, maxPods: number) =>
      node(name, { [HOSTNAME]: hostname }, { maxPods });
    const nodes = [named('ip-1.internal', 'ip-1', 20), named('ip-2.internal', 'ip-2', 30)];
    assert.deepEqual(
      groupNodes(nodes, []).groups.map(({ nodeSelector }) => nodeSelector.matchExpressions?.[0]?.values),
      [['ip-1'], ['ip-2']],
    );
  });

  it('leaves out nodes that nothing tells from others that run something else', () => {
    const twins = ['a', 'b', 'c'].map((name, index) => node(name, { [HOSTNAME]: 'twin' }, { maxPods: 20 + index }));
    const { groups, lost } = groupNodes([...twins, node('d', {}, { maxPods: 20 })], []);
    assert.deepEqual(lost, ['a', 'b', 'c']);
    assert.deepEqual(
      groups.map(({ nodes, nodeSelector }) => [nodes, nodeSelector.matchExpressions?.[0]?.values]),
      [[['d'], ['d']]],
    );
  });

  it('leaves a field to the nodes that has another value on nearly each, in place of a pool for each', () => {
    const nodes = Array.from({ length: 40 }, (_, index) =>
      node(`n-${index}`, {}, { maxPods: 50, kubeReserved: { memory: `${400 + index}Mi` } }),
    );
    const { groups, scattered } = groupNodes(nodes, []);
    assert.deepEqual(
      groups.map(({ name, nodes: of }) => [name, of.length]),
      [['all-nodes', 40]],
    );
    assert.deepEqual(
      scattered.map(({ field, nodes: of }) => [field, of.length]),
      [['kubeReserved', 40]],
    );
  });
});

describe('amounts in other words', () => {
  const plain = (cpu: string, memory: string, age: string, grace: string): Config => ({
    imageMinimumGCAge: age,
    kubeReserved: { cpu, memory },
    evictionHard: { 'memory.available': memory, 'nodefs.available': '10%' },
    evictionSoftGracePeriod: { 'memory.available': grace },
    reservedMemory: [{ numaNode: 0, limits: { memory } }],
    containerLogMaxSize: memory,
  });
  const MOST = plain('100m', '1Gi', '1m0s', '90s');

  it('are no reason for another pool, and are written as most nodes have them', () => {
    const nodes = [
      ...some(3, 'a', {}, MOST),
      node('b', {}, plain('0.1', '1024Mi', '1m', '1m30s')),
      node('c', {}, plain('100e-3', '1048576Ki', '60s', '1.5m')),
    ];
    const { groups, common } = groupNodes(nodes, []);
    assert.deepEqual(
      groups.map(({ name, nodes: of }) => [name, of.length]),
      [['all-nodes', 5]],
    );
    assert.deepEqual(common, MOST);
    for (const { name, config } of nodes) assert.deepEqual(contradictions(common, config, 'v1.34.2'), [], name);
  });

  it('make a majority together, so that no node with another amount is taken for the usual one', () => {
    const nodes = [
      ...some(2, 'a', {}, { kubeReserved: { memory: '1Gi' } }),
      ...some(2, 'b', {}, { kubeReserved: { memory: '1024Mi' } }),
      ...some(3, 'c', {}, { kubeReserved: { memory: '1G' } }),
    ];
    assert.deepEqual(
      groupNodes(nodes, []).groups.map(({ nodes: of, isByName }) => [of.length, isByName]),
      [
        [4, false],
        [3, true],
      ],
    );
  });

  it('stay different where the kubelet reads no amount, or another one', () => {
    const pools = (one: Config, other: Config) =>
      groupNodes([...some(3, 'a', {}, one), node('b', {}, other)], []).groups;
    assert.equal(pools({ clusterDomain: '1m' }, { clusterDomain: '1m0s' }).length, 2);
    assert.equal(pools({ evictionHard: { x: '10%' } }, { evictionHard: { x: '10.0%' } }).length, 2);
    assert.equal(pools({ containerLogMaxSize: '1G' }, { containerLogMaxSize: '1Gi' }).length, 2);
    assert.equal(
      pools({ kubeReserved: { memory: '9007199254740993' } }, { kubeReserved: { memory: '9007199254740992' } }).length,
      2,
    );
  });
});

describe('names of pools', () => {
  it('say what a label says', () => {
    assert.equal(nameOfLabel('nvidia.com/gpu.present', 'true'), 'gpu');
    assert.equal(nameOfLabel('egress.k3s.io/cluster', 'true'), 'k3s-cluster');
    assert.equal(nameOfLabel('node-role.kubernetes.io/infra', ''), 'infra');
    assert.equal(nameOfLabel('example.com/spot', 'false'), 'no-spot');
    assert.equal(nameOfLabel('lke.linode.com/pool-id', '12345'), 'pool-id-12345');
    assert.equal(nameOfLabel('node.kubernetes.io/instance-type', 'm5.large'), 'm5-large');
    assert.equal(nameOfLabel('kubernetes.io/os', 'windows'), 'windows');
  });

  it('say together what they begin with, or how many there are', () => {
    assert.equal(nameTogether(['workers-a', 'workers-b']), 'workers');
    assert.equal(nameTogether(['blue', 'green']), 'blue-and-green');
    assert.equal(nameTogether(['blue', 'green', 'red']), 'blue-and-2-more');
  });

  it('say what differs', () => {
    assert.equal(nameOfDifference([{ keys: ['maxPods'], value: 250 }]), 'max-pods-250');
    assert.equal(nameOfDifference([{ keys: ['maxPods'], value: undefined }]), 'max-pods-default');
    assert.equal(nameOfDifference([{ keys: ['clusterDNS'], value: ['10.0.0.1'] }]), 'cluster-dns');
    assert.equal(nameOfDifference([{ keys: ['logging', 'verbosity'], value: 4 }]), 'logging-verbosity-4');
    assert.equal(nameOfDifference(['a', 'b', 'c'].map((key) => ({ keys: [key], value: 1 }))), 'a-and-2-more');
  });

  it('are fit for a folder and a pool, whatever they are made of', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        assert.ok(slug(text) === '' || isDnsLabel(slug(text), 40), slug(text));
      }),
    );
  });
});
