import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../../support/property.ts';
import { CANONICAL_FORM, canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';

const render = (text: string): string => canonicalize(decodeKubeletConfig(Buffer.from(text)).value ?? {});

const GOLDEN = `{
  "apiVersion": "kubelet.config.k8s.io/v1beta1",
  "clusterDNS": [
    "10.96.0.10"
  ],
  "evictionHard": {},
  "featureGates": {
    "NodeSwap": true
  },
  "kind": "KubeletConfiguration",
  "maxPods": 110,
  "memoryThrottlingFactor": 0.8,
  "podPidsLimit": 9223372036854775807,
  "registerWithTaints": [
    {
      "effect": "NoSchedule",
      "key": "a"
    }
  ],
  "reservedMemory": [],
  "staticPodPath": null
}
`;

const YAML = `# a comment
kind: KubeletConfiguration
apiVersion: kubelet.config.k8s.io/v1beta1
podPidsLimit: 9223372036854775807
maxPods: 110   # another
memoryThrottlingFactor: .80
registerWithTaints:
  - {key: a, effect: NoSchedule}
featureGates: {NodeSwap: true}
clusterDNS: ["10.96.0.10"]
evictionHard: {}
reservedMemory: []
staticPodPath: ~
`;

describe('the canonical form', () => {
  it(`number ${CANONICAL_FORM} is these bytes`, () => assert.equal(render(YAML), GOLDEN));
  it('is its own canonical form', () => assert.equal(render(GOLDEN), GOLDEN));
  it('has apiVersion and kind, whatever it was given', () => {
    assert.equal(canonicalize({ kind: 'x' }), canonicalize({}));
    assert.match(canonicalize({}), /"kind": "KubeletConfiguration"/);
  });
  it('writes whole numbers without an exponent', () =>
    assert.match(canonicalize({ a: 1e21, b: -0 }), /1000000000000000000000,\n {2}"apiVersion".*"b": 0/s));
  it('orders keys by code point, not by UTF-16 unit', () => {
    const keys = Object.keys(JSON.parse(canonicalize({ '\u{1F600}': 1, '\uFF5E': 1, a: 1, B: 1 })) as object);
    assert.deepEqual(keys, ['B', 'a', 'apiVersion', 'kind', '\uFF5E', '\u{1F600}']);
  });
  it('refuses what JSON has not', () => {
    for (const value of [Number.NaN, Infinity, [undefined], () => 1])
      assert.throws(() => canonicalize({ a: value }), TypeError);
  });

  const json = fc.jsonValue({ noUnicodeString: false }).filter((value) => !Object.is(value, -0));
  const config = fc.dictionary(fc.string({ unit: 'binary-ascii' }), json);

  it('says what it was given', () => {
    forAll(config, (value) => {
      const { apiVersion: _version, kind: _kind, ...expected } = value;
      const { apiVersion, kind, ...rest } = JSON.parse(canonicalize(value)) as Record<string, unknown>;
      assert.deepEqual([apiVersion, kind], ['kubelet.config.k8s.io/v1beta1', 'KubeletConfiguration']);
      assert.deepEqual(JSON.parse(JSON.stringify(rest)), JSON.parse(JSON.stringify(expected)));
    });
  });

  it('does not depend on the order of keys', () => {
    forAll(config, (value) => {
      const turned = Object.fromEntries(Object.entries(value).toReversed());
      assert.equal(canonicalize(turned), canonicalize(value));
    });
  });
});
