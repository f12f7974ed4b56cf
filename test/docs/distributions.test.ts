import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { readAgentSettings } from '#agent/settings.ts';
import { REQUIRED_VALUES } from '../deploy/chart/options.ts';
import { renderChart, WITHOUT_RENDERERS } from '../deploy/chart/render.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { fencedBlocks } from '../support/fenced-blocks.ts';

interface DaemonSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          {
            readonly env: readonly { readonly name: string; readonly value?: string }[];
            readonly volumeMounts: readonly {
              readonly name: string;
              readonly mountPath: string;
              readonly readOnly?: boolean;
            }[];
          },
        ];
        readonly volumes: readonly { readonly name: string; readonly hostPath: { readonly path: string } }[];
      };
    };
  };
}

const isBelow = (path: string, directory: string): boolean => `${path}/`.startsWith(`${directory}/`);

describeOrSkip('the settings for distributions', { skip: WITHOUT_RENDERERS }, () => {
  const blocks = fencedBlocks('docs/distributions.md', 'yaml').filter((text) => text.startsWith('# values for '));

  it('are there for those that need any', () => {
    const names = blocks.map((text) => /^# values for (.*)/.exec(text)?.[1]);
    assert.deepEqual(names, ['k3s', 'RKE2', 'EKS', 'GKE']);
  });

  for (const text of blocks) {
    it(`${text.split('\n')[0]}: are taken by the agent, which may write wherever they point`, () => {
      const values = parse(text) as object;
      const sets = renderChart({ ...REQUIRED_VALUES, ...values }).filter(({ kind }) => kind === 'DaemonSet');
      assert.ok(sets.length > 0);
      for (const set of sets as unknown as readonly DaemonSet[]) assertWritable(set);
    });
  }
});

function assertWritable(daemonSet: DaemonSet): void {
  const { containers, volumes } = daemonSet.spec.template.spec;
  const [{ env, volumeMounts }] = containers;
  const settings = readAgentSettings({
    NODE_NAME: 'a',
    ...Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
    METRICS_HOST: '127.0.0.1',
  });
  const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
  assert.ok(settings.guard.guard === 'on' && settings.service.manager === 'systemd');
  const { unit } = settings.service;
  const places = [
    `/etc/systemd/system/${unit ?? 'kubelet.service'}.d`,
    settings.layout.configDirectory ?? dirname(settings.layout.configFile ?? ''),
  ];
  for (const place of places) {
    assert.ok(
      writable.some((mount) => isBelow(place, mount)),
      `${place} is not below ${writable.join(', ')}`,
    );
  }
  // systemd and the guard are told of the agent's paths, so the host has to have them as well.
  for (const { name, mountPath } of volumeMounts) {
    const path = volumes.find((volume) => volume.name === name)?.hostPath.path;
    assert.equal(path, name === 'host' ? '/' : mountPath);
  }
  const certificate = settings.kubeletServingCerts;
  if (certificate !== undefined) assert.ok(isBelow(certificate, '/host'), certificate);
}
