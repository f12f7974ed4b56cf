import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { type Affinity, takes } from './node-affinity.ts';
import { type Overlay, renderKustomization, WITHOUT_RENDERERS } from './chart/render.ts';

interface DaemonSet {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly minReadySeconds: number;
    readonly updateStrategy: { readonly rollingUpdate: { readonly maxUnavailable: number | string } };
    readonly selector: { readonly matchLabels: Labels };
    readonly template: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly affinity: Affinity;
        readonly containers: readonly [
          {
            readonly image: string;
            readonly env: readonly { readonly name: string; readonly value?: string }[];
            readonly securityContext: object;
          },
        ];
      };
    };
  };
}
type Labels = Readonly<Record<string, string>>;

const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';
const ETCD = 'node-role.kubernetes.io/etcd';

const setsOf = (components: readonly string[], more: Overlay = {}): readonly DaemonSet[] =>
  renderKustomization({ components: components.map((name) => `../deploy/components/${name}`), ...more }).filter(
    ({ kind }) => kind === 'DaemonSet',
  ) as unknown as readonly DaemonSet[];

const settingsOf = ({ spec }: DaemonSet): Labels =>
  Object.fromEntries(spec.template.spec.containers[0].env.map(({ name, value = '' }) => [name, value]));

const KUBELITE = 'snap.microk8s.daemon-kubelite.service';
const ROLES = [CONTROL_PLANE, ETCD];

for (const [component, agents, servers, serverLabels] of [
  ['k3s', 'k3s-agent.service', 'k3s.service', ROLES],
  ['rke2', 'rke2-agent.service', 'rke2-server.service', ROLES],
  ['k0s', 'k0sworker.service', 'k0scontroller.service', ROLES],
  ['microk8s', KUBELITE, KUBELITE, ['node.kubernetes.io/microk8s-controlplane']],
] as const) {
  describeOrSkip(`the component ${component}`, { skip: WITHOUT_RENDERERS }, () => {
    for (const keys of [[], ...serverLabels.map((key) => [key]), serverLabels]) {
      const [name, unit] =
        keys.length === 0 ? ['kubelet-gitops-agent', agents] : ['kubelet-gitops-agent-servers', servers];
      it(`gives a node with the labels [${keys.join()}] one pod, of ${name}`, () => {
        const labels = Object.fromEntries(keys.map((key) => [key, 'true']));
        const found = setsOf([component])
          .filter(({ spec }) => takes(spec.template.spec.affinity, labels))
          .map((set) => [set.metadata.name, settingsOf(set)['KUBELET_SERVICE']]);
        assert.deepEqual(found, [[name, unit]]);
      });
    }

    it('keeps the DaemonSet that may be there, and tells the pods of the other apart', () => {
      const [first, others] = setsOf([component]);
      assert.deepEqual(
        [first?.metadata.name, others?.metadata.name],
        ['kubelet-gitops-agent', 'kubelet-gitops-agent-servers'],
      );
      // A selector cannot be changed.
      const labels = { 'app.kubernetes.io/component': 'agent', 'app.kubernetes.io/name': 'kubelet-gitops' };
      assert.deepEqual(first?.spec.selector.matchLabels, labels);
      assert.deepEqual(others?.spec.selector.matchLabels, { ...labels, 'kubelet-gitops.dev/nodes': 'servers' });
      for (const { spec } of setsOf([component])) {
        assert.deepEqual(spec.template.metadata.labels, spec.selector.matchLabels);
      }
    });

    it('replaces one server at a time, however many agents', () => {
      const limits = setsOf([component, 'uninstall']).map(
        ({ spec }) => spec.updateStrategy.rollingUpdate.maxUnavailable,
      );
      assert.deepEqual(limits, ['10%', 1]);
    });

    it('is changed on both sides by the components that come after it, and by one’s own image and patches', () => {
      const images = [{ name: 'kubelet-gitops', newName: 'registry.example.com/kubelet-gitops', newTag: '7' }];
      const op = { op: 'add', path: '/spec/template/spec/containers/0/env/-', value: { name: 'GUARD', value: 'off' } };
      const patches = [{ target: { kind: 'DaemonSet', name: 'kubelet-gitops-agent' }, patch: JSON.stringify([op]) }];
      const sets = setsOf([component, 'selinux', 'uninstall'], { images, patches });
      assert.equal(sets.length, 2);
      for (const set of sets) {
        const [{ image, securityContext }] = set.spec.template.spec.containers;
        assert.equal(image, 'registry.example.com/kubelet-gitops:7');
        assert.ok('seLinuxOptions' in securityContext);
        assert.equal(settingsOf(set)['MODE'], 'uninstall');
        assert.equal(set.spec.minReadySeconds, 90);
        assert.equal(settingsOf(set)['GUARD'], 'off');
      }
    });

    for (const early of ['uninstall', 'selinux', 'apparmor-before-1.30']) {
      it(`refuses ${early} before it, which would be missing from the servers`, () => {
        assert.throws(() => setsOf([early, component]), /test failed/);
      });
    }
  });
}
