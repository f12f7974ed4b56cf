import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validateConfigFile } from '#cli/validate/validate-file.ts';
import { column } from '../../../../support/columns.ts';

const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** What is written, and what every finding of 1.36 tells to write instead. `@` stands for the two type fields. */
const ROWS: readonly (readonly [title: string, text: string, ...advice: (string | undefined)[]])[] = [
  ['the number as seconds', '@syncFrequency: 60\n', 'write it as "60s"'],
  ['seconds for a bare grace period', '@evictionSoftGracePeriod: {nodefs.available: 90}\n', 'write "90s"'],
  ['a map for the syntax of flags', '@kubeReserved: cpu=100m,pid=5\n', 'write {cpu: "100m", pid: "5"}'],
  ['a map for the syntax of thresholds', '@evictionHard: memory.available<5%\n', 'write {memory.available: "5%"}'],
  ['a map of gates for a list of them', '@featureGates: [NodeSwap=true]\n', 'write {NodeSwap: true}'],
  ['nothing where the text is no map', '@featureGates: all\n', undefined],
  ['a list for what commas divide', '@clusterDNS: 10.0.0.10, 10.0.0.11\n', 'write ["10.0.0.10", "10.0.0.11"]'],
  ['no list of texts for structs', '@logging: {vmodule: a=2}\n', undefined],
  ['a switch in its struct', '@authentication: {anonymous: false}\n', 'write {enabled: false}'],
  ['quotes for a version', '@showHiddenMetricsForVersion: 1.30\n', 'put it in quotes as it stands'],
  ['true for 1', '@failSwapOn: 1\n', 'write true'],
  [
    'to wait for what is announced',
    '@clientCertificateKeyAlgorithm: RSA-2048\n',
    'kubelet 1.38 is to have it: wait for a release of ours that knows it',
  ],
  [
    'what a bare threshold may mean',
    '@evictionHard: {nodefs.available: 10}\n',
    'write "10%", or "100Mi" for an amount',
  ],
  ['the end of a signal', '@evictionHard: {memory.avail: 5%}\n', 'did you mean memory.available?'],
  ['a percentage without its space', '@evictionHard: {memory.available: 5 %}\n', 'write "5%"'],
  ['a list of CPUs without its spaces', '@reservedSystemCPUs: 0-3, 5\n', 'write "0-3,5"'],
  ['the field of a flag', '@event-qps: 5\n', 'the flag --event-qps is the field eventRecordQPS'],
  ['that a flag has no field', '@hostnameOverride: a\n', 'it is a flag, --hostname-override, that no field stands for'],
  ['where a field belongs', '@cacheTTL: 2m\n', 'it belongs to authentication.webhook'],
  ['only the type of a gate', '@featureGates: {NodeSwap: "true"}\n', 'write true without quotes'],
  ['only the quantity', '@memoryManagerPolicy: Static\nreservedMemory: [{limits: {memory: 1GB}}]\n', 'write 1G'],
  [
    'both type fields at once',
    'maxPods: 5\n',
    'write apiVersion: kubelet.config.k8s.io/v1beta1 and kind: KubeletConfiguration',
  ],
  [
    'what of an answer of /configz is the config',
    '{"kubeletconfig": {"maxPods": 5}}',
    'this is an answer of /configz: import takes it, and a kubelet what is in kubeletconfig',
  ],
  [
    'where a ConfigMap has the config',
    'apiVersion: v1\nkind: ConfigMap\ndata:\n  a: b\n  kubelet: |\n    kind: KubeletConfiguration\n',
    'the config is the text in data.kubelet: give that',
  ],
  [
    'nothing special of other ConfigMaps',
    'apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n',
    'write apiVersion: kubelet.config.k8s.io/v1beta1 and kind: KubeletConfiguration',
  ],
  [
    'how a pool is judged',
    'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\n',
    'a pool is judged with its repository: give the directory',
  ],
  ['that a template is one', '@{{- if .gpu }}\nmaxPods: 5\n{{- end }}\n', 'this is a template: fill it in first'],
  ['that a merge is not done', '@<<<<<<< HEAD\nmaxPods: 5\n', 'a merge conflict is left in the file: resolve it'],
  ['that variables stay as they are', '@maxPods: ${MAX_PODS}\n', 'the kubelet fills nothing in: write the value'],
  ['quotes for what begins with %', '@evictionHard: {memory.available: %5}\n', 'put the value in quotes'],
  ['the unit that is meant', '@kubeReserved: {memory: 1gb, ephemeral-storage: 5 KIB}\n', 'write 1G', 'write 5Ki'],
  [
    'no word for one that is merely as short',
    '@kubeReserved: {gpu: "1"}\n',
    'write cpu, memory, ephemeral-storage or pid',
  ],
  ['true for a word in quotes', '@failSwapOn: "yes"\n', 'write true'],
  ['percent where only those are taken', '@qosReserved: {memory: 50}\n', 'write "50%"'],
  [
    'only what a bad period is',
    '@shutdownGracePeriod: 30\nshutdownGracePeriodCriticalPods: 10s\n',
    'write it as "30s"',
  ],
  ['the space behind a colon', '@clusterDomain:cluster.local\nmaxPods: 5\n', 'write a space behind the colon'],
  ['which space it is', '@maxPods:\u00a05\n', 'behind the colon is a no-break space: write a plain one'],
  ['not to indent with tabs', '@kubeReserved:\n\tcpu: 100m\n', 'indent with spaces, not with tabs'],
  ['how far to indent', '@maxPods: 5\n  podPidsLimit: 100\n', 'indent the line like the keys above it'],
  ['quotes for what has a colon in it', '@clusterDomain: a: b\n', 'put a value with a colon in it in quotes'],
  ['which comma is too much', '{"maxPods": 5,}', 'take out the comma before it'],
  ['that JSON has no comments', '{// pods\n"maxPods": 5}', 'take the comment out: JSON has none, YAML has'],
  [
    'all gates that rest on one',
    '@featureGates: {GenericWorkload: false, PodLevelResources: false, PodLevelResourceManagers: true}\n',
    'set InPlacePodLevelResourcesVerticalScaling: false as well',
    'set PodLevelResources: true as well',
  ],
  [
    'an image by its full name',
    '@imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [nginx:1]\n',
    'write docker.io/library/nginx',
  ],
  [
    'an image without its tag',
    '@imagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: ["a.io:5/b:1"]\n',
    'write a.io:5/b',
  ],
];

describe('advice', () => {
  for (const [title, text, ...advice] of ROWS) {
    it(`says ${title}`, () => {
      const bytes = Buffer.from(text.replace(/^@/, HEADER));
      const { findings } = validateConfigFile('f', bytes, ['1.36']);
      assert.deepEqual(column(findings, 'suggestion'), advice);
    });
  }

  it('names letters that look like others', () => {
    const { findings } = validateConfigFile('f', Buffer.from(`${HEADER}\u0441lusterDomain: a\n`), ['1.36']);
    assert.match(findings[0]?.message ?? '', /, which has U\+0441 in it$/);
  });

  it('says of a default that it is one', () => {
    const { findings } = validateConfigFile('f', Buffer.from(`${HEADER}imageGCHighThresholdPercent: 70\n`), ['1.36']);
    assert.match(findings[0]?.message ?? '', /\(80, its default\).*\(70\)$/);
  });
});
