import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { DISTRIBUTIONS } from '#shared/contract/distributions.ts';
import { componentNames, valueOf } from '../../../scripts/generate/chart.ts';
import { CHART } from './render.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

const read = (file: string): string => readFileSync(file, 'utf8');
const schema = JSON.parse(read(`${CHART}/values.schema.json`)) as Schema;
const defaults = parse(read(`${CHART}/values.yaml`)) as Readonly<Record<string, unknown>>;
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
const refusal = (values: unknown): string => (validate(values) ? '' : JSON.stringify(validate.errors));

const receivers = (...all: readonly object[]): object => ({ notifications: { enabled: true, receivers: all } });

describe('the schema of the chart’s values', () => {
  it('takes the defaults', () => assert.equal(refusal(defaults), ''));

  for (const [what, values] of [
    ['a name that is no cluster’s', { cluster: 'My Cluster' }],
    ['an address without a scheme', { git: { url: 'git.example.com/a' } }],
    ['a folder from the root of a disk', { git: { path: '/infra' } }],
    ['a folder with a slash behind it', { git: { path: 'infra/' } }],
    ['a folder with an empty part', { git: { path: 'infra//kubelet' } }],
    ['a folder that leads out', { git: { path: 'infra/../kubelet' } }],
    ['a folder with a backslash', { git: { path: 'infra\\kubelet' } }],
    ['a duration without a unit', { poll: '60' }],
    ['a value that does not exist', { repo: 'https://git.example.com/a' }],
    ['a misspelt value in a map', { agent: { kubeletService: 'k3s.service' } }],
    ['a setting that is a value', { settings: { GIT_URL: 'https://git.example.com/a' } }],
    ['a path that is not absolute', { agent: { configFile: 'config.yaml' } }],
    ['a unit without its type', { agent: { service: 'k3s-agent' } }],
    ['a distribution that is not known', { distribution: 'openshift' }],
    ['a data directory that is not absolute', { dataDirectory: 'k3s' }],
    ['other nodes without a label', { otherNodes: [{ name: 'edge', distribution: 'k3s' }] }],
    ['other nodes of no distribution', { otherNodes: [{ name: 'edge', label: { key: 'site', value: 'edge' } }] }],
    ['a forge that is not known', { commitStatuses: { enabled: true, forge: 'sourcehut' } }],
    ['a switch that is no boolean', { drain: { enabled: 'yes' } }],
    ['a digest that is none', { image: { digest: 'sha256:abc' } }],
    ['a receiver of a kind that is not known', receivers({ name: 'a', type: 'teams', urlFile: 'a' })],
    ['a receiver with its address in the open', receivers({ name: 'a', type: 'slack', url: 'https://a.example' })],
    ['none at all at once', { agent: { maxUnavailable: '0%' } }],
  ] as const) {
    it(`refuses ${what}`, () => assert.notEqual(refusal(values), ''));
  }

  it('takes the receivers that the reconciler takes', () => {
    const file = JSON.parse(read('schemas/notification-receivers.json')) as Schema;
    const there = file.properties?.['spec']?.properties?.['receivers']?.items;
    assert.ok(there !== undefined);
    assert.deepEqual(schema.properties?.['notifications']?.properties?.['receivers']?.items, there);
  });

  it('knows the values that there are, and no others', () => {
    const described = (part: Schema, path: string): readonly string[] => {
      const target = part.$ref === undefined ? part : (schema.definitions?.[part.$ref.split('/').at(-1) ?? ''] ?? {});
      const inner = Object.entries(target.properties ?? {});
      if (inner.length === 0 || part.$ref?.endsWith('/resources') === true) return [path];
      return inner.flatMap(([name, value]) => described(value, `${path}.${name}`));
    };
    const present = new Set(described(schema, ''));
    for (const path of present) {
      if (path === '.global') continue;
      const value = path
        .slice(1)
        .split('.')
        .reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], defaults);
      assert.notEqual(value, undefined, `values.yaml has no ${path}`);
    }
  });

  it('takes the example of other nodes, as it stands', () => {
    const [, example = ''] = /((?:^# {3}.*\n)+)otherNodes:/m.exec(read(`${CHART}/values.yaml`)) ?? [];
    const otherNodes = parse(example.replaceAll(/^#/gm, '')) as readonly unknown[];
    assert.equal(otherNodes.length, 1);
    assert.equal(refusal({ ...defaults, otherNodes }), '');
  });

  it('knows the distributions of the table', () => {
    const words = (schema.definitions?.['distribution'] as { readonly enum?: unknown } | undefined)?.enum;
    assert.deepEqual(words, Object.keys(DISTRIBUTIONS));
  });

  it('has a switch for every component', () => {
    for (const component of componentNames()) {
      const value = defaults[valueOf(component)] as { readonly enabled?: unknown } | undefined;
      // Whatever keeps an attacker out is on where the API server knows it.
      assert.equal(
        value?.enabled,
        component === 'admission',
        `values.yaml has no ${valueOf(component)}.enabled for ${component}`,
      );
    }
  });
});

describe('the chart', () => {
  it('has the version of the package and of the kustomization', () => {
    const { version } = JSON.parse(read('package.json')) as { readonly version: string };
    const chart = parse(read(`${CHART}/Chart.yaml`)) as { readonly version: string; readonly appVersion: string };
    const tags = ['deploy/kustomization.yaml', 'deploy/agent/kustomization.yaml'].map((file) => {
      const { images } = parse(read(file)) as { readonly images: readonly { newTag: string }[] };
      return images[0]?.newTag;
    });
    assert.deepEqual([chart.version, chart.appVersion, ...tags], [version, version, version, version]);
  });
});
