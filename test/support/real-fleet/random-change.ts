import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { fc } from '../property.ts';
import type { RealMachine } from './real-fleet.ts';

type Raw = Readonly<Record<string, unknown>>;

/** What is wrong with a node when the commit comes. */
const STATES = ['well', 'not-ready', 'silent', 'cordoned', 'leaving'] as const;
export type State = (typeof STATES)[number];

/** What the files of a commit say of the pool `workers`. */
interface Files {
  readonly fields: Raw;
  /** Expressions of a layer with computed values; absent for none. */
  readonly computed?: Raw;
  readonly rollout: Raw;
  readonly spec: Raw;
  readonly cluster: Raw;
  readonly isGone?: boolean;
  /** Fields of the pool `other`. */
  readonly otherFields: Raw;
}

/** A commit, by how it differs from the one before. */
type Change = (files: Files) => Files;

const withFields =
  (fields: Raw): Change =>
  (files) => ({ ...files, fields: { ...files.fields, ...fields } });
const withSpec =
  (spec: Raw, fields: Raw = { maxPods: 120 }): Change =>
  (files) => ({ ...withFields(fields)(files), spec: { ...files.spec, ...spec } });
const withRollout =
  (rollout: Raw, fields: Raw = { maxPods: 120 }): Change =>
  (files) => ({ ...withFields(fields)(files), rollout: { ...files.rollout, ...rollout } });

const NO_END = { deny: [{ cron: '0 0 1 * *', duration: '800h' }] };
/** Shut for five minutes at most. */
const IN_TURN = { allow: [{ cron: '*/10 * * * *', duration: '5m' }] };
const OVERLAP = { matchExpressions: [{ key: 'pool', operator: 'In', values: ['workers', 'other'] }] };

/**
 * Whether the reconciler has the right to count pods, where that decides: with it it drains or holds nodes that have too many, or that
 * would have too little room; without it agents refuse what they see.
 */
const COUNTS: Readonly<Record<string, boolean>> = {
  'fewer pods than run': false,
  'too little memory for pods that a node needs': true,
  'no memory at all': true,
  'CPUs that few nodes have': true,
};

export const CHANGES: Readonly<Record<string, Change>> = {
  plain: withFields({ maxPods: 120 }),
  'fewer pods than run': withFields({ maxPods: 40 }),
  'too little memory for pods that a node needs': withFields({ kubeReserved: { memory: '7Gi' } }),
  'no memory at all': withFields({ kubeReserved: { memory: '9Gi' } }),
  'CPUs that few nodes have': withFields({ reservedSystemCPUs: '0-5' }),
  'a field that old kubelets refuse': withFields({ serializeImagePulls: false, maxParallelImagePulls: 3 }),
  'a drain that the pool does not allow': withFields({ cpuManagerPolicy: 'static', reservedSystemCPUs: '0' }),
  'a pool that is suspended': withSpec({ suspend: true }),
  'a cluster that is suspended': (files) => ({
    ...withFields({ maxPods: 120 })(files),
    cluster: { ...files.cluster, suspend: true },
  }),
  'a window without an end': withRollout({ windows: NO_END }),
  'windows that open and close': withRollout({ windows: IN_TURN }),
  'canaries that no node is': withRollout({ canary: { selector: { matchLabels: { no: 'body' } } } }),
  'tighter bounds': withRollout({ maxUnavailable: 1, maxOnTrial: 1 }),
  'looser bounds': withRollout({ maxUnavailable: '100%' }),
  'a pool that goes': (files) => ({ ...files, isGone: true }),
  'a new pool': (files) => ({ ...withFields({ maxPods: 120 })(files), isGone: false }),
  'a new pool that says what its nodes run': (files) => ({ ...files, fields: { maxPods: 110 }, isGone: false }),
  'a selector with a slip': withSpec({ nodeSelector: { matchLabels: { pool: 'wrokers' } } }, {}),
  'a selector that takes the nodes of another pool': withSpec({ nodeSelector: OVERLAP, priority: 1 }, {}),
  'a selector that both pools have': withSpec({ nodeSelector: OVERLAP }, {}),
  'a selector that leaves canaries out': withSpec(
    {
      nodeSelector: {
        matchExpressions: [
          ...OVERLAP.matchExpressions.map((each) => ({ ...each, values: ['workers'] })),
          { key: 'canary', operator: 'DoesNotExist' },
        ],
      },
    },
    {},
  ),
  'both pools': (files) => ({ ...withFields({ maxPods: 120 })(files), otherFields: { maxPods: 130 } }),
  'few on trial in many places': withFields({ maxPods: 120 }),
  'nodes that are changed though they are not Ready': withFields({ maxPods: 120 }),
  'a class whose canary is never Ready': withFields({ maxPods: 120 }),
  'computed values': (files) => ({
    ...withFields({ maxPods: 120 })(files),
    computed: { systemReserved: { cpu: 'cpu * 0.05' } },
  }),
};

/** Worlds whose rollouts are of one kind, before and after: in few of all others a single bound decides who begins. */
const KINDS: Readonly<Record<string, Kind>> = {
  'few on trial in many places': { rollout: { maxUnavailable: '100%', maxOnTrial: 2, probation: '20s' } },
  'nodes that are changed though they are not Ready': {
    adds: { notReadyNodes: 'change' },
    first: { pool: 'workers', state: 'not-ready' },
  },
  'a class whose canary is never Ready': {
    rollout: { maxUnavailable: '100%', notReadyNodes: 'change', canary: { nodes: 1, perClass: true } },
    computed: true,
    first: {
      pool: 'workers',
      labels: {},
      version: 'v1.34.2',
      state: 'not-ready',
      size: { cpus: 2, memory: 4 * 2 ** 30 },
    },
  },
};

interface Kind {
  readonly rollout?: Raw;
  /** Fields of any rollout. */
  readonly adds?: Raw;
  readonly computed?: boolean;
  /** How the first of the machines is. */
  readonly first?: object;
}

/** Worlds in which the pool is not there before. */
const NEW: ReadonlySet<string> = new Set(['a new pool', 'a new pool that says what its nodes run']);

const BEFORE: Raw = {
  maxPods: 110,
  kubeReserved: { memory: '1Gi' },
  systemReserved: { memory: '0' },
  evictionHard: { 'memory.available': '100Mi' },
};

const poolFile = (name: string, layers: readonly string[], spec: Raw): readonly [string, Raw] => [
  `pools/${name}/pool.yaml`,
  {
    apiVersion: 'kubelet-gitops.dev/v1alpha1',
    kind: 'KubeletPool',
    spec: { nodeSelector: { matchLabels: { pool: name } }, layers, ...spec },
  },
];
const kubeletFile = (name: string, fields: Raw): readonly [string, Raw] => [
  `pools/${name}/kubelet.yaml`,
  { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields },
];

function repoOf({ fields, computed, rollout, spec, cluster, isGone, otherFields }: Files): LoadedRepo {
  const trial = { duration: '1m' };
  const layers = ['./kubelet.yaml', ...(computed === undefined ? [] : ['./computed.yaml'])];
  const files: readonly (readonly [string, Raw])[] = [
    ...(isGone === true
      ? []
      : [poolFile('workers', layers, { trial, rollout, ...spec }), kubeletFile('workers', fields)]),
    ...(computed === undefined || isGone === true
      ? []
      : ([
          [
            'pools/workers/computed.yaml',
            { apiVersion: 'kubelet-gitops.dev/v1alpha1', kind: 'ComputedKubeletConfiguration', computed },
          ],
        ] as const)),
    poolFile('other', ['./kubelet.yaml'], { trial, rollout: { maxUnavailable: 2 } }),
    kubeletFile('other', otherFields),
    [
      'clusters/demo.yaml',
      {
        apiVersion: 'kubelet-gitops.dev/v1alpha1',
        kind: 'ClusterConfig',
        spec: { maxChange: '100%', maxUnassign: '100%', ...cluster },
      },
    ],
  ];
  const blobs = files.map(
    ([path, value]) => [path, { path, oid: '', bytes: Buffer.from(JSON.stringify(value)) }] as const,
  );
  return loadRepo(new Map(blobs), { cluster: 'demo' });
}

/** A machine, with what is wrong with it, and what runs on it. */
export interface World {
  readonly machines: readonly RealMachine[];
  readonly states: ReadonlyMap<string, State>;
  /** By node: memory that its critical pod asks for, in GiB. */
  readonly vital: ReadonlyMap<string, number>;
  readonly mayCount: boolean;
  /** Whether plan and simulate are told what kubelets run. */
  readonly asksKubelets: boolean;
  readonly base: LoadedRepo;
  readonly head: LoadedRepo;
}

const GI = 2 ** 30;
const ZONE = 'topology.kubernetes.io/zone';

const machine = fc.record({
  /** The order of names is not that of ages. */
  rank: fc.nat(99),
  pool: fc.constantFrom('workers', 'workers', 'workers', 'workers', 'other'),
  state: fc.constantFrom<State>('well', 'well', 'well', 'well', 'well', 'well', 'well', ...STATES),
  labels: fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    {},
    {},
    { canary: 'yes' },
    { 'node-role.kubernetes.io/control-plane': '' },
    { type: 'kwok' },
  ),
  zone: fc.constantFrom<Readonly<Record<string, string>>>({}, { [ZONE]: 'a' }, { [ZONE]: 'b' }),
  size: fc.constantFrom({ cpus: 4, memory: 8 * GI }, { cpus: 8, memory: 16 * GI }),
  version: fc.constantFrom('v1.34.2', 'v1.34.2', 'v1.34.2', 'v1.21.0'),
  pods: fc.constantFrom(10, 10, 47),
  vital: fc.constantFrom(0.1, 0.1, 1.5),
});

const soak = fc.constantFrom('0s', '1m', '3m');
const rollouts = fc.record(
  {
    maxUnavailable: fc.constantFrom<number | string>(1, 2, 3, '50%'),
    maxUnavailablePerZone: fc.constant(1),
    maxOnTrial: fc.constantFrom<number | string>(1, 2, '100%'),
    probation: fc.constantFrom('full', '20s'),
    soak,
    canary: fc.oneof(
      fc.record({ nodes: fc.integer({ min: 1, max: 2 }), soak }),
      fc.constant({ nodes: 1, perClass: true }),
      fc.constant({ selector: { matchLabels: { canary: 'yes' } } }),
    ),
    steps: fc.constantFrom([{ nodes: '50%', soak: '2m' }], [{ nodes: 2 }, { nodes: '80%' }]),
    onFailure: fc.record({ threshold: fc.integer({ min: 1, max: 3 }) }),
  },
  { requiredKeys: ['maxUnavailable'] },
);

/** Worlds in which something changes as `name` says. */
export const worlds = (name: string): fc.Arbitrary<World> =>
  fc
    .record({
      fleet: fc.array(machine, { minLength: 2, maxLength: 7 }),
      rollout: rollouts,
      mayCount: fc.boolean(),
      isComputed: fc.constantFrom(false, false, true),
      maxUnavailable: fc.constantFrom<number | null>(null, null, 1, 2),
    })
    .map((found) => {
      const { rollout: own, adds, computed = found.isComputed, first } = KINDS[name] ?? {};
      const rollout: Raw = { ...(own ?? found.rollout), ...adds };
      const [one, ...others] = found.fleet;
      const fleet = one === undefined || first === undefined ? found.fleet : [{ ...one, ...first }, ...others];
      return { ...found, rollout, fleet, isComputed: computed };
    })
    .map(({ fleet, rollout, isComputed, mayCount, maxUnavailable }): World => {
      const { perClass: _, ...canary } = (rollout['canary'] ?? {}) as Raw;
      const plain = {
        ...rollout,
        ...(rollout['canary'] !== undefined && { canary: isComputed ? rollout['canary'] : canary }),
      };
      const files: Files = {
        fields: BEFORE,
        ...(isComputed && { computed: { systemReserved: { cpu: 'cpu * 0.02' } } }),
        rollout: plain,
        spec: {},
        cluster: maxUnavailable === null ? {} : { maxUnavailable },
        otherFields: { maxPods: 110 },
      };
      const each = fleet.map((about, index) => ({ ...about, name: `n${about.rank}-${index}` }));
      return {
        machines: each.map(({ name: node, pool, labels, zone, size, version, pods }) => ({
          name: node,
          labels: { pool, ...labels, ...zone },
          kubeletVersion: version,
          readsDropIns: version !== 'v1.21.0',
          host: { ...size, pods },
        })),
        states: new Map(each.map(({ name: node, state }) => [node, state])),
        vital: new Map(each.map(({ name: node, vital }) => [node, vital])),
        mayCount: COUNTS[name] ?? mayCount,
        asksKubelets: NEW.has(name),
        base: repoOf({ ...files, isGone: NEW.has(name) }),
        head: repoOf((CHANGES[name] ?? ((same) => same))(files)),
      };
    });
