import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import type { RepoFile } from '#reconciler/policy/commit-snapshot.ts';

/** A commit within the limits of git that takes much to read. */
export interface HeavyCommit {
  readonly what: string;
  readonly files: ReadonlyMap<string, RepoFile>;
}

const KUBELET = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const COMPUTED = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\n';
const MOST_BYTES = DEFAULT_GIT_LIMITS.fileBytes;

const poolFile = (name: string, layers: readonly string[]): string =>
  `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nspec:\n  nodeSelector: {matchLabels: {pool: ${name}}}\n  layers: [${layers.join(', ')}]\n`;

const many = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('');

/** @param count of pools, each with a layer of its own */
function pools(count: number, layer: (at: number) => string): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      [`pools/p${at}/pool.yaml`, poolFile(`p${at}`, [`pools/p${at}/kubelet.yaml`])],
      [`pools/p${at}/kubelet.yaml`, layer(at)],
    ]).flat(),
  );
}

const UNKNOWN = KUBELET + many(9_300, (at) => `someUnknownField${at}: ${at}\n`);
const WIDE = `${KUBELET}allowedUnsafeSysctls:\n${many(9_000, (at) => `- net.core.value${at}\n`)}`;
const HEADERS = `${KUBELET}staticPodURLHeader:\n${many(4_800, (at) => `  X-Some-Header-${at}: [value]\n`)}`;
const DEEP = `${KUBELET}shutdownGracePeriodByPodPriority: ${'[{a: '.repeat(30)}1${'}]'.repeat(30)}\nfoo: {${many(3_000, (at) => `key${at}: ${'['.repeat(2)}{a: 1}${']'.repeat(2)}, `)}}\n`;
const PLAIN = `${KUBELET}maxPods: 110\nevictionHard: {memory.available: 100Mi}\n`;
const FLOW = KUBELET + 'featureGates: {' + many(9_000, (at) => `Gate${at}: true, `) + '}\n';
const TAINTS = `${KUBELET}registerWithTaints:\n${many(2_400, (at) => `- {key: example.com/t${at}, value: v, effect: NoSchedule}\n`)}`;
const EXPRESSIONS =
  COMPUTED +
  'computed:\n  systemReserved:\n' +
  many(2_000, (at) => `    "example.com/r${at}": "memory * 0.0${at + 1} + cpu * ${at}"\n`) +
  '  featureGates:\n' +
  many(2_000, (at) => `    Gate${at}: "cpu > ${at} && memory > ${at}"\n`);
const REAL_EXPRESSIONS = `${COMPUTED}computed:\n  maxPods: 'milliCpu > 4000 ? 110 : 60'\n  systemReserved: {memory: memory * 0.06, cpu: cpu * 0.01}\n`;

const longLists = many(4_000, (at) => `  - ./layer${at}.yaml\n`);

const COMMITS: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  'the 220 files of 250 KB that ended every process': () => pools(220, () => UNKNOWN),
  'unknown fields up to the limit': () => pools(16, () => UNKNOWN),
  'wide lists that are valid': () => pools(16, () => WIDE),
  'maps that look like credentials': () => pools(16, () => HEADERS),
  'deep values': () => pools(16, () => DEEP),
  'feature gates that nobody knows': () => pools(16, () => FLOW),
  taints: () => pools(16, () => TAINTS),
  'expressions that are wrong': () => pools(16, () => EXPRESSIONS),
  'large lists with computed values': () =>
    Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [
        [`pools/p${at}/pool.yaml`, poolFile(`p${at}`, [`pools/p${at}/wide.yaml`, `pools/p${at}/computed.yaml`])],
        [`pools/p${at}/wide.yaml`, `${WIDE}# ${at}\n`],
        [`pools/p${at}/computed.yaml`, REAL_EXPRESSIONS],
      ]).flat(),
    ),
  'as many small pools as files are read': () => pools(2_400, () => PLAIN),
  'as many small pools with computed values': () => pools(2_400, () => REAL_EXPRESSIONS),
  'one large layer in all pools': () => ({
    'base/wide.yaml': WIDE,
    ...Object.fromEntries(
      Array.from({ length: 4_900 }, (_, at) => [`pools/p${at}/pool.yaml`, poolFile(`p${at}`, ['base/wide.yaml'])]),
    ),
  }),
  'one large, wrong layer in all pools': () => ({
    'base/wide.yaml': UNKNOWN,
    ...Object.fromEntries(
      Array.from({ length: 4_900 }, (_, at) => [`pools/p${at}/pool.yaml`, poolFile(`p${at}`, ['base/wide.yaml'])]),
    ),
  }),
  'many layers in many pools': () => ({
    ...Object.fromEntries(
      Array.from({ length: 1_000 }, (_, at) => [
        `base/l${at}.yaml`,
        `${KUBELET}maxPods: ${at + 1}\n# ${'x'.repeat(3_000)}\n`,
      ]),
    ),
    ...Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `pools/p${at}/pool.yaml`,
        poolFile(
          `p${at}`,
          Array.from({ length: 64 }, (_each, layer) => `base/l${layer}.yaml`),
        ),
      ]),
    ),
  }),
  'pool files full of layers that are not there': () =>
    Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [
        `pools/p${at}/pool.yaml`,
        `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nspec:\n  nodeSelector: {matchLabels: {pool: x}}\n  layers:\n${longLists}`,
      ]),
    ),
  'files that no pool names': () => ({
    ...pools(3, () => PLAIN),
    ...Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`other/f${at}.yaml`, UNKNOWN])),
  }),
  "a cluster's file at its limit": () => ({
    ...pools(3, () => PLAIN),
    'clusters/prod.yaml': `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec:\n  fields:\n    allow:\n${many(9_000, (at) => `    - someField${at}\n`)}`,
  }),
};

export const heavyCommits = (): readonly HeavyCommit[] =>
  Object.entries(COMMITS).map(([what, tree]) => ({
    what,
    get files() {
      return new Map(Object.entries(tree()).map(([path, text]) => [path, fileOf(path, text)] as const));
    },
  }));

function fileOf(path: string, text: string): RepoFile {
  if (text.length > MOST_BYTES) throw new Error(`${path} is too large for git to be read`);
  // As the snapshot of a branch: made again at each reading.
  return {
    path,
    oid: path,
    get bytes() {
      return Buffer.from(text);
    },
  };
}
