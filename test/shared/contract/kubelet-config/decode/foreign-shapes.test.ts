import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeKubeletConfig, decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { judgeStructure } from '#shared/contract/kubelet-config/rules/structure.ts';

const said = (text: string | Uint8Array): readonly string[] =>
  decodeKubeletConfig(Buffer.from(text as string), 'a.yaml').findings.map(
    ({ code, suggestion = '-' }) => `${code}: ${suggestion}`,
  );
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const DECRYPT = /^wrong-kind: commit it decrypted: /;
const CONFLICT = /^(?:yaml|json)-syntax: a merge conflict is left in the file: resolve it$/;

describe('a file that only has a KubeletConfiguration in it is told from where to take that', () => {
  const rows: readonly (readonly [string, string, RegExp])[] = [
    [
      'OpenShift',
      'apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nspec:\n  kubeletConfig: {maxPods: 5}\n',
      /what is in spec\.kubeletConfig: /,
    ],
    [
      'Talos',
      'version: v1alpha1\nmachine:\n  kubelet:\n    extraConfig: {maxPods: 5}\n',
      /what is in machine\.kubelet\.extraConfig: /,
    ],
    [
      'EKS',
      'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 5}}}\n',
      /what is in spec\.kubelet\.config: /,
    ],
    [
      'kops',
      'apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec: {kubelet: {maxPods: 5}}\n',
      /what is in spec\.kubelet: /,
    ],
    [
      'Gardener',
      'kind: Shoot\nspec: {kubernetes: {kubelet: {maxPods: 5}}}\n',
      /what is in spec\.kubernetes\.kubelet: /,
    ],
    ['GKE', 'kubeletConfig: {cpuManagerPolicy: static}\n', /what is in kubeletConfig: /],
    ['k3s', 'write-kubeconfig-mode: "0644"\nkubelet-arg: [max-pods=5]\n', /kubelet-arg: write the fields/],
    ['a drop-in of k3s', 'kubelet-arg+: [max-pods=5]\n', /kubelet-arg: write the fields/],
    [
      'kubeadm',
      'apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n',
      /the document of the kind KubeletConfiguration/,
    ],
    ['a ConfigMap', 'kind: ConfigMap\ndata: {kubelet: "kind: KubeletConfiguration"}\n', /text in data\.kubelet: /],
    ['anything else', 'kind: Deployment\nspec: {kubelet: 5}\n', /write apiVersion: /],
  ];
  for (const [name, text, expected] of rows) {
    it(name, () => {
      const [first = '', ...rest] = said(text);
      assert.match(first, /^wrong-kind: /);
      assert.match(first, expected);
      assert.deepEqual(rest, []);
    });
  }
});

describe('an encrypted file is said to be one, and nothing else', () => {
  const rows: readonly (readonly [string, string | Uint8Array])[] = [
    ['by ansible-vault', '$ANSIBLE_VAULT;1.1;AES256\n336362\n'],
    ['by git-crypt', Buffer.from('\0GITCRYPT\0\x12\x9f\xffabc', 'latin1')],
    ['by OpenPGP', '-----BEGIN PGP MESSAGE-----\n\nabc\n'],
    ['by age', 'age-encryption.org/v1\n-> X25519 abc\n'],
    ['by age as text', '-----BEGIN AGE ENCRYPTED FILE-----\nabc\n'],
    ['by sops', 'kind: ENC[AES256_GCM,data:a]\nmaxPods: ENC[AES256_GCM,data:a]\nsops: {mac: x, version: 3.9.0}\n'],
    ['by sops, some values', `${HEAD}maxPods: ENC[AES256_GCM,data:a]\nsops: {lastmodified: x}\n`],
    ['by sops in JSON', '{"maxPods": "ENC[a]", "sops": {"mac": "x"}}'],
  ];
  for (const [name, text] of rows) {
    it(name, () => {
      const [first = '', ...rest] = said(text);
      assert.match(first, DECRYPT);
      assert.deepEqual(rest, []);
      // Files of our own kinds as well.
      assert.equal(decodeYaml(Buffer.from(text as string)).value, undefined);
    });
  }

  it('where a value is, by its tag', () => {
    assert.deepEqual(said(`${HEAD}providerID: !vault |\n  $ANSIBLE_VAULT;1.1\n`), [
      'yaml-tag: ansible-vault encrypted the value: write it decrypted',
    ]);
  });
});

describe('a merge conflict is named, wherever the parser stumbles over it', () => {
  const conflict = (indent: string, ours: string, theirs: string): string =>
    `<<<<<<< HEAD\n${indent}${ours}\n=======\n${indent}${theirs}\n>>>>>>> topic\n`;
  const rows: readonly (readonly [string, string])[] = [
    ['at the start', conflict('', 'kind: a', 'kind: b')],
    ['between keys', HEAD + conflict('', 'maxPods: 5', 'maxPods: 6')],
    ['in a map', `${HEAD}evictionHard:\n${conflict('  ', 'memory.available: 5%', 'memory.available: 6%')}`],
    ['in a list', `${HEAD}clusterDNS:\n${conflict('- ', '1.1.1.1', '1.1.1.2')}`],
    ['in a text of several lines', `${HEAD}clusterDomain:\n  a\n${conflict('  ', 'b', 'c')}`],
    ['in JSON', `{"kind": "a",\n${conflict('', '"maxPods": 5', '"maxPods": 6')}}`],
  ];
  for (const [name, text] of rows) it(name, () => assert.match(said(text)[0] ?? '', CONFLICT));

  it('and a row of signs alone is none', () => {
    assert.doesNotMatch(said(`${HEAD}=======\n`)[0] ?? '', /conflict/);
  });
});

describe('a key that lost its indentation is told where it belongs', () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['nodefs.available', /evictionHard or evictionSoft/],
    ['containerfs.inodesFree', /evictionHard or evictionSoft/],
    ['memory', /kubeReserved or systemReserved/],
    ['hugepages-2Mi', /kubeReserved or systemReserved/],
    ['MemoryQoS', /featureGates/],
    ['webhook', /authentication/],
  ];
  for (const [key, expected] of rows) {
    it(key, () => assert.match(judgeStructure({ [key]: 'x' }, 34)[0]?.suggestion ?? '', expected));
  }
});
