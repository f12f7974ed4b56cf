import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { it } from 'node:test';
import { type Distribution, DISTRIBUTIONS } from '#shared/contract/distributions.ts';
import { readAgentSettings } from '#agent/settings.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { type Manifest, renderChart, renderKustomization, REQUIRED_VALUES, WITHOUT_RENDERERS } from './chart/render.ts';

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly mountPropagation?: string;
}
interface DaemonSet {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          {
            readonly env: readonly { readonly name: string; readonly value?: string }[];
            readonly volumeMounts: readonly Mount[];
          },
        ];
        readonly volumes: readonly {
          readonly name: string;
          readonly hostPath: { readonly path: string; readonly type: string };
        }[];
      };
    };
  };
}

const setsIn = (manifests: readonly Manifest[]): readonly DaemonSet[] =>
  manifests.filter(({ kind }) => kind === 'DaemonSet') as unknown as readonly DaemonSet[];

const envOf = ({ spec }: DaemonSet): Readonly<Record<string, string>> =>
  Object.fromEntries(
    spec.template.spec.containers[0].env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  );
const isBelow = (path: string, directory: string): boolean => `${path}/`.startsWith(`${directory}/`);

/** What the agent is told, and nothing that it would assume without. */
function assertTold(set: DaemonSet, distribution: Distribution, unit: string): void {
  const told = Object.entries(envOf(set)).filter(([name]) => name.startsWith('KUBELET_'));
  const wanted = {
    KUBELET_CONFIG_FILE: distribution.configFile,
    KUBELET_CONFIG_DIR: distribution.configDirectory,
    KUBELET_ROOT_DIR: distribution.rootDirectory,
    KUBELET_SERVICE: unit === 'kubelet.service' ? undefined : unit,
    KUBELET_SERVING_CERTS: distribution.servingCertificate,
    KUBELET_LOG_FILE: distribution.logFile,
  };
  const present = Object.entries(wanted).filter(([, value]) => value !== undefined);
  assert.deepEqual(Object.fromEntries(told), Object.fromEntries(present), set.metadata.name);
}

/** The agent may write where it has to, and sees all paths as the host has them. */
function assertMounted(set: DaemonSet, distribution: Distribution, unit: string): void {
  const { containers, volumes } = set.spec.template.spec;
  const mounts = containers[0].volumeMounts;
  const settings = readAgentSettings({ ...envOf(set), NODE_NAME: 'a', METRICS_HOST: '127.0.0.1' });
  assert.ok(settings.guard.guard === 'on' && settings.guard.unitDirectory === undefined);
  const guard = `/etc/systemd/system/${unit}.d`;
  const { configFile, configDirectory, rootDirectory = '/var/lib/kubelet' } = distribution;
  const written = configDirectory ?? dirname(configFile ?? '');
  const writable = mounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
  for (const place of [guard, settings.stateDirectory, written, rootDirectory]) {
    const above = writable.filter((mount) => isBelow(place, mount));
    assert.equal(above.length, 1, `${place} is not below one of ${writable.join(', ')}`);
  }
  const seen = mounts.filter(({ mountPath }) => mountPath !== '/host').map(({ mountPath }) => mountPath);
  assert.ok(configFile === undefined || seen.some((mount) => isBelow(configFile, mount)), `${configFile} is not seen`);
  const root = mounts.find(({ mountPath }) => mountPath === rootDirectory);
  assert.equal(root?.mountPropagation, 'HostToContainer');
  // systemd and the guard are told of the agent's paths, so the host has to have them as well.
  for (const { name, mountPath } of mounts) {
    const volume = volumes.find((each) => each.name === name);
    assert.equal(volume?.hostPath.path, name === 'host' ? '/' : mountPath);
    // A pod that waits for a directory tells nobody which; the agent does.
    assert.equal(volume?.hostPath.type, name === 'host' ? 'Directory' : 'DirectoryOrCreate', name);
  }
  assert.deepEqual(volumes.map(({ name }) => name).toSorted(), mounts.map(({ name }) => name).toSorted());
}

function assertFits(sets: readonly DaemonSet[], distribution: Distribution): void {
  const { unit, serverUnit } = distribution;
  const servers = serverUnit === undefined ? {} : { 'kubelet-gitops-agent-servers': serverUnit };
  const units = Object.entries({ 'kubelet-gitops-agent': unit, ...servers });
  assert.deepEqual(sets.map(({ metadata }) => metadata.name).toSorted(), units.map(([name]) => name).toSorted());
  for (const [name, its] of units) {
    const set = sets.find(({ metadata }) => metadata.name === name);
    assert.ok(set !== undefined);
    assertTold(set, distribution, its);
    assertMounted(set, distribution, its);
  }
}

const chart = (values: object): readonly DaemonSet[] => setsIn(renderChart({ ...REQUIRED_VALUES, ...values }));

describeOrSkip('what is installed for a distribution is what the table says:', { skip: WITHOUT_RENDERERS }, () => {
  for (const [name, distribution] of Object.entries(DISTRIBUTIONS) as readonly (readonly [string, Distribution])[]) {
    it(`${name}, by the chart`, () => assertFits(chart({ distribution: name }), distribution));

    it(`${name}, by its component`, () => {
      const components = name === 'kubeadm' ? [] : [`../deploy/components/${name}`];
      assertFits(setsIn(renderKustomization({ components })), distribution);
    });

    const { dataDirectory } = distribution;
    if (dataDirectory === undefined) continue;
    it(`${name} with another data directory`, () => {
      const moved = JSON.stringify(distribution).replaceAll(`${dataDirectory}/`, '/data/of/it/');
      const sets = chart({ distribution: name, dataDirectory: '/data/of/it' });
      assertFits(sets, JSON.parse(moved) as Distribution);
      assert.ok(!JSON.stringify(sets).includes(dataDirectory));
    });
  }

  it('and on GKE the quota without which no agent is made there', () => {
    const components = ['../deploy/components/gke'];
    const kinds = (made: readonly Manifest[]): readonly string[] => made.map(({ kind }) => kind);
    assert.ok(kinds(renderChart({ ...REQUIRED_VALUES, distribution: 'gke' })).includes('ResourceQuota'));
    assert.ok(kinds(renderKustomization({ components })).includes('ResourceQuota'));
    assert.ok(!kinds(renderChart(REQUIRED_VALUES)).includes('ResourceQuota'));
  });

  it('and the values of the agent come before it', () => {
    const own = {
      configFile: '/own/config/kubelet.yaml',
      rootDirectory: '/own/root',
      logFile: '/own/log',
      service: 'k3s-a.service',
    };
    const { configFile, rootDirectory, logFile } = own;
    const sets = chart({ distribution: 'k3s', agent: { ...own, serverService: 'k3s-s.service' } });
    const units = { unit: 'k3s-a.service', serverUnit: 'k3s-s.service' };
    assertFits(sets, { ...DISTRIBUTIONS.k3s, configFile, rootDirectory, logFile, ...units });
  });

  it('and a config file that is written anew at each start is read only where there are drop-ins', () => {
    const isReadOnly = (values: object): boolean | undefined =>
      chart(values)[0]?.spec.template.spec.containers[0].volumeMounts.find(({ name }) => name === 'kubelet-config')
        ?.readOnly;
    assert.equal(isReadOnly({ distribution: 'k0s' }), true);
    assert.equal(isReadOnly({ agent: { configFile: '/run/own/kubelet.yaml' } }), undefined);
    assert.equal(isReadOnly({ distribution: 'kubespray' }), undefined);
  });
});
