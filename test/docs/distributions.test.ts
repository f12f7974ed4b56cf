import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { DISTRIBUTIONS } from '#shared/contract/distributions.ts';
import {
  type Manifest,
  renderChart,
  renderKustomization,
  REQUIRED_VALUES,
  WITHOUT_RENDERERS,
} from '../deploy/chart/render.ts';
import { assertSameObjects } from '../deploy/chart/same-objects.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { fencedBlocks } from '../support/fenced-blocks.ts';

const daemonSets = (manifests: readonly Manifest[]): readonly Manifest[] =>
  manifests.filter(({ kind }) => kind === 'DaemonSet');
const chart = (values: object): readonly Manifest[] => daemonSets(renderChart({ ...REQUIRED_VALUES, ...values }));

describe('the page about distributions', () => {
  it('says of each value what works and what others decide there', () => {
    const [works = '', decided = ''] = readFileSync('docs/distributions.md', 'utf8')
      .split('## What others decide there')
      .map((part) => part.split('## k3s and RKE2')[0]);
    const rows = [...works.matchAll(/^\| `([a-z0-9]+)`/gm)].map(([, name = '']) => name);
    assert.deepEqual(
      rows.toSorted(),
      Object.keys(DISTRIBUTIONS)
        .filter((name) => name !== 'kubeadm')
        .toSorted(),
    );
    const titles = Object.values(DISTRIBUTIONS).map(({ title }) => title.split(',')[0] ?? '');
    assert.deepEqual(
      titles.filter((title) => !decided.includes(`\n| ${title}`)),
      [],
    );
  });
});

describeOrSkip('the patches for kubelets that have their files elsewhere', { skip: WITHOUT_RENDERERS }, () => {
  for (const [first, component, values] of [
    ['# RKE2 with data-dir: /data/rke2', 'rke2', { dataDirectory: '/data/rke2' }],
    ['# k3s-edge.service in place of k3s.service', 'k3s', { agent: { serverService: 'k3s-edge.service' } }],
  ] as const) {
    it(`${first} makes what the chart makes of its values`, () => {
      const [text = ''] = fencedBlocks('docs/install.md', 'yaml').filter((block) => block.startsWith(first));
      const { patches } = parse(text) as { readonly patches: readonly object[] };
      const components = [`../deploy/components/${component}`];
      assertSameObjects(
        chart({ distribution: component, ...values }),
        daemonSets(renderKustomization({ components, patches })),
      );
    });
  }
});
