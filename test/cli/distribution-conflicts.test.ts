import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DISTRIBUTION_NAMES, flagConflicts, whyUnread } from '#cli/distribution-conflicts.ts';
import { passedFlags } from '#shared/contract/distribution-flags.ts';
import type { DistributionName } from '#shared/contract/distributions.ts';
import { defaultOf, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { args, found } from '../agent/preflight/support/on-host.ts';
import { fc } from '../support/property.ts';

type Config = Readonly<Record<string, unknown>>;

const said = (name: DistributionName, version: string, config: Config, running?: Config): readonly string[] =>
  flagConflicts(name, version, config, running).map(({ isCertain, message }) => `${isCertain ? '!' : '?'} ${message}`);

describe('a config on a distribution whose flags win', () => {
  it('is told which of its fields have no effect there, and who passes the flag', () => {
    const config = { syncFrequency: '10s', maxPods: 50, readOnlyPort: 10_255, fileCheckFrequency: '5000ms' };
    assert.deepEqual(said('rke2', '1.34', config), [
      '! --sync-frequency=30s wins over syncFrequency: "10s", and RKE2 always passes it',
      '! --read-only-port=0 wins over readOnlyPort: 10255, and RKE2 always passes it',
    ]);
    assert.deepEqual(said('k3s', 'v1.32.3+k3s1', config), []);
    assert.deepEqual(said('gke', '1.32', { registryPullQPS: 5 }), [
      '! --registry-qps=10 wins over registryPullQPS: 5, and GKE always passes it',
    ]);
    assert.deepEqual(said('microk8s', '1.34', { failSwapOn: true, serializeImagePulls: false }), [
      "? --fail-swap-on=false wins over failSwapOn: true, and it is among MicroK8s' default arguments",
    ]);
    assert.deepEqual(said('k0s', '1.34', { logging: { verbosity: 3 } }), [
      '? --v, if it says otherwise, wins over logging.verbosity: 3, and k0s always passes it',
    ]);
    assert.deepEqual(said('rke2', '1.34', { syncFrequency: null }), []);
  });

  it('is compared with what a kubelet runs, where that is known', () => {
    const running = { syncFrequency: '20s', logging: { verbosity: 5 }, readOnlyPort: 0 };
    assert.deepEqual(said('rke2', 'v1.34.1+rke2r1', { syncFrequency: '20s', readOnlyPort: 0 }, running), []);
    assert.deepEqual(said('k0s', 'v1.34.1+k0s', { logging: { verbosity: 5 } }, running), []);
    assert.deepEqual(said('k0s', 'v1.34.1+k0s', { logging: { verbosity: 3 } }, running), [
      '! --v wins over logging.verbosity: 3, and k0s always passes it',
    ]);
  });

  it('is told where else to set it', () => {
    const adviceOf = (name: DistributionName) =>
      flagConflicts(name, '1.34', { logging: { verbosity: 9 }, syncFrequency: '1s' })[0]?.suggestion;
    assert.equal(
      adviceOf('rke2'),
      'take the field out of the config; kubelet-arg in /etc/rancher/rke2/config.yaml can set it',
    );
    assert.equal(adviceOf('gke'), 'take the field out of the config: nobody can change it there');
  });

  it('has the conflicts that the preflight of an agent finds with these flags on the command line', () => {
    const withValues = (name: DistributionName) => passedFlags(name, '1.34').filter(({ value }) => value !== undefined);
    const names = DISTRIBUTION_NAMES.filter((name) => withValues(name).length > 0);
    fc.assert(
      fc.property(
        fc.constantFrom(...names).chain((name) => {
          const values = withValues(name).map(({ field, value = '' }) =>
            fc.constantFrom<unknown>(
              undefined,
              asWritten(field, value),
              defaultOf(requiredField(field), 34),
              7,
              '7s',
              true,
            ),
          );
          return fc.tuple(fc.constant(name), fc.tuple(...values));
        }),
        ([name, values]) => {
          const flags = withValues(name);
          const config = flags.reduce<Config>((whole, { field }, index) => {
            const value = values[index];
            const [first = '', second] = field.split('.');
            if (value === undefined) return whole;
            const inner = second === undefined ? value : { ...(whole[first] as object | undefined), [second]: value };
            return { ...whole, [first]: inner };
          }, {});
          const expected = found(config, args(...flags.map(({ flag }) => flag)))
            .filter((finding) => finding.startsWith('error flag-shadows '))
            .map((finding) => finding.split(' ')[2]);
          assert.deepEqual(
            flagConflicts(name, '1.34', config).map(({ field }) => field),
            expected,
          );
        },
      ),
    );
  });
});

const requiredField = (path: string) => FIELDS.get(path) ?? assert.fail(path);

/** A flag's text as a file has it. */
function asWritten(field: string, text: string): unknown {
  const kind = requiredField(field).kind;
  if (kind === 'bool') return text === 'true';
  if (kind === 'quantity-map' || kind === 'string-map')
    return Object.fromEntries(text.split(',').map((pair) => pair.split(/[<=]/)));
  if (kind.endsWith('-list')) return text.split(',');
  return /^\d+$/.test(text) ? Number(text) : text;
}

describe('a distribution without a kubelet config file', () => {
  const rows: readonly (readonly [DistributionName, string, 'overlay' | 'replace', string | undefined])[] = [
    ['k3s', 'v1.31.9+k3s1', 'overlay', 'upgrade these nodes to 1.32'],
    ['rke2', '1.31', 'replace', 'upgrade these nodes to 1.32'],
    ['microk8s', '1.34', 'replace', 'use apply: overlay'],
    ['k3s', 'v1.32.0+k3s1', 'overlay', undefined],
    ['k3s', '', 'replace', undefined],
    ['k0s', '1.30', 'replace', undefined],
    ['kubeadm', '1.20', 'overlay', undefined],
  ];
  for (const [name, version, apply, expected] of rows) {
    it(`${name} ${version} with apply: ${apply}: ${expected ?? 'reads it'}`, () => {
      assert.equal(whyUnread(name, version, apply)?.suggestion, expected);
    });
  }
});
