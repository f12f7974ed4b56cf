import type { Random } from './random.ts';

export const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

type Mutation = (text: string, random: Random) => string;

/** Ways to write the same, or nearly, that parsers differ in. Each takes a file and gives another. */
const MUTATIONS: readonly Mutation[] = [
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => text.replaceAll('\n', '\r'),
  (text) => `\uFEFF${text}`,
  (text) => `---\n${text}`,
  (text) => `# a comment\n\n${text}`,
  (text) => `%YAML 1.1\n---\n${text}`,
  (text) => `%YAML 1.2\n---\n${text}`,
  (text) => `${text}...\n`,
  (text) => `${text}---\nmaxPods: [`,
  (text) => `${text}---\n${text}`,
  (text) => `---\n---\n${text}`,
  (text) => text.trimEnd(),
  (text) => text.replaceAll(/\n(?=.)/g, ' # why not\n'),
  (text) => text.replaceAll(': ', ':\t'),
  (text) => text.replaceAll(': ', ':'),
  (text) => text.replaceAll(': ', ' : '),
  (text) => text.replaceAll('\n', ' \n'),
  (text) => text.replaceAll('\n', '\t\n'),
  (text) => text.replaceAll(/^/gm, '  ').trimEnd(),
  (text) => text.replaceAll(/^ {2}/gm, '\t'),
  (text) => text.replaceAll(/^([a-z]\w*):/gim, '"$1":'),
  (text) => text.replaceAll(/^([a-z]\w*):/gim, "'$1':"),
  (text) => text.replaceAll(/^([a-z]\w*): (.*)$/gim, '? $1\n: $2'),
  (text) => text.replace(/: (?!.*[&*])(.*)$/m, ': &a $1'),
  (text) => `${text}clusterDomain: &a x\nproviderID: *a\n`,
  (text) => `${text}<<: {maxPods: 7}\n`,
  (text) => `${text}maxPods: 7\n<<: {maxPods: 8, podsPerCore: 1}\n`,
  (text) => `${text}<<: [{maxPods: 7}, {maxPods: 8}]\n`,
  (text) => `${text}clusterDomain: |\n  a\n  b\n`,
  (text) => `${text}clusterDomain: >-\n  a\n  b\n`,
  (text) => `${text}clusterDomain: a\n  b\n`,
  (text) => `${text}clusterDomain: |2\n    a\n`,
  (text) => `${text}clusterDomain: "a\\x41\\u0042\\\n  c"\n`,
  (text) => `${text}clusterDomain: 'it''s'\n`,
  (text) => `${text}clusterDomain: !!str 5\n`,
  (text) => `${text}maxPods: !!int "5"\n`,
  (text) => `${text}maxPods: !!str 5\n`,
  (text) => `${text}maxPods:\n`,
  (text) => `${text}maxPods: 5 6\n`,
  (text) => `${text}clusterDNS:\n- 10.0.0.1\n-   10.0.0.2\n`,
  (text) => `${text}clusterDNS:\n    - 10.0.0.1\n  - 10.0.0.2\n`,
  (text) => `${text}1: a\n`,
  (text) => `${text}true: a\n`,
  (text) => `${text}null: a\n`,
  (text) => `${text}? [a]\n: b\n`,
  (text) => `${text}"": a\n`,
  (text) => `${text}@x: a\n`,
  (text) => `${text}- a\n`,
  (text) => `${text}x`,
  (text) => `${text}}\n`,
  (text) => text.replace('kubelet.config', 'Kubelet.config'),
  (text) => text.replace('v1beta1', 'v1alpha1'),
  (text) => text.replace('v1beta1', 'v1'),
  (text) => text.replace('apiVersion: kubelet.config.k8s.io/v1beta1\n', ''),
  (text) => text.replace('kind: KubeletConfiguration\n', ''),
  (text) => text.replace('KubeletConfiguration', 'KubeletConfig'),
  (text) => text.replace('KubeletConfiguration', 'CredentialProviderConfig'),
  (text) => text.replace('KubeletConfiguration', 'SerializedNodeConfigSource'),
  (text) => text.replace('kind:', 'Kind:'),
  (text) => text.replace('apiVersion:', 'APIVersion:'),
  (text) => `${text}kind: KubeletConfiguration\n`,
  (text) => `${text}apiVersion: null\n`,
  (text) => `${text}metadata: {name: x}\n`,
  (text, random) => text.slice(0, random.below(text.length)),
  (text, random) =>
    withAt(
      text,
      random.below(text.length),
      random.pick('\0\t\n\r"\'{}[],:#&*!|>%@`-?~\u0007\u0085\u2028\uFEFF\uFFFE'.split('')),
    ),
];

/** JSON's own ways to go wrong. */
const JSON_MUTATIONS: readonly Mutation[] = [
  (text) => ` \n${text}\n`,
  (text) => `${text}{}`,
  (text) => `${text}\n---\n${text}`,
  (text) => text.replace(/\}$/, ',}'),
  (text) => text.replace(/\}$/, ', "maxPods": 5, "maxPods": 6}'),
  (text) => text.replace(/\}$/, ', "clusterDomain": "\\ud83d"}'),
  (text) => text.replace(/\}$/, ', "clusterDomain": "\\/\\u0041\\u0000"}'),
  (text) => text.replace(/\}$/, ', "maxPods": 05}'),
  (text) => text.replace(/\}$/, ', "maxPods": 5.0}'),
  (text) => text.replace(/\}$/, ', "maxPods": 5e0}'),
  (text) => text.replace(/\}$/, ', "\\u006daxPods": 5}'),
  (text) => text.replaceAll('"', "'"),
  (text) => text.replace('{', '{ // why not\n'),
  (text) => `\uFEFF${text}`,
  (text) => `[${text}]`,
  (text, random) => text.slice(0, random.below(text.length)),
  (text, random) => withAt(text, random.below(text.length), random.pick('\0\t\n"\'{}[],:0-'.split(''))),
];

const withAt = (text: string, at: number, more: string): string => text.slice(0, at) + more + text.slice(at);

/** A file written otherwise. @param text a whole file, YAML or JSON */
export function rewritten(text: string, random: Random): string {
  return random.pick(text.startsWith('{') ? JSON_MUTATIONS : MUTATIONS)(text, random);
}
