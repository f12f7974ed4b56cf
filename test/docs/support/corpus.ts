import { readFileSync } from 'node:fs';
import { API_VERSION } from '#shared/contract/api/group.ts';

type Value = Readonly<Record<string, unknown>>;
type Place = readonly (string | number)[];

/** A file of ours with one thing changed: right or wrong, whoever judges it has to say. */
interface Sample {
  /** What was done where: `spec.rollout.soak = "-1s"`. */
  readonly name: string;
  readonly kind: Kind;
  readonly document: Value;
}

/** The published schemas, by kind. */
export const SCHEMAS = {
  KubeletPool: 'schemas/kubelet-pool.json',
  ClusterConfig: 'schemas/cluster-config.json',
  ComputedKubeletConfiguration: 'schemas/computed-kubelet-configuration.json',
} as const;
type Kind = keyof typeof SCHEMAS;

const WINDOWS = {
  allow: [{ cron: '0 2 * * 1-5', duration: '4h', timeZone: 'Europe/Berlin' }],
  deny: [{ cron: '0 0 20 12 *', duration: '336h', timeZone: 'UTC' }],
  overrun: 'finish-wave',
};
const EXPRESSIONS = [
  { key: 'example.com/zone', operator: 'In', values: ['a', 'b'] },
  { key: 'gpu', operator: 'Exists' },
];
const FIELDS = { allow: ['featureGates.NodeSwap'], deny: ['authentication', 'port'] };
const threshold = { least: 0.5, percent: 20 };

const POOL = {
  nodeSelector: { matchLabels: { 'example.com/role': 'worker', pool: '' }, matchExpressions: EXPRESSIONS },
  priority: 10,
  layers: ['kubelet.yaml', 'base/all.yaml'],
  apply: 'replace',
  rollout: {
    maxUnavailable: '10%',
    maxUnavailablePerZone: 1,
    maxOnTrial: 5,
    probation: '1m',
    notReadyNodes: 'change',
    soak: '10m',
    canary: { nodes: 2, perClass: true, soak: '2h', pause: true },
    analysis: {
      measures: ['cpu', 'relist'],
      thresholds: { cpu: threshold },
      prometheus: {
        url: 'http://prometheus.monitoring:9090',
        nodeLabel: 'instance',
        queries: [
          { name: 'a', query: 'up', least: 1, percent: 5, worse: 'down' },
          { name: 'b', query: 'up', above: 0.5 },
          { name: 'c', query: 'up', below: -1 },
        ],
      },
      timeout: '1h',
    },
    steps: [
      { nodes: 5, soak: '1h' },
      { nodes: '25%', pause: true },
      { nodes: '50%', soak: '0s' },
    ],
    windows: WINDOWS,
    emergency: 'CVE-2026-1234',
    onFailure: { threshold: 2, action: 'revert' },
  },
  trial: { duration: '10m', durationAfterCanary: '5m', startTimeout: '2m', maxRestarts: 2 },
  drift: 'report',
  fields: { deny: FIELDS.deny },
  suspend: true,
  disruption: {
    allow: ['restart', 'drain', 'reboot'],
    drainTimeout: '30m',
    reboot: { by: 'sentinel', timeout: '3h' },
  },
  blockers: {
    prometheus: { url: 'https://prometheus', alerts: ['KubeAPIDown', 'A b'] },
    pods: { namespace: 'batch', selector: { matchLabels: { app: 'training' }, matchExpressions: EXPRESSIONS } },
  },
  tolerate: ['unknown-field', 'wrong-case'],
};

/** What something in the first excludes, or is like. */
const OTHER_POOL = {
  nodeSelector: {},
  fields: FIELDS,
  rollout: {
    canary: { selector: { matchLabels: { a: 'b' }, matchExpressions: EXPRESSIONS } },
    probation: 'full',
    analysis: {
      thresholds: Object.fromEntries(
        ['evictions', 'oomKills', 'runtimeErrors', 'podStart', 'relist', 'reserved'].map((name) => [name, threshold]),
      ),
    },
  },
  blockers: { prometheus: { url: 'http://p', query: 'up == 0' } },
};

const CLUSTER = {
  kubeletVersions: ['1.34', 'v1.33.2'],
  maxUnassign: '20%',
  maxChange: '50%',
  maxUnavailable: 5,
  suspend: true,
  follows: {
    clusters: ['staging', 'canary-eu'],
    settledFor: '24h',
    require: 'payloads',
    signers: { staging: [`ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAII${'a'.repeat(42)} staging`] },
  },
  windows: WINDOWS,
  trial: { minDuration: '2m', maxStartTimeout: '10m' },
  fields: FIELDS,
  tolerate: ['unknown-field'],
};

const COMPUTED = {
  profile: 'gke',
  computed: { maxPods: 'max(30, milliCpu / 100)', systemReserved: { memory: 'memory * 0.05' } },
  bounds: { systemReserved: { memory: { min: '255Mi', max: '8Gi', maxShare: '25%' } }, maxPods: { max: 110 } },
};

/** Every key of pools and clusters is in one of them; they are right. */
export const RIGHT: readonly (readonly [Kind, Value])[] = [
  ['KubeletPool', { metadata: { name: 'x' }, spec: POOL }],
  ['KubeletPool', { spec: OTHER_POOL }],
  ['ClusterConfig', { metadata: { name: 'prod' }, spec: CLUSTER }],
  ['ComputedKubeletConfiguration', COMPUTED],
].map(([kind, value]) => [kind as Kind, { apiVersion: API_VERSION, kind, ...(value as Value) }]);

export interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

export const schemaOf = (kind: Kind): Node => JSON.parse(readFileSync(SCHEMAS[kind], 'utf8')) as Node;

function nodeAt(schema: Node, [step, ...rest]: Place): Node {
  if (step === undefined) return schema;
  const { items, properties, additionalProperties: others } = schema;
  const below = typeof step === 'number' ? items : (properties?.[step] ?? (typeof others === 'object' ? others : {}));
  return nodeAt(below ?? {}, rest);
}

const isMap = (value: unknown): value is Value => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Each is put in the place of everything. */
const WRONG: readonly unknown[] = [
  [null, true, false, 0, 1, 7, -1, 1.5, 1e300],
  ['', ' ', 'x', 'Some words', 'a\nb', 'a\u007fb', '-', '/etc/x', '../../../x', '__proto__', 'yes', '5'],
  ['0s', '0h0m', '1ms', '-1s', '5 minutes', '1d', '1m1h', '8784h', '8784h1ms'],
  ['0%', '1%', '005%', '100%', '101%', '%', '1.5%'],
  ['@daily', '0 2 * * 1-8', '0 0 30 2 *', 'europe/berlin', '+01:00', 'ftp://p', 'http://a:b@c', 'http://p?a=b'],
  ['http://[', '1.19', '1.40', 'maxPodz', 'featureGates.X', 'port.', 'memry * 2', '12XB', 'Upper', 'a_b', 'a/b/c'],
  [[], {}, [null], ['x'], [['x']], [{}], { bogus: 1 }, { a: null }, [5]],
].flat(1);

/** The same word with a slip of the pen, and in other letters. */
const slips = (word: string): readonly string[] => [
  `${word.slice(0, 2)}${word.slice(3)}`,
  word === word.toUpperCase() ? word.toLowerCase() : word.toUpperCase(),
];

/** The last value within each bound of a schema, and the first beyond it. */
function* bounds({ minimum, maximum, maxLength, maxItems }: Node, old: unknown): Iterable<unknown> {
  if (minimum !== undefined) yield* [minimum, minimum - 1];
  if (maximum !== undefined) yield* [maximum, maximum + 1, maximum * 2];
  if (maxLength !== undefined)
    for (const length of [maxLength, maxLength + 1]) yield* ['a', '0'].map((letter) => letter.repeat(length));
  if (maxItems === undefined || !Array.isArray(old)) return;
  for (const length of [maxItems, maxItems + 1]) yield Array.from({ length }, (_, index) => another(old[0], index));
}

function another(item: unknown, index: number): unknown {
  if (isMap(item) && 'nodes' in item) return { ...item, nodes: index + 3 };
  if (isMap(item) && 'query' in item) return { ...item, name: `a${index}` };
  return typeof item === 'string' && /^(?:kubelet\.yaml|KubeAPIDown)$/.test(item) ? `${item}${index}` : item;
}

/** The value at the place changed; undefined takes it away. */
function put(value: unknown, [step, ...rest]: Place, change: (old: unknown) => unknown, rename?: string): unknown {
  if (step === undefined) return change(value);
  const entries = Object.entries(value as Value).flatMap(([key, item]) => {
    if (key !== String(step)) return [[key, item] as const];
    const changed = put(item, rest, change, rename);
    return changed === undefined ? [] : [[rest.length === 0 ? (rename ?? key) : key, changed] as const];
  });
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

/** Every place in a value below itself, with what is there. */
export function* placesIn(value: unknown, at: Place = []): Iterable<readonly [Place, unknown]> {
  const below: Iterable<readonly [string | number, unknown]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(isMap(value) ? value : {});
  for (const [step, item] of below) {
    yield [[...at, step], item];
    yield* placesIn(item, [...at, step]);
  }
}

/** Every key of the right files, wrong in every way, by its schema. */
export function* samples(): Iterable<Sample> {
  for (const [kind, right] of RIGHT) {
    const made = (name: string, document: unknown): Sample => ({ name, kind, document: document as Value });
    const schema = schemaOf(kind);
    yield made('right', right);
    for (const [at, old] of placesIn(right)) {
      const shown = at.join('.');
      const wrong = (value: unknown): Sample =>
        made(
          `${shown} = ${JSON.stringify(value).slice(0, 60)}`,
          put(right, at, () => value),
        );
      for (const value of [...WRONG, ...bounds(nodeAt(schema, at), old)]) yield wrong(value);
      yield made(
        `${shown} gone`,
        put(right, at, () => undefined),
      );
      const key = at.at(-1);
      if (typeof key === 'string')
        for (const name of slips(key))
          yield made(
            `${shown} as ${name}`,
            put(right, at, (it) => it, name),
          );
      if (typeof old === 'string') yield* slips(old).map(wrong);
      if (isMap(old)) yield wrong({ ...old, bogus: 1 });
      if (Array.isArray(old)) yield* [[...old, old[0]], [...old, null], old.toReversed()].map(wrong);
    }
  }
}
