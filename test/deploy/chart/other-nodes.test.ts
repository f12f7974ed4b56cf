import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { type Affinity, takes } from '../node-affinity.ts';
import { renderChart, REQUIRED_VALUES, WITHOUT_HELM } from './render.ts';

type Labels = Readonly<Record<string, string>>;
interface DaemonSet {
  readonly metadata: { readonly name: string; readonly labels: Labels };
  readonly spec: {
    readonly selector: { readonly matchLabels: Labels };
    readonly updateStrategy: { readonly rollingUpdate: { readonly maxUnavailable: number | string } };
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: { readonly affinity: Affinity };
    };
  };
}

const setsOf = (values: object): readonly DaemonSet[] =>
  renderChart({ ...REQUIRED_VALUES, ...values }).filter(
    ({ kind }) => kind === 'DaemonSet',
  ) as unknown as readonly DaemonSet[];

const SERVER = { 'node-role.kubernetes.io/control-plane': 'true' };
const of = (kind: string): Labels => ({ kind });
const label = (value: string) => ({ key: 'kind', value });

const K3S = { name: 'edge', label: label('edge'), distribution: 'k3s' };
const EKS = { name: 'cloud', label: label('cloud'), distribution: 'eks' };
/** Another label, so that a node may have two. */
const GPU = {
  name: 'gpu',
  label: { key: 'gpu', value: '' },
  distribution: 'kubeadm',
  configFile: '/etc/gpu/kubelet.yaml',
};

describeOrSkip('nodes of several distributions in one cluster', { skip: WITHOUT_HELM }, () => {
  for (const [main, otherNodes] of [
    ['kubeadm', [K3S, EKS, GPU]],
    ['rke2', [K3S, EKS, GPU]],
    ['rke2', [GPU, K3S, EKS]],
  ] as const) {
    const servers = main === 'rke2' ? 'servers' : undefined;
    const first = otherNodes[0] === GPU ? 'gpu' : 'edge';
    for (const [what, labels, nodes] of [
      ['without any of the labels', {}, undefined],
      ['with another value of the label', of('elsewhere'), undefined],
      ['of the main distribution that is a server', SERVER, servers],
      ['of another distribution', of('edge'), 'edge'],
      ['of another distribution that is a server', { ...of('edge'), ...SERVER }, 'edge-servers'],
      ['of a second other distribution', { ...of('cloud'), ...SERVER }, 'cloud'],
      ['with a label of an empty value', { gpu: '' }, 'gpu'],
      ['with two of the labels, which the first decides', { ...of('edge'), gpu: '' }, first],
    ] as const) {
      it(`give a node ${what} one pod beside ${main} (${otherNodes.map(({ name }) => name).join()})`, () => {
        const found = setsOf({ distribution: main, otherNodes }).filter(({ spec }) =>
          takes(spec.template.spec.affinity, labels),
        );
        assert.deepEqual(
          found.map(({ metadata }) => metadata.labels['kubelet-gitops.dev/nodes']),
          [nodes],
        );
      });
    }
  }

  it('have DaemonSets that tell their pods apart, and the servers of each go one at a time', () => {
    const sets = setsOf({ distribution: 'k0s', otherNodes: [K3S, EKS], agent: { maxUnavailable: '50%' } });
    const limits = sets.map(({ metadata, spec }) => {
      const suffix = metadata.labels['kubelet-gitops.dev/nodes'];
      assert.equal(metadata.name, `kubelet-gitops-agent${suffix === undefined ? '' : `-${suffix}`}`);
      assert.equal(spec.selector.matchLabels['kubelet-gitops.dev/nodes'], suffix);
      assert.deepEqual(spec.template.metadata.labels, spec.selector.matchLabels);
      return [suffix ?? '', spec.updateStrategy.rollingUpdate.maxUnavailable] as const;
    });
    assert.deepEqual(Object.fromEntries(limits), {
      '': '50%',
      servers: 1,
      edge: '50%',
      'edge-servers': 1,
      cloud: '50%',
    });
  });
});
