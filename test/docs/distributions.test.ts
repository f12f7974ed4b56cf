import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parse } from 'yaml';
import { type DistributionName, DISTRIBUTIONS } from '#shared/contract/distributions.ts';
import { REQUIRED_VALUES } from '../deploy/chart/options.ts';
import { type Manifest, renderChart, renderKustomization, WITHOUT_RENDERERS } from '../deploy/chart/render.ts';
import { assertSameObjects } from '../deploy/chart/same-objects.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { fencedBlocks } from '../support/fenced-blocks.ts';

const daemonSets = (manifests: readonly Manifest[]): readonly Manifest[] =>
  manifests.filter(({ kind }) => kind === 'DaemonSet');
const chart = (values: object): readonly Manifest[] => daemonSets(renderChart({ ...REQUIRED_VALUES, ...values }));

describeOrSkip('the values for distributions', { skip: WITHOUT_RENDERERS }, () => {
  const blocks = fencedBlocks('docs/distributions.md', 'yaml').filter((text) => text.startsWith('# values for '));

  it('are there', () => assert.ok(blocks.length >= 4));

  for (const text of blocks) {
    const title = /^# values for (.*)/.exec(text)?.[1] ?? '';
    it(`are those of ${title}, and the chart takes them`, () => {
      const values = parse(text) as { readonly distribution: DistributionName };
      assert.equal(DISTRIBUTIONS[values.distribution].title.split(',')[0], title);
      assert.ok(chart(values).length > 0);
    });
  }
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
