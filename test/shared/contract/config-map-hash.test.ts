import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { V1ConfigMap } from '@kubernetes/client-node';
import { appendHash, configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';

/** Names that kubectl v1.32 gave for the same content (`kubectl create configmap … --append-hash --dry-run=client`). */
const kubectlNames = [
  ['plain text', 'x', 'hello', 'x-bm4td8hm99'],
  ['an empty payload', 'x', '', 'x-9dk65kdhm7'],
  [
    'a YAML payload',
    'pool-workers',
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 110\n',
    'pool-workers-4h4b22dddb',
  ],
  [
    'characters that Go escapes in JSON',
    'my-node-config',
    'kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nmaxPods: 110\nevictionHard:\n  memory.available: "<100Mi & >5%"\n',
    'my-node-config-fmkmg2fgd7',
  ],
] as const;

/** Suffixes from kubectl's own unit tests, where the name is empty. */
const suffixes = [
  ['no data at all', { name: '', data: null }, 'dk855m5d49'],
  ['an empty map', { name: '', data: {} }, '42745tchd9'],
  ['one empty value', { name: '', data: { one: '' } }, '9g67k2htb6'],
  ['keys in any order', { name: '', data: { two: '2', one: '', three: '3' } }, 'f5h7t85m9b'],
  ['one binary key', { name: '', data: null, binaryData: { one: '' } }, 'mk79584b8c'],
  [
    'binary keys in any order',
    { name: '', data: null, binaryData: { two: 'Mg==', one: '', three: 'Mw==' } },
    't458mc6db2',
  ],
  ['binary data beside text', { name: '', data: { one: '' }, binaryData: { two: '' } }, '698h7c7t9m'],
  ['characters beyond ASCII', { name: 'u', data: { k: 'héllo \u2028 😀 tab\there' } }, '29g24k2f79'],
] as const;

describe('the name of a config source', () => {
  for (const [what, pool, payload, name] of kubectlNames) {
    it(`is kubectl's for ${what}`, () => assert.equal(configMapName(pool, payload), name));
  }

  for (const [what, configMap, suffix] of suffixes) {
    it(`has kubectl's suffix for ${what}`, () => assert.equal(appendHash(configMap), suffix));
  }

  it('covers every part that a ConfigMap has', () => {
    const parts = V1ConfigMap.getAttributeTypeMap().map(({ name }) => name);
    // Hashed: binaryData, data, kind, and the name of metadata. kubectl hashes `immutable` where it is set, which it
    // cannot set itself.
    assert.deepEqual(parts.sort(), ['apiVersion', 'binaryData', 'data', 'immutable', 'kind', 'metadata']);
  });

  it('can be checked by anybody with kubectl', (t) => {
    const payload = '{\n  "kind": "KubeletConfiguration",\n  "maxPods": 42\n}\n';
    let printed: string;
    try {
      const argv = ['create', 'configmap', 'general', '--append-hash', '--dry-run=client', '-o', 'name'];
      printed = execFileSync('kubectl', [...argv, `--from-literal=kubelet=${payload}`], { encoding: 'utf8' });
    } catch (error) {
      return t.skip(`kubectl cannot be run here: ${String(error)}`);
    }
    assert.equal(printed.trim(), `configmap/${configMapName('general', payload)}`);
  });
});

describe('the SHA-256 of a payload', () => {
  it('is that of its UTF-8 bytes', () => {
    assert.equal(payloadSha256('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    assert.notEqual(payloadSha256('é'), payloadSha256('e\u0301'));
  });
});
