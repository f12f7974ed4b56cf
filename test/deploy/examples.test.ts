import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { readReceivers } from '#reconciler/reporting/notifications/receivers.ts';
import { fencedBlocks } from '../support/fenced-blocks.ts';
import { CHART, renderChart, WITHOUT_HELM } from './chart/render.ts';

type Fields = Readonly<Record<string, unknown>>;
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Fields;
}

const examples = (name: string): readonly Manifest[] =>
  parseAllDocuments(readFileSync(`deploy/examples/${name}`, 'utf8'), { merge: true }).map(
    (one) => one.toJS() as Manifest,
  );
const only = (name: string, kind: string): Manifest => {
  const [found, ...more] = examples(name).filter((each) => each.kind === kind);
  assert.ok(found !== undefined && more.length === 0, kind);
  return found;
};
const at = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Fields | undefined)?.[key], value);

const VALUES: readonly (readonly [example: string, values: Fields])[] = [
  [
    'argocd-application.yaml',
    at(only('argocd-application.yaml', 'Application').spec, 'source', 'helm', 'valuesObject') as Fields,
  ],
  ['flux-helmrelease.yaml', at(only('flux-helmrelease.yaml', 'HelmRelease').spec, 'values') as Fields],
];

describe('an example of receivers', () => {
  for (const name of ['notifications-slack.yaml', 'notifications-flux.yaml']) {
    it(`is taken as it is: ${name}`, () => {
      const { metadata, data = {} } = only(name, 'ConfigMap');
      assert.deepEqual([metadata.name, metadata.namespace], ['kubelet-gitops-notifications', 'kubelet-gitops']);
      const { receivers } = readReceivers(Buffer.from(data['receivers.yaml'] ?? ''), '/x/receivers.yaml');
      assert.ok(receivers.length > 0);
      // What has to be in the Secret is said how to make.
      const text = readFileSync(`deploy/examples/${name}`, 'utf8');
      for (const { urlFile, keyFile } of receivers)
        for (const file of [urlFile, keyFile ?? urlFile])
          assert.ok(text.includes(`--from-file=${file.slice('/x/'.length)}`), file);
    });
  }

  it('is taken as docs/notifications.md has it', () => {
    const [text = ''] = fencedBlocks('docs/notifications.md', 'yaml').filter((block) =>
      block.includes('NotificationReceivers'),
    );
    assert.equal(readReceivers(Buffer.from(text), '/x/receivers.yaml').receivers.length, 2);
  });
});

describe('an example that installs everything', () => {
  for (const [example, values] of VALUES) {
    it(`has values that the chart's schema takes: ${example}`, () => {
      const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8')) as object;
      const judge = new Ajv({ strict: false }).compile(schema);
      assert.ok(judge(values), JSON.stringify(judge.errors));
      assert.ok(!judge({ ...values, nothing: 1 }));
    });

    it(`renders: ${example}`, { skip: WITHOUT_HELM }, () => {
      const made = renderChart(values);
      const { data = {} } = made.find(({ metadata }) => metadata.name === 'kubelet-gitops-notifications') as Manifest;
      const text = data['receivers.yaml'] ?? '';
      assert.equal(readReceivers(Buffer.from(text), '/x/receivers.yaml').receivers[0]?.name, 'channel');
    });
  }

  it('says how to make the Secret without which no pod starts', () => {
    for (const [example, values] of VALUES) {
      const text = readFileSync(`deploy/examples/${example}`, 'utf8');
      const [receiver] = at(values, 'notifications', 'receivers') as readonly Fields[];
      const command = 'create secret generic kubelet-gitops-notifications';
      assert.ok(text.includes(`${command} --from-file=${String(receiver?.['urlFile'])}\n`), example);
    }
  });

  it('has a namespace in which an agent may start where Pod Security is enforced', () => {
    const [ours] = parseAllDocuments(readFileSync('deploy/namespace/namespace.yaml', 'utf8'));
    const labels = Object.entries(at(ours?.toJS(), 'metadata', 'labels') as Fields);
    const ofFlux = at(only('flux-helmrelease.yaml', 'Namespace'), 'metadata', 'labels');
    assert.deepEqual(
      ofFlux,
      Object.fromEntries(labels.filter(([key]) => key.startsWith('pod-security.kubernetes.io/'))),
    );
    assert.equal(at(VALUES[0]?.[1], 'namespace', 'create'), true);
  });

  it('checks the health of what is there', () => {
    const checked = at(only('flux-kustomization.yaml', 'Kustomization').spec, 'healthChecks') as readonly Fields[];
    const named = checked.map(({ kind, name }) => `${String(kind)}/${String(name)}`);
    assert.deepEqual(named, [
      'Deployment/kubelet-gitops-reconciler',
      'DaemonSet/kubelet-gitops-agent',
      'KubeletSource/kubelet-gitops',
      'KubeletPool/workers',
    ]);
    const there = ['deploy/reconciler/deployment.yaml', 'deploy/agent/daemonset.yaml'].map((file) => {
      const { kind, metadata } = parse(readFileSync(file, 'utf8')) as Manifest;
      return `${kind}/${metadata.name}`;
    });
    assert.deepEqual(named.slice(0, 2), there);
  });

  it('judges it by the expressions of docs/events.md, which test/peers runs in Flux’ own library', () => {
    const [block] = fencedBlocks('docs/events.md', 'yaml').flatMap((text) => {
      const manifest = parse(text, { merge: true }) as Manifest;
      return manifest.kind === 'Kustomization' ? [manifest] : [];
    });
    const written = at(block?.spec, 'healthCheckExprs') as readonly Fields[];
    const ours = at(only('flux-kustomization.yaml', 'Kustomization').spec, 'healthCheckExprs') as readonly Fields[];
    assert.deepEqual(ours, written.slice(0, 2));
  });

  it('points to what is in this repository', () => {
    const chart = at(only('flux-helmrelease.yaml', 'HelmRelease').spec, 'chart', 'spec', 'chart');
    const path = at(only('argocd-application.yaml', 'Application').spec, 'source', 'path');
    assert.deepEqual([chart, path], [`./${CHART}`, CHART]);
  });
});
