import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { type Budgets, budgetsOf } from '#reconciler/policy/rollout/max-unavailable.ts';
import type { Hold } from '#reconciler/policy/rollout/holds/hold.ts';
import {
  type Member,
  memberOf,
  probationIn,
  soakOf,
  targetOf,
  type SkippedNode,
} from '#reconciler/policy/rollout/membership.ts';
import { poolProof } from '#reconciler/policy/rollout/pool-proof.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Amount, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  commit,
  COMMIT_B,
  fleetOf,
  nodeView,
  NOW,
  poolSpec,
  settledNode,
  settledOn,
  validPool,
} from '../../../../support/fleet.ts';

export const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
export const SERVER = { pool: 'workers', 'node-role.kubernetes.io/control-plane': '' };
export const ZONE = 'topology.kubernetes.io/zone';

/** Nodes of a kind: how many, and what is so of them. */
export interface Kind {
  readonly count: number;
  readonly view?: Partial<NodeView>;
  readonly is?: (node: NodeView) => KubeletNode;
  readonly joining?: true;
  /** What they took back was forgiven. */
  readonly forgive?: true;
  /** They are there, and nobody asks for a place for them. */
  readonly asks?: false;
  /** Their Nodes are gone, and only their KubeletNodes are left. */
  readonly gone?: true;
}

interface More {
  readonly bounds?: readonly (Amount | null)[];
  /** Nodes of the control plane that nobody may touch, and whether they are changing. */
  readonly untouchable?: boolean;
  /** The pool has proven the payload already. */
  readonly proved?: true;
}

/** How many of the nodes that ask get a place, and what the first one that gets none is told. */
function places(
  kinds: Row[1],
  rollout: Partial<RolloutSpec>,
  { bounds = [null], untouchable, proved }: More,
  ask: (budgets: Budgets) => (member: Member) => Hold | null,
) {
  const pool = validPool('workers', 120, { rollout: { ...poolSpec().rollout, ...rollout } });
  const desired = desiredState(commit(COMMIT_B, pool), fleetOf({}), () => []).pools.get('workers') ?? null;
  const all = kinds
    .map((kind) => (typeof kind === 'number' ? { count: kind } : kind))
    .flatMap(
      (
        {
          count,
          view = {},
          is = (node) => settledNode(node, OLD),
          joining = false,
          forgive = false,
          asks = true,
          gone,
        },
        kind,
      ) =>
        Array.from({ length: count }, (_, index) => {
          const node = nodeView(`n${kind}-${index}`, 'workers', view);
          const member: Member = {
            ...memberOf(node, is(node), targetOf(desired), soakOf(desired), NOW, undefined, probationIn(desired)),
            joining,
            forgive,
          };
          return { member, asks, isGone: gone === true };
        }),
    );
  const members = all.filter(({ isGone }) => !isGone).map(({ member }) => member);
  const fleet = fleetOf({
    nodes: members.map(({ node }) => node),
    kubeletNodes: all.flatMap(({ member: { kubeletNode } }) => (kubeletNode === undefined ? [] : [kubeletNode])),
  });
  const opted: readonly SkippedNode[] =
    untouchable === undefined
      ? []
      : [
          {
            node: nodeView('x', '', { labels: SERVER }),
            choice: { choice: 'opted-out', because: '' },
            changing: untouchable,
          },
        ];
  const status = proved === true ? settledOn(NEXT) : {};
  const proof = poolProof({ pool: desired, members }, { status, isOwn: true }, NOW);
  const group = { pool: desired, members, proof };
  const budgets = budgetsOf([group], opted, fleet, bounds, NOW);
  const answers = all
    .filter(({ asks }) => asks)
    .map(({ member }) =>
      ask({
        ...budgets,
        take: (_, aimed) => budgets.take(group, aimed),
        resume: (_, aimed) => budgets.resume(group, aimed),
        expose: (_, each) => budgets.expose(group, each),
        admit: (_, each) => budgets.admit(group, each),
      })(member),
    );
  const held = answers.find((answer) => answer !== null);
  return [answers.filter((answer) => answer === null).length, answers.length, held?.hold, held?.because ?? ''] as const;
}

/** Kinds of nodes, or how many that settled on another config, and how many get a place. */
export type Row = readonly [
  string,
  kinds: readonly (Kind | number)[],
  rollout: Partial<RolloutSpec>,
  /** How many, and what holds the first that gets none, where that is not `budget`. */
  given: number | `${number} ${string}`,
  because?: RegExp,
  more?: More,
];
/** Other nodes, for which nobody asks for a place. */
export const beside = (count: number, what: Omit<Kind, 'count' | 'asks'>): Kind => ({ count, ...what, asks: false });
/** So many nodes of the control plane that ask. */
export const servers = (count: number): Kind => ({ count, view: { labels: SERVER } });
export const many = (maxUnavailable: Amount, more: Partial<RolloutSpec> = {}): Partial<RolloutSpec> => ({
  maxUnavailable,
  ...more,
});
/** What most of the pools in the tables allow. */
export const TWO: Partial<RolloutSpec> = { maxUnavailable: 2 };
export const onTrial = (node: NodeView) => assignedNode(node, NEXT, { phase: 'Trial' });
/** As an agent says it that has seen it healthy for so long; of the pool's usual payload. */
export const onTrialFor =
  (healthySeconds: number, pool = NEXT) =>
  (node: NodeView) =>
    assignedNode(node, pool, {
      phase: 'Trial',
      active: { name: pool.configName, sha256: pool.sha256, apply: 'overlay' },
      trial: { config: pool.configName, since: '', healthySeconds, durationSeconds: 150, restarts: 0 },
    });
/** Gives places back when a minute is over. */
export const MINUTE_LONG: Partial<RolloutSpec> = { probation: '1m' };
/** The same, where two may be unavailable. */
export const PACED = many(2, MINUTE_LONG);
/** One past its probation. */
export const past = (more: Partial<Kind> = {}): Kind => beside(1, { is: onTrialFor(60), ...more });
export const soaking = (node: NodeView) => settledNode(node, NEXT, { promotedAt: toTimestamp(NOW) });
export const SOAKS = { soak: '10m' };
export const drainedForIt = { cordoned: true, drain: { config: NEXT.configName, at: NOW } };
export const NONE = { pool: null, members: [] };

/** A table of what nodes ask for: how many get it, and what the first one that does not is told. */
export function describePlaces(
  title: string,
  rows: readonly Row[],
  ask: (budgets: Budgets) => (member: Member) => Hold | null,
): void {
  describe(title, () => {
    for (const [name, kinds, rollout, given, because = /^/, more = {}] of rows) {
      const [count, hold = 'budget'] = String(given).split(' ');
      it(name, () => {
        const [got, asked, reason, said] = places(kinds, rollout, more, ask);
        assert.deepEqual([String(got), reason], [count, got < asked ? hold : undefined]);
        assert.match(said, because);
      });
    }
  });
}
