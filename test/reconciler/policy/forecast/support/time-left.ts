import type { NodeView } from '#reconciler/policy/fleet.ts';
import { type RemainingTime, remainingTimeOf } from '#reconciler/policy/forecast/remaining-time.ts';
import type { MemberDecision, NodeVerdict } from '#reconciler/policy/rollout/decide-group.ts';
import { type Member, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type { GroupPlan } from '#reconciler/policy/plan-nodes.ts';
import type { PayloadClass } from '#reconciler/policy/payload-classes.ts';
import type { KubeletNode, KubeletNodeStatus, TrialSpec } from '#shared/contract/api/kubelet-node.ts';
import type { RolloutSpec, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  desiredPool,
  failedNode,
  idleNode,
  nodeView,
  NOW,
  poolSpec,
  settledNode,
  validPool,
} from '../../../../support/fleet.ts';

/** Nodes of a pool in the middle of a rollout, and the time that is left of it. A trial takes ten minutes, after the canaries three; a probation one. */

const POOL = validPool('workers', 120);
const PROBATION_MS = 60_000;
const ROLLOUT: RolloutSpec = { ...poolSpec().rollout, probation: '60s', maxUnavailable: '100%' };

/** A node, with what its agent says. */
export interface Worker {
  readonly says: (node: NodeView) => KubeletNode | undefined;
  readonly view?: Partial<NodeView>;
  /** It is no node of the pool any more. */
  readonly leaves?: true;
  readonly payloadClass?: PayloadClass;
}

const ago = (seconds: number): string => toTimestamp(NOW - seconds * 1_000);
type Trial = NonNullable<KubeletNodeStatus['trial']>;

/** Has yet to be told. */
export const waits = (view: Partial<NodeView> = {}): Worker => ({ says: (node) => idleNode(node), view });
/** Proved it an hour ago. */
export const settled = (view: Partial<NodeView> = {}): Worker => ({ says: (node) => settledNode(node, POOL), view });
export const failed = (): Worker => ({ says: (node) => failedNode(node, POOL) });
export const withoutAgent = (view: Partial<NodeView> = {}): Worker => ({ says: () => undefined, view });
/** Was told, with such a trial, and has yet to begin. */
export const told = (trial: Partial<TrialSpec> | null, status: Partial<KubeletNodeStatus> = {}): Worker => ({
  says: (node) => {
    const { spec, ...rest } = assignedNode(node, POOL, status);
    const { trial: usual, ...others } = spec ?? {};
    return {
      ...rest,
      spec: trial === null || usual === undefined ? others : { ...others, trial: { ...usual, ...trial } },
    };
  },
});
/** Began so long ago; its trial takes five minutes. */
export const tries = (secondsAgo: number, trial: Partial<Trial> = {}, view: Partial<NodeView> = {}): Worker => {
  const { configName: config } = POOL;
  const usual = { config, since: ago(secondsAgo), healthySeconds: 0, durationSeconds: 300, restarts: 0 };
  return { says: (node) => assignedNode(node, POOL, { phase: 'Trial', trial: { ...usual, ...trial } }), view };
};
/** Runs and has proven the config; the object that says what it was told was lost. */
export const runsIt = (): Worker => ({
  says: (node) => {
    const { spec: _, ...rest } = settledNode(node, POOL);
    return rest;
  },
});

/** All that is not usual about a rollout. */
export interface Situation {
  readonly rollout?: Partial<RolloutSpec>;
  readonly waves?: readonly WaveStatus[];
  /** What was decided for the first nodes. */
  readonly verdicts?: readonly NodeVerdict[];
  /** How many may be on trial: Infinity unless it says otherwise, as if the pool had settled on the config before; null where nobody knows. */
  readonly allowed?: number | null;
  /** Nobody knows the pool. */
  readonly isUnknown?: true;
}

export function timeLeft(workers: readonly Worker[], situation: Situation = {}): RemainingTime | null {
  const rollout = { ...ROLLOUT, ...situation.rollout };
  const pool = desiredPool({ ...POOL, spec: { ...POOL.spec, rollout } });
  const members = workers.map(({ says, view, leaves, payloadClass }, index): Member => {
    const node = nodeView(`n${index}`, 'workers', view);
    const target = leaves === true ? null : targetOf(pool);
    return memberOf(node, says(node), target, 0, NOW, payloadClass, PROBATION_MS);
  });
  const { configName, sha256 } = POOL;
  const { waves = [], verdicts = [], allowed = Infinity } = situation;
  const plan: GroupPlan = {
    group: { pool: situation.isUnknown === true ? null : pool, members },
    memory: {
      halt: null,
      released: null,
      settled: null,
      proof: null,
      rollout: { configName, sha256, startedAt: ago(3_600), waves },
    },
    decisions: members.flatMap((member, index): MemberDecision[] => {
      const verdict = verdicts[index];
      return verdict === undefined ? [] : [{ member, aimed: { member, targetKind: 'config', configName }, verdict }];
    }),
  };
  return remainingTimeOf(plan, allowed === null ? undefined : { allowed }, Infinity, NOW);
}

/** In seconds: with the usual restarts, quick and slow ones. */
export type Seconds = readonly [expected: number, quick: number, slow: number];

export const time = ([expected, quick, slow]: Seconds): RemainingTime => ({
  is: 'time',
  expectedMs: expected * 1_000,
  quickMs: quick * 1_000,
  slowMs: slow * 1_000,
});
