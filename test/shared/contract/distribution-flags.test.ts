import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { passedFlags } from '#shared/contract/distribution-flags.ts';
import { type DistributionName, DISTRIBUTIONS } from '#shared/contract/distributions.ts';

const fieldsOf = (name: DistributionName, version: string): readonly string[] =>
  passedFlags(name, version).map(({ field, value }) => (value === undefined ? field : `${field}=${value}`));

const RKE2 = ['volumePluginDir=/var/lib/kubelet/volumeplugins', 'fileCheckFrequency=5s', 'syncFrequency=30s'];

describe('the flags that a distribution passes', () => {
  const rows: readonly (readonly [DistributionName, string, readonly string[]])[] = [
    ['k3s', 'v1.32.3+k3s1', []],
    ['k3s', 'v1.32.4+k3s1', ['readOnlyPort=0']],
    ['k3s', 'v1.33.0+k3s1', ['readOnlyPort=0']],
    // Its newest patch.
    ['k3s', '1.32', ['readOnlyPort=0']],
    ['k3s', '1.31', []],
    ['rke2', 'v1.20.6+rke2r1', []],
    ['rke2', 'v1.28.3+rke2r1', RKE2],
    ['rke2', 'v1.34.1+rke2r1', [...RKE2, 'readOnlyPort=0']],
    ['gardener', '1.34', ['logging.verbosity=2', 'containerRuntimeEndpoint=unix:///run/containerd/containerd.sock']],
    ['kops', 'v1.36.0', ['logging.verbosity', 'runtimeRequestTimeout']],
    ['kubespray', 'v1.31.1', ['logging.verbosity']],
    ['kubespray', 'v1.30.9', ['logging.verbosity', 'containerRuntimeEndpoint']],
    ['eks', 'v1.34.1-eks-c39b1d0', []],
    [
      'gke',
      'v1.30.5-gke.1355000',
      [
        'logging.verbosity=2',
        'maxPods',
        'volumePluginDir=/home/kubernetes/flexvolume',
        'nodeStatusMaxImages=25',
        'registryPullQPS=10',
        'registryBurst=20',
        'containerRuntimeEndpoint=unix:///run/containerd/containerd.sock',
        'cgroupDriver',
      ],
    ],
    [
      'aks',
      'v1.36.1',
      [
        'enableServer=true',
        'logging.verbosity=2',
        'volumePluginDir=/etc/kubernetes/volumeplugins',
        'runtimeRequestTimeout=15m',
        'containerRuntimeEndpoint=unix:///run/containerd/containerd.sock',
      ],
    ],
    // Of a version that cannot be read, what holds for some versions alone is not said.
    ['k3s', '', []],
    ['k0s', '', ['logging.verbosity']],
  ];
  for (const [name, version, expected] of rows) {
    it(`${name} ${version}: ${expected.join(' ')}`, () => assert.deepEqual(fieldsOf(name, version), expected));
  }

  it('are said to be sometimes passed where a setting or another release of the distribution leaves them out', () => {
    const sometimes = passedFlags('kops', 'v1.35.2').filter((flag) => flag.sometimes !== undefined);
    assert.deepEqual(
      [sometimes.length, sometimes.every((flag) => flag.sometimes === 'kOps up to 1.35 passes it')],
      [15, true],
    );
    assert.equal(passedFlags('microk8s', '1.34').length, 10);
    const [thresholds] = passedFlags('microk8s', '1.34').filter(({ field }) => field === 'evictionHard');
    assert.equal(thresholds?.value, 'memory.available<100Mi,nodefs.available<1Gi,imagefs.available<1Gi');
  });

  it('weigh nothing in the programs of the cluster', () => {
    const files = globSync('{agent,reconciler,shared}/**/*.ts');
    assert.ok(files.length > 500, String(files.length));
    assert.deepEqual(
      files.filter((file) => /from '.*distribution-flags\.ts'/.test(readFileSync(file, 'utf8'))),
      [],
    );
  });

  it('are all of fields, none twice', () => {
    for (const name of Object.keys(DISTRIBUTIONS) as readonly DistributionName[]) {
      for (const version of ['1.28', '1.32', '1.37']) {
        const passed = passedFlags(name, version);
        assert.equal(new Set(passed.map(({ field }) => field)).size, passed.length, `${name} ${version}`);
      }
    }
  });
});
