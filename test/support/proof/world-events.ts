import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { fc } from '../property.ts';
import { type Kind, KINDS, type Table } from './machine-pools.ts';

/** Versions by what they give the kinds of machines. */
export const TABLES: readonly Table[] = [
  [1, 2, 3, 4],
  [2, 2, 4, 4],
  [1, 3, 3, 1],
  [5, 5, 5, 5],
  [6, 6, 6, 6],
  [7, 7, 7, 7],
  [2, 6, 1, 6],
];

export interface Setting {
  /** One for each pool. */
  readonly pools: readonly { readonly isComputed: boolean; readonly rollout: RolloutSpec }[];
  readonly nodes: readonly { readonly pool: number; readonly kind: Kind }[];
  /** Which kind of machine does not survive 6; null where no kubelet dies of anything. */
  readonly victim: Kind | null;
  /** Whether all pools settled on the first version before anything happens. */
  readonly settled: boolean;
}

/** What happens to a node; the number is that of one which is there. */
export type ToNode = 'cordon' | 'uncordon' | 'not-ready' | 'ready' | 'silence' | 'speak' | 'leave';

/** Which part of the status of a pool somebody else writes. */
export type Forged = 'settled' | 'rollout' | 'proof' | 'all';

/** What happens in a moving world. */
export type Happening =
  | { readonly event: 'time'; readonly minutes: number; readonly who: 'all' | 'some' | 'none' }
  | { readonly event: 'commit'; readonly pool: number; readonly table: number }
  | { readonly event: ToNode; readonly node: number }
  | { readonly event: 'join'; readonly pool: number; readonly kind: Kind }
  | { readonly event: 'relabel'; readonly node: number; readonly pool: number | null }
  | { readonly event: 'reclass'; readonly node: number; readonly kind: Kind }
  | { readonly event: 'blip'; readonly pool: number; readonly what: ToNode }
  | { readonly event: 'takeover' | 'clock'; readonly hours: number }
  | {
      readonly event: 'forge';
      readonly pool: number;
      readonly table: number | null;
      readonly what: Forged;
      /** While nobody leads: the next leader finds it. */
      readonly found?: boolean;
    }
  /** The same of a record that is lost. */
  | { readonly event: 'lose'; readonly pool: number }
  /** `reapprove`: with the words of the approval before. */
  | { readonly event: 'forget' | 'suspend' | 'resume' | 'release' | 'approve' | 'reapprove'; readonly pool: number };

const node = fc.nat(23);
const inPool = fc.nat(2);
const kind = fc.constantFrom(...KINDS);
const happens = <T extends string>(...events: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...events);

/** Nothing but time for most of it, in which agents move. */
export const happenings: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 48,
    arbitrary: fc.record({
      event: happens('time'),
      minutes: fc.integer({ min: 1, max: 20 }),
      who: fc.constantFrom('all', 'all', 'all', 'some', 'none'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ event: happens('commit'), pool: inPool, table: fc.nat(TABLES.length - 1) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ event: happens('cordon', 'uncordon', 'not-ready', 'ready', 'silence', 'speak'), node }),
  },
  { weight: 2, arbitrary: fc.record({ event: happens('leave'), node }) },
  { weight: 2, arbitrary: fc.record({ event: happens('join'), pool: inPool, kind }) },
  {
    weight: 1,
    arbitrary: fc.record({ event: happens('relabel'), node, pool: fc.option(inPool, { freq: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ event: happens('reclass'), node, kind }) },
  {
    weight: 4,
    arbitrary: fc.record({
      event: happens('blip'),
      pool: inPool,
      what: happens('cordon', 'uncordon', 'not-ready', 'ready', 'silence', 'speak'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ event: happens('takeover', 'clock'), hours: fc.integer({ min: -2, max: 2 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      event: happens('forget', 'suspend', 'resume', 'resume', 'release', 'release'),
      pool: inPool,
    }),
  },
  { weight: 3, arbitrary: fc.record({ event: happens('approve', 'approve', 'reapprove'), pool: inPool }) },
);

/** The same, and others write statuses of pools: of the present version of one, or of any. */
export const forgeries: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 28, arbitrary: happenings },
  { weight: 1, arbitrary: fc.record({ event: happens('lose'), pool: inPool }) },
  {
    weight: 2,
    arbitrary: fc.record({
      event: happens('forge'),
      pool: inPool,
      table: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(TABLES.length - 1) }),
      what: fc.constantFrom<Forged[]>('settled', 'rollout', 'proof', 'all'),
      found: fc.boolean(),
    }),
  },
);

const amounts = fc.constantFrom(1, 2, 3, 5, '25%', '50%', '100%');
const soaks = fc.constantFrom('0s', '5m', '30m', '1h');

/** Ways to roll out: at both paces, canaries of the pool and of each class, steps, both actions. */
const rollouts: fc.Arbitrary<RolloutSpec> = fc
  .record({
    maxUnavailable: amounts,
    soak: soaks,
    onFailure: fc.record({
      threshold: fc.constantFrom(1, 2, 3, '30%'),
      action: fc.constantFrom('halt' as const, 'revert' as const),
    }),
    more: fc.record(
      {
        probation: fc.constantFrom('full', '50s', '2m'),
        maxOnTrial: fc.constantFrom(1, 2, 4, '50%'),
        canary: fc.record({
          nodes: fc.constantFrom(1, 1, 2, '25%'),
          soak: soaks,
          perClass: fc.boolean(),
          pause: fc.constantFrom(true, false, false),
        }),
        steps: fc.constantFrom(
          [{ nodes: 3 }],
          [{ nodes: '25%', soak: '30m' }, { nodes: '75%' }],
          [{ nodes: 4, soak: '1h' }],
          [
            { nodes: '25%', pause: true },
            { nodes: '75%', pause: true },
          ],
        ),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ more, ...rest }) => ({ ...rest, ...more }));

/** One to three pools with 4 to 18 nodes, of one to four kinds. */
export const settings: fc.Arbitrary<Setting> = fc
  .record({
    pools: fc.array(fc.record({ isComputed: fc.constantFrom(true, true, false), rollout: rollouts }), {
      minLength: 1,
      maxLength: 3,
    }),
    nodes: fc.array(fc.record({ pool: fc.nat(2), kind }), { minLength: 4, maxLength: 18 }),
    kinds: fc.integer({ min: 1, max: 4 }),
    victim: kind,
    settled: fc.constantFrom(true, true, true, false),
  })
  .map(({ kinds, nodes, ...rest }) => ({
    ...rest,
    nodes: nodes.map((each) => ({ ...each, kind: (each.kind % kinds) as Kind })),
  }));
