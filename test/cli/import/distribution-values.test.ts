import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { distributionValues, type NodeSeen } from '#cli/import/distribution-values.ts';
import { distributionOf } from '#shared/contract/distribution-of-node.ts';
import { fc } from '../../support/property.ts';

const node = (name: string, kubeletVersion: string, labels: NodeSeen['labels'] = {}, osImage = 'Ubuntu'): NodeSeen => ({
  name,
  kubeletVersion,
  labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', ...labels },
  osImage,
});
const K3S = 'v1.34.2+k3s1';
const RKE2 = 'v1.34.2+rke2r1';

interface Values {
  readonly distribution?: string;
  readonly otherNodes: readonly {
    readonly name: string;
    readonly label: { readonly key: string; readonly value: string };
    readonly distribution: string;
  }[];
}

describe('the values for the distributions of the nodes', () => {
  for (const [what, nodes, said] of [
    [
      'one distribution',
      [node('a', K3S), node('b', K3S)],
      ['distribution: k3s (a value of the chart, or the component of that name)'],
    ],
    [
      'nodes that do not tell',
      [node('a', 'v1.34.2'), node('b', 'v1.34.2-eks-0a1b2c3', {}, 'Bottlerocket OS 1.26.1')],
      ['distribution: not told by the nodes; those of kubeadm (the default) and Kubespray look alike'],
    ],
    ['nodes of which nothing is known', [node('a', ''), node('b', '')], []],
    ['no nodes', [], []],
    [
      'nodes on which nothing runs',
      [node('a', 'v1.34.2-eks-0a1b2c3', { 'eks.amazonaws.com/compute-type': 'fargate' })],
      [],
    ],
    [
      'nodes that are opted out, on which an agent runs all the same',
      [node('a', K3S, { 'kubelet-gitops.dev/opt-out': 'true' })],
      ['distribution: k3s (a value of the chart, or the component of that name)'],
    ],
    [
      'two, of which the more frequent is for all others',
      [
        node('a', RKE2),
        node('b', RKE2),
        node('c', K3S, { 'node.kubernetes.io/instance-type': 'k3s', site: 'c', role: 'edge' }),
      ],
      [
        'values of the chart:',
        '  distribution: rke2',
        '  otherNodes:',
        '    - name: k3s',
        '      label: {key: role, value: "edge"}',
        '      distribution: k3s',
      ],
    ],
    [
      'one beside nodes that do not tell, and that share their labels',
      [node('a', K3S, { role: 'x' }), node('b', K3S, { role: 'x' }), node('c', 'v1.34.2', { role: 'x' })],
      [
        'values of the chart:',
        '  # distribution: not told by 1 node (c); those of kubeadm (the default) and Kubespray look alike',
        '  otherNodes:',
        '    - name: k3s',
        '      label: {key: KEY, value: VALUE} # give them a label that no others have',
        '      distribution: k3s',
      ],
    ],
  ] as const) {
    it(`are right for ${what}`, () => assert.deepEqual(distributionValues(nodes), said));
  }

  it('tell nodes apart by a label that these have and no others', () => {
    const labels = fc.dictionary(
      fc.constantFrom('role', 'pool', 'zone', 'example.com/team'),
      fc.constantFrom('a', 'b'),
    );
    const fleet = fc.array(fc.tuple(fc.constantFrom(K3S, RKE2, 'v1.34.2+k0s', 'v1.34.2'), labels), { maxLength: 8 });
    fc.assert(
      fc.property(fleet, (made) => {
        const nodes = made.map(([version, has], index) => node(`n-${index}`, version, has));
        const [first = '', ...rest] = distributionValues(nodes);
        if (first !== 'values of the chart:') return;
        const { distribution, otherNodes } = parse(rest.join('\n')) as Values;
        const main = distribution ?? undefined;
        const listed = new Set(otherNodes.map((each) => each.distribution));
        for (const each of otherNodes.filter(({ label }) => label.key !== 'KEY')) {
          const having = nodes.filter(({ labels: has }) => has[each.label.key] === each.label.value);
          assert.deepEqual(
            having,
            nodes.filter((one) => distributionOf(one) === each.distribution),
          );
        }
        const unlisted = new Set(nodes.map(distributionOf).filter((name) => !listed.has(name ?? '')));
        assert.deepEqual([...unlisted], [main]);
      }),
    );
  });
});
