import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import type { Desired, DesiredPool } from '#reconciler/policy/desired.ts';
import { withoutClockSkew } from '#reconciler/policy/first-seen/clock-skew.ts';
import type { Fleet, NodeView } from '#reconciler/policy/fleet.ts';
import type { PayloadClass, PoolClasses } from '#reconciler/policy/payload-classes.ts';
import { plan } from '#reconciler/policy/plan.ts';
import { NO_SIGNALS } from '#reconciler/policy/signals.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { approvalValue, awaitedApprovals } from '#shared/contract/api/approval.ts';
import { APPROVE_ANNOTATION, PAYLOAD_KEY } from '#shared/contract/api/group.ts';
import type { KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { shareOf } from '../../support/proof/arithmetic.ts';
import { kindOf } from '../../support/proof/machine-pools.ts';
import { MovingWorld } from '../../support/proof/moving-world.ts';
import { forgeries, type Happening, happenings, type Setting, settings } from '../../support/proof/world-events.ts';
import { type Planner, rollingOutAs, seeing, without, withPools } from './support/broken-planners.ts';

const MOST_WORLDS = 100;
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

/** The real planner, whose steps ask for no more nodes than can be asked just then. */
const shrinkingTo =
  (isAble: (node: NodeView) => boolean): Planner =>
  (desired, fleet, ...more) => {
    const pools = [...desired.pools].map(([name, pool]): readonly [string, DesiredPool] => {
      const { rollout } = pool.spec;
      const members = [...fleet.nodes.values()].filter((node) => poolOf(desired, node.name) === name);
      const able = members.filter(
        (node) =>
          isAble(node) ||
          fleet.kubeletNodes.get(node.name)?.spec?.configSource?.sha256 === configFor(desired, name, node.name)?.sha256,
      ).length;
      const steps = rollout.steps?.map((step) => ({
        ...step,
        nodes: Math.max(1, Math.min(able, shareOf(step.nodes, members.length))),
      }));
      return [name, { ...pool, spec: { ...pool.spec, rollout: { ...rollout, ...(steps && { steps }) } } }];
    });
    return plan({ ...desired, pools: new Map(pools) }, fleet, ...more);
  };

/** The real planner, which settles as soon as nobody else can be changed. */
const settlingBy =
  (isAway: (node: NodeView) => boolean): Planner =>
  (desired, fleet, settings, now, asked) => {
    const signals = asked ?? NO_SIGNALS;
    const isOver = ({ name }: DesiredPool): boolean =>
      [...fleet.nodes.values()].every((node) => {
        const told = fleet.kubeletNodes.get(node.name)?.spec?.configSource?.sha256;
        return (
          poolOf(desired, node.name) !== name || isAway(node) || told === configFor(desired, name, node.name)?.sha256
        );
      });
    const over = new Set([...desired.pools.values()].filter(isOver).map(({ name }) => name));
    const records = new Map(
      [...(signals.records ?? [])].map(([name, own]) => [
        name,
        over.has(name) ? { ...own, status: done(own.status) } : own,
      ]),
    );
    return plan(
      desired,
      withPools((pool) => (over.has(pool.metadata.name) ? { ...pool, status: done(pool.status) } : pool))(fleet),
      settings,
      now,
      { ...signals, records },
    );
  };

function done(status: KubeletPoolStatus = {}): KubeletPoolStatus {
  const { rollout, proof } = status;
  if (rollout === undefined || proof === undefined) return status;
  const proven = proof.classes.map((each) => ({
    ...each,
    ...(each.current === undefined ? {} : { proven: each.current }),
  }));
  const at = rollout.startedAt;
  const waves = rollout.waves.map((wave) => ({ ...wave, state: 'done' as const, startedAt: at, doneAt: at }));
  return { ...status, rollout: { ...rollout, waves, finishedAt: at }, proof: { ...proof, classes: proven } };
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

const isAway = ({ cordoned, ready }: NodeView): boolean => cordoned || !ready;

/** Changes what is written of every pool. */
const writing =
  (change: (status: KubeletPoolStatus) => KubeletPoolStatus, planner: Planner = plan): Planner =>
  (...all) => {
    const planned = planner(...all);
    const steps = planned.steps.map((step) =>
      step.step === 'write-pool-status' ? { ...step, status: change(step.status) } : step,
    );
    return { ...planned, steps };
  };

/** A step that was done for a few nodes is remembered as one of all. */
function withLargeSteps({ rollout, ...status }: KubeletPoolStatus): KubeletPoolStatus {
  if (rollout === undefined) return status;
  const waves = rollout.waves.map((wave) => (wave.name.startsWith('step ') ? { ...wave, nodes: 99 } : wave));
  return { ...status, rollout: { ...rollout, waves } };
}

type OwnTime = MovingWorld['sim']['ownTime'];

/** Compares what others wrote with the reconciler's clock, whatever that was put to since. */
const byDates: OwnTime = (fleet, sights) => {
  const own = withoutClockSkew(fleet, sights);
  const nodes = new Map(
    [...own.nodes].map(([name, node]) => [name, { ...node, readySince: fleet.nodes.get(name)?.readySince ?? 0 }]),
  );
  const kubeletNodes = new Map(
    [...own.kubeletNodes].map(([name, node]) => {
      const { promotedAt = null } = fleet.kubeletNodes.get(name)?.status ?? {};
      return [name, { ...node, status: { ...node.status, promotedAt } }];
    }),
  );
  return { ...own, nodes, kubeletNodes };
};

/** Pools with classes of machines that take back what fails, and a version of which one class dies, or none. */
const inClasses = (setting: Setting): Setting => ({
  ...setting,
  settled: true,
  pools: setting.pools.map(({ rollout }) => ({
    isComputed: true,
    rollout: { ...rollout, onFailure: { ...rollout.onFailure, action: 'revert' } },
  })),
});
/** One pool whose step soaks. */
const inSteps = (setting: Setting): Setting => ({
  ...setting,
  settled: true,
  pools: [
    {
      isComputed: false,
      rollout: {
        maxUnavailable: 5,
        soak: '0s',
        canary: { nodes: 1 },
        steps: [{ nodes: 3, soak: '30m' }],
        onFailure: { threshold: 1, action: 'halt' },
      },
    },
  ],
});
/** One pool whose canary and whose step wait for a person. */
const withPauses = (setting: Setting): Setting => {
  const [only] = inSteps(setting).pools;
  if (only === undefined) return setting;
  const rollout = { ...only.rollout, canary: { nodes: 1, pause: true }, steps: [{ nodes: 3, pause: true }] };
  return { ...setting, settled: true, pools: [{ ...only, rollout }] };
};
/** Whatever somebody approved once, they approve now. */
const approvedAnyhow = (pool: KubeletPool): KubeletPool => {
  const { annotations = {} } = pool.metadata;
  const [asked] = awaitedApprovals(pool.status);
  if (asked === undefined || annotations[APPROVE_ANNOTATION] === undefined) return pool;
  const said = { ...annotations, [APPROVE_ANNOTATION]: approvalValue(asked) };
  return { ...pool, metadata: { ...pool.metadata, annotations: said } };
};
const cordons = [
  { event: 'blip', pool: 0, what: 'cordon' },
  { event: 'blip', pool: 0, what: 'uncordon' },
] as const;
const commits = (table: number): readonly Happening[] => [0, 1, 2].map((pool) => ({ event: 'commit', pool, table }));

interface Breaker {
  readonly planner?: Planner;
  readonly ownTime?: OwnTime;
  readonly change?: (setting: Setting) => Setting;
  /** What statuses say is not looked at. */
  readonly byWritesAlone?: true;
  /** Happens at first. */
  readonly first?: readonly Happening[];
  /** How much more. */
  readonly length?: number;
  readonly events?: fc.Arbitrary<Happening>;
}

/** What is wrong, the laws that find it, and what does it. */
const BREAKERS: readonly (readonly [string, readonly string[], Breaker])[] = [
  ['ends waves by the nodes that can be asked', ['wave', 'former'], { planner: blindTo(isAway), byWritesAlone: true }],
  [
    'ends a step while the others are cordoned, and does not know it again by its size',
    ['wave'],
    {
      planner: writing(
        withLargeSteps,
        shrinkingTo(({ cordoned }) => !cordoned),
      ),
      change: inSteps,
      first: commits(3),
      events: fc.oneof(
        { weight: 4, arbitrary: fc.constant<Happening>({ event: 'time', minutes: 10, who: 'all' }) },
        { weight: 1, arbitrary: fc.constantFrom<Happening[]>(...cordons) },
      ),
      length: 60,
    },
  ],
  ['settles while nobody else can be changed', ['settled'], { planner: settlingBy(isAway) }],
  [
    'does so, and gives it to those that join',
    ['wave', 'former'],
    { planner: settlingBy(isAway), byWritesAlone: true },
  ],
  [
    'takes the proof of one class for that of another',
    ['exposure'],
    { planner: byHashAlone, change: inClasses, first: commits(3), length: 40 },
  ],
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
  ['believes its clock, which is put forward by hours', ['wave'], { ownTime: byDates, byWritesAlone: true }],
  [
    'tells those that join what nobody has proven',
    ['wave', 'exposure'],
    { planner: alsoTelling(({ name }, _, { kubeletNodes }) => kubeletNodes.get(name)?.spec === undefined) },
  ],
  [
    'takes what a node of its class has promoted for what its class has proven',
    ['wave'],
    {
      planner: alsoTelling(({ name }, pool, { kubeletNodes }) => {
        if (pool.classes !== undefined || kubeletNodes.get(name)?.spec?.pool !== pool.name) return false;
        return [...kubeletNodes.values()].some(
          ({ spec, status }) => spec?.pool === pool.name && status?.lastKnownGood?.sha256 === pool.config?.sha256,
        );
      }),
      change: inSteps,
      first: commits(3),
    },
  ],
  [
    'knows no canaries and no steps',
    ['wave'],
    { planner: rollingOutAs((rollout) => without(rollout, 'canary', 'steps')) },
  ],
  [
    'goes on after a pause without a person',
    ['wave'],
    {
      planner: rollingOutAs(({ canary, steps, ...rollout }) => ({
        ...rollout,
        ...(canary && { canary: { ...canary, pause: false } }),
        ...(steps && { steps: steps.map((step) => ({ ...step, pause: false })) }),
      })),
      change: withPauses,
      first: commits(3),
    },
  ],
  [
    'takes an approval of one payload for that of another',
    ['wave'],
    {
      planner: seeing(withPools(approvedAnyhow)),
      change: withPauses,
      first: commits(3),
      events: fc.oneof(
        { weight: 8, arbitrary: fc.constant<Happening>({ event: 'time', minutes: 10, who: 'all' }) },
        {
          weight: 1,
          arbitrary: fc.constantFrom<Happening[]>({ event: 'approve', pool: 0 }, ...commits(4).slice(0, 1)),
        },
      ),
      length: 60,
    },
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
      change: inClasses,
      first: commits(4),
      length: 12,
      planner: (desired, fleet, ...more) => {
        const planned = plan(desired, fleet, ...more);
        const isLeft = (step: Step): boolean => {
          if (step.step !== 'assign') return false;
          const isHalted = planned.pools.get(step.spec.pool ?? '')?.phase === 'Halted';
          const node = fleet.nodes.get(step.node.metadata.name);
          return isHalted && node !== undefined && kindOf(node) === 0;
        };
        return { ...planned, steps: planned.steps.filter((step) => !isLeft(step)) };
      },
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
  for (const [what, laws, breaker] of BREAKERS) {
    const { planner = plan, ownTime, events = happenings, change, first = [], length = 150 } = breaker;
    it(`is found where it ${what}`, (t) => {
      let worlds = 0;
      const stories = fc.property(
        settings,
        fc.array(events, { minLength: length, maxLength: length }),
        (setting, story) => {
          worlds += 1;
          const world = new MovingWorld(change?.(setting) ?? setting, { readsClaims: breaker.byWritesAlone !== true });
          world.sim.planner = planner;
          if (ownTime !== undefined) world.sim.ownTime = ownTime;
          try {
            for (const event of [...first, ...story]) world.happen(event);
            if (laws.includes('reverted')) world.checkRevert('with a witness');
          } catch (error) {
            if (laws.includes(lawIn(error))) throw error;
          }
        },
      );
      const found = fc.check(stories, { seed: SEED, numRuns: MOST_WORLDS, endOnFailure: true });
      t.diagnostic(`${worlds} worlds`);
      const { errorInstance } = found;
      const why = `no world was found in which the law does not hold: ${String(errorInstance)}`;
      assert.ok(found.failed && laws.includes(lawIn(errorInstance)), why);
    });
  }
});
