import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DISTRIBUTIONS } from '#shared/contract/distributions.ts';
import { componentNames, valueOf } from '../../../scripts/generate/chart.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { sampleOf } from '../../support/sample.ts';
import { type Overlay, renderChart, renderKustomization, REQUIRED_VALUES, WITHOUT_RENDERERS } from './render.ts';
import { assertSameObjects } from './same-objects.ts';

const kustomization = (overlay: Overlay, settings: readonly string[] = []) =>
  renderKustomization({
    ...overlay,
    configMapGenerator: [
      {
        name: 'kubelet-gitops-settings',
        namespace: 'kubelet-gitops',
        behavior: 'merge',
        literals: [`CLUSTER=${REQUIRED_VALUES.cluster}`, `GIT_URL=${REQUIRED_VALUES.git.url}`, ...settings],
      },
    ],
  });
const chart = (values: Readonly<Record<string, unknown>>) =>
  renderChart({ namespace: { create: true }, admission: { enabled: false }, ...REQUIRED_VALUES, ...values });

/** What a component's kustomization leaves to the settings, or to whoever applies it. */
const BESIDE: Readonly<
  Record<string, { readonly values?: object; readonly settings?: readonly string[]; readonly overlay?: Overlay }>
> = {
  'commit-statuses': { values: { forge: 'gitlab' }, settings: ['FORGE=gitlab'] },
  // docs/uninstall.md has this patch.
  uninstall: {
    overlay: {
      patches: [
        {
          patch:
            '$patch: delete\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: kubelet-gitops-reconciler, namespace: kubelet-gitops }',
        },
      ],
    },
  },
};

describeOrSkip('the chart makes the objects of the kustomization', { skip: WITHOUT_RENDERERS }, () => {
  it('with nothing but the required values', () => assertSameObjects(chart({}), kustomization({})));

  for (const component of sampleOf(componentNames(), 6)) {
    it(`with the component ${component}`, () => {
      const { values = {}, settings = [], overlay = {} } = BESIDE[component] ?? {};
      assertSameObjects(
        chart({ [valueOf(component)]: { enabled: true, ...values } }),
        kustomization({ components: [`../deploy/components/${component}`], ...overlay }, settings),
      );
    });
  }

  for (const distribution of Object.keys(DISTRIBUTIONS).filter((name) => name !== 'kubeadm')) {
    it(`for the distribution ${distribution}`, () =>
      assertSameObjects(
        chart({ distribution }),
        kustomization({ components: [`../deploy/components/${distribution}`] }),
      ));
  }

  it('with all components that go together', () => {
    const together = componentNames().filter((component) => component !== 'uninstall');
    const beside = together.map((component) => BESIDE[component] ?? {});
    const values = together.map((component, index) => [
      valueOf(component),
      { enabled: true, ...beside[index]?.values },
    ]);
    assertSameObjects(
      chart({ distribution: 'k3s', ...Object.fromEntries(values) }),
      // The distribution first, because the others change both of its DaemonSets.
      kustomization(
        { components: ['k3s', ...together].map((component) => `../deploy/components/${component}`) },
        beside.flatMap(({ settings = [] }) => settings),
      ),
    );
  });

  it('with the way off the nodes of a distribution whose servers have a DaemonSet of their own', () => {
    const components = ['../deploy/components/rke2', '../deploy/components/uninstall'];
    assertSameObjects(
      chart({ distribution: 'rke2', uninstall: { enabled: true } }),
      kustomization({ components, ...BESIDE['uninstall']?.overlay }),
    );
  });
});

describeOrSkip('the chart', { skip: WITHOUT_RENDERERS }, () => {
  const kinds = (values: Readonly<Record<string, unknown>>): ReadonlySet<string> =>
    new Set(renderChart(values).map(({ kind }) => kind));

  it('says what is missing', () => {
    assert.throws(() => renderChart({ git: REQUIRED_VALUES.git }), /cluster is not set/);
    assert.throws(() => renderChart({ cluster: 'demo' }), /git\.url is not set/);
    assert.throws(() => chart({ commitStatuses: { enabled: true } }), /commitStatuses\.forge is not set/);
    const affinity = { nodeAffinity: {} };
    assert.throws(() => chart({ distribution: 'k3s', agent: { affinity } }), /agent\.affinity has no meaning/);
    const edge = { name: 'edge', label: { key: 'site', value: 'edge' }, distribution: 'eks' };
    assert.throws(() => chart({ otherNodes: [edge], agent: { affinity } }), /agent\.affinity has no meaning/);
    assert.throws(() => chart({ otherNodes: [edge, edge] }), /the same name/);
    const servers = { ...edge, name: 'servers' };
    assert.throws(() => chart({ distribution: 'k3s', otherNodes: [servers] }), /the same name/);
    assert.throws(() => chart({ dataDirectory: '/data' }), /dataDirectory: kubeadm has none that moves/);
    const moved = { ...edge, dataDirectory: '/data' };
    assert.throws(() => chart({ otherNodes: [moved] }), /dataDirectory: eks has none that moves/);
  });

  it('refuses what its schema refuses', () => {
    assert.throws(() => chart({ poll: '60' }), /poll/);
    assert.throws(() => chart({ agent: { kubeletService: 'k3s.service' } }), /kubeletService/);
    assert.throws(() => chart({ settings: { GIT_URL: 'https://git.example.com/a' } }), /GIT_URL|settings/);
  });

  it('leaves the namespace to helm, and the CRDs to whoever may, where told so', () => {
    assert.ok(!kinds(REQUIRED_VALUES).has('Namespace'));
    assert.ok(kinds(REQUIRED_VALUES).has('CustomResourceDefinition'));
    assert.ok(!kinds({ ...REQUIRED_VALUES, crds: { install: false } }).has('CustomResourceDefinition'));
  });

  it('has the admission policies by default, for API servers that know them', () => {
    const policies = (kubeVersion: string, values: Readonly<Record<string, unknown>> = {}): readonly string[] =>
      renderChart({ ...REQUIRED_VALUES, ...values }, kubeVersion).flatMap(({ kind, metadata }) =>
        kind === 'ValidatingAdmissionPolicy' ? [metadata.name] : [],
      );
    const all = ['agent-own-node', 'config-sources', 'lease', 'reconciler-writes'].map(
      (name) => `kubelet-gitops-${name}`,
    );
    assert.deepEqual([...policies('v1.30.0')].sort(), all);
    assert.deepEqual([...policies('v1.34.1-gke.100')].sort(), all);
    assert.deepEqual(policies('v1.29.9'), []);
    assert.deepEqual(policies('v1.34.0', { admission: { enabled: false } }), []);
  });

  it('makes other pods of other settings', () => {
    const templateOf = (poll: string): string => {
      const made = renderChart({ ...REQUIRED_VALUES, poll }).find(({ kind }) => kind === 'Deployment');
      return JSON.stringify((made as { readonly spec?: { readonly template?: object } } | undefined)?.spec?.template);
    };
    assert.notEqual(templateOf('60s'), templateOf('61s'));
    assert.equal(templateOf('60s'), templateOf('60s'));
  });
});
