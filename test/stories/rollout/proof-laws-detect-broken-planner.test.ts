import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import type { Desired, DesiredPool } from '#reconciler/policy/desired.ts';
import type { Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import type { PayloadClass, PoolClasses } from '#reconciler/policy/payload-classes.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { PAYLOAD_KEY } from '#shared/contract/api/group.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { MovingWorld } from '../../support/proof/moving-world.ts';
import { checkReverted } from '../../support/proof/proof-claims.ts';
import { forgeries, type Happening, happenings, settings } from '../../support/proof/world-events.ts';
import { type Planner, rollingOutAs, seeing, withPools } from './support/broken-planners.ts';

const MOST_WORLDS = 1_000;
/** `npm test` finds each with the same few worlds. */
const SEED = Number(process.env['PROPERTY_SEED'] ?? 1);

const poolOf = ({ choices }: Desired, name: string): string | undefined => {
  const choice = choices.get(name);
  return choice?.choice === 'pool' ? choice.pool : undefined;
};

/** What the commit gives a node. */
function configFor(
  { pools }: Desired,
  pool: string,
  node: string,
): { readonly name: string; readonly sha256: string } | null {
  const { classes, config = null } = pools.get(pool) ?? {};
  return classes === undefined ? config : (classes.byNode.get(node)?.config ?? null);
}

/** The real planner, to which nodes that cannot be asked do not exist: a wave is done by those that are left. */
const blindTo =
  (isHidden: (node: NodeView) => boolean): Planner =>
  (desired, fleet, ...more) => {
    const hidden = new Set([...fleet.nodes.values()].filter(isHidden).map(({ name }) => name));
    const seen = <T>(all: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
      new Map([...all].filter(([name]) => !hidden.has(name)));
    return plan(desired, { ...fleet, nodes: seen(fleet.nodes), kubeletNodes: seen(fleet.kubeletNodes) }, ...more);
  };

/** The real planner, which settles as soon as nobody else can be changed. */
const settlingBy =
  (isAway: (node: NodeView) => boolean): Planner =>
  (desired, fleet, ...more) => {
    const isOver = ({ name }: DesiredPool): boolean =>
      [...fleet.nodes.values()].every((node) => {
        const told = fleet.kubeletNodes.get(node.name)?.spec?.configSource?.sha256;
        return (
          poolOf(desired, node.name) !== name || isAway(node) || told === configFor(desired, name, node.name)?.sha256
        );
      });
    const over = new Set([...desired.pools.values()].filter(isOver).map(({ name }) => name));
    return plan(
      desired,
      withPools((pool) => (over.has(pool.metadata.name) ? { ...pool, status: done(pool.status) } : pool))(fleet),
      ...more,
    );
  };

function done(status: KubeletPoolStatus = {}): KubeletPoolStatus {
  const { rollout } = status;
  if (rollout === undefined) return status;
  const at = rollout.startedAt;
  const waves = rollout.waves.map((wave) => ({ ...wave, state: 'done' as const, startedAt: at, doneAt: at }));
  return { ...status, rollout: { ...rollout, waves, finishedAt: at } };
}

/** The real planner, to which classes with the same bytes are one: what one of them proved is proven. */
const byHashAlone: Planner = (desired, ...more) =>
  plan(
    {
      ...desired,
      pools: new Map(
        [...desired.pools].map(([name, pool]) => [
          name,
          pool.classes === undefined ? pool : { ...pool, classes: mergedByHash(pool.classes) },
        ]),
      ),
    },
    ...more,
  );

function mergedByHash(classes: PoolClasses): PoolClasses {
  const first = new Map<string, PayloadClass>();
  const nodes = new Map<PayloadClass, number>();
  const byNode = new Map(
    [...classes.byNode].map(([name, each]) => {
      const one = first.get(each.target.sha256) ?? each;
      first.set(each.target.sha256, one);
      nodes.set(one, (nodes.get(one) ?? 0) + 1);
      return [name, one];
    }),
  );
  return { ...classes, byNode, nodes };
}

/** The real planner's steps, and those that tell these nodes what their commit says, at once. */
const alsoTelling =
  (fits: (node: NodeView, pool: DesiredPool, fleet: Fleet) => boolean): Planner =>
  (desired, fleet, ...more) => {
    const planned = plan(desired, fleet, ...more);
    const touched = new Set(
      planned.steps.flatMap((step) => ('spec' in step && 'node' in step ? [step.node.metadata.name] : [])),
    );
    const steps = [...fleet.nodes.values()].flatMap((view): readonly Step[] => {
      const [name, node] = [poolOf(desired, view.name), fleet.kubeletNodes.get(view.name)];
      const pool = desired.pools.get(name ?? '');
      if (pool === undefined || node === undefined || touched.has(view.name) || !fits(view, pool, fleet)) return [];
      const config = configFor(desired, pool.name, view.name);
      if (config === null || node.spec?.configSource?.sha256 === config.sha256) return [];
      const configSource = { namespace: 'kubelet-gitops', ...config, uid: '', resourceVersion: '', key: PAYLOAD_KEY };
      return [{ step: 'assign', node, spec: { ...node.spec, pool: pool.name, configSource }, because: '' }];
    });
    return { ...planned, steps: [...planned.steps, ...steps] };
  };

const isCordoned = ({ cordoned }: NodeView): boolean => cordoned;
const isAway = ({ cordoned, ready }: NodeView): boolean => cordoned || !ready;

/** Changes what is written of every pool. */
const writing =
  (change: (status: KubeletPoolStatus) => KubeletPoolStatus): Planner =>
  (...all) => {
    const planned = plan(...all);
    const steps = planned.steps.map((step) =>
      step.step === 'write-pool-status' ? { ...step, status: change(step.status) } : step,
    );
    return { ...planned, steps };
  };

interface Breaker {
  readonly planner?: Planner;
  /** Believes the reconciler's clock, and no time of its own. */
  readonly ownTime?: MovingWorld['sim']['ownTime'];
  readonly events?: fc.Arbitrary<Happening>;
}

/** What is wrong, the laws that find it, and what does it. */
const BREAKERS: readonly (readonly [string, readonly string[], Breaker])[] = [
  ['ends waves by the nodes that can be asked', ['wave', 'settled'], { planner: blindTo(isAway) }],
  ['ends a step while the others are cordoned', ['wave', 'settled'], { planner: blindTo(isCordoned) }],
  ['settles while nobody else can be changed', ['settled'], { planner: settlingBy(isAway) }],
  ['takes the proof of one class for that of another', ['exposure'], { planner: byHashAlone }],
  [
    'believes a record that says that all waves are done',
    ['wave', 'exposure', 'former'],
    {
      events: forgeries,
      planner: alsoTelling((_, { name, config }, { pools }) => {
        const { rollout } = pools.get(name)?.status ?? {};
        return rollout?.finishedAt !== undefined && rollout.sha256 === config?.sha256;
      }),
    },
  ],
  ['believes its clock, which is put forward by hours', ['wave', 'settled'], { ownTime: (fleet) => fleet }],
  [
    'tells those that join what nobody has proven',
    ['wave', 'exposure'],
    { planner: alsoTelling(({ name }, _, { kubeletNodes }) => kubeletNodes.get(name)?.spec === undefined) },
  ],
  [
    'knows no canaries and no steps',
    ['wave'],
    { planner: rollingOutAs(({ canary: _, steps: __, ...rollout }) => rollout) },
  ],
  [
    'forgets maxUnavailable',
    ['maxUnavailable'],
    { planner: rollingOutAs((rollout) => ({ ...rollout, maxUnavailable: '100%' })) },
  ],
  ['forgets maxOnTrial', ['on trial'], { planner: rollingOutAs((rollout) => ({ ...rollout, maxOnTrial: '100%' })) }],
  [
    'takes only some classes back',
    ['reverted'],
    {
      planner: seeing(
        withPools((pool) => {
          const { settled } = pool.status ?? {};
          if (pool.status?.halt === undefined || settled?.classes === undefined) return pool;
          return { ...pool, status: { ...pool.status, settled: { ...settled, classes: settled.classes.slice(1) } } };
        }),
      ),
    },
  ],
  [
    'says that all are back when they are not',
    ['back'],
    {
      planner: writing(({ message = '', ...status }) => ({
        ...status,
        message: message.replace(/; \d+ of (\d+) nodes are back.*/, '; $1 of $1 nodes are back'),
      })),
    },
  ],
];

/** Laws are named at the beginning of what an assertion says. */
const lawIn = (error: unknown): string =>
  /^([a-z A-Z]+): /.exec(error instanceof Error ? error.message : '')?.[1] ?? '';

describe('a planner that breaks a law of proof', () => {
  for (const [what, laws, { planner = plan, ownTime, events = happenings }] of BREAKERS) {
    it(`is found where it ${what}`, (t) => {
      let worlds = 0;
      const stories = fc.property(settings, fc.array(events, { minLength: 150, maxLength: 150 }), (setting, story) => {
        worlds += 1;
        const world = new MovingWorld(setting);
        world.sim.planner = planner;
        if (ownTime !== undefined) world.sim.ownTime = ownTime;
        try {
          for (const event of story) world.happen(event);
          if (laws.includes('reverted')) {
            world.calm(10);
            checkReverted(world.ledger, world.sim.fleet);
          }
        } catch (error) {
          if (laws.includes(lawIn(error))) throw error;
        }
      });
      const found = fc.check(stories, { seed: SEED, numRuns: MOST_WORLDS, endOnFailure: true });
      t.diagnostic(`${worlds} worlds`);
      assert.ok(found.failed, `no world was found in which the law does not hold`);
    });
  }
});
