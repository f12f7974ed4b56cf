import { policyOf } from '#reconciler/policy/cluster-policy.ts';
import type { GroupFacts, HoldQuestion } from '#reconciler/policy/rollout/holds/hold-question.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Group, memberOf } from '#reconciler/policy/rollout/membership.ts';
import { NO_PROOF } from '#reconciler/policy/proof/record.ts';
import type { WaveProgress } from '#reconciler/policy/rollout/wave-progress.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPoolSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  COMMIT_A,
  nodeView,
  NOW,
  poolInCluster,
  poolSpec,
  validPool,
} from '../../../../support/fleet.ts';

const POOL = validPool('workers', 110);
const TARGET = { sha256: POOL.sha256, apply: POOL.spec.apply };
const { rollout: ROLLOUT } = poolSpec();
export const BLOCKERS = { pods: { selector: {} } };

export const NODE = nodeView('n1', 'workers');
export const HALT = {
  config: POOL.configName,
  sha256: POOL.sha256,
  at: '2026-11-21T12:00:00Z',
  message: 'n2 failed',
  action: 'halt',
} as const;
export const CLOSED = { open: false, because: 'closed until Monday', changesAt: null };
export const WAVES: WaveProgress = {
  waves: [],
  current: { name: 'canary', nodes: 1, soakMs: 0 },
  room: 0,
  pause: null,
  unwritten: null,
  because: 'n2 is on trial',
  classes: [],
};

/** Of a class whose canaries are at it. */
export const CLASS_ROOM: NonNullable<HoldQuestion['classLimit']> = {
  payloadClass: { name: 'memory=16Gi', config: null, target: TARGET, because: '' },
  room: 0,
  because: 'its class waits',
};

export interface Asked {
  readonly spec?: Partial<KubeletPoolSpec>;
  readonly rollout?: Partial<RolloutSpec>;
  readonly aimed?: Partial<HoldQuestion['targeted']>;
  readonly member?: Partial<HoldQuestion['targeted']['member']>;
  readonly facts?: Partial<GroupFacts>;
  readonly room?: number;
  readonly classRoom?: HoldQuestion['classLimit'];
  readonly leaving?: true;
}

/** A node that nothing holds, and what is different about it. */
export function question({
  spec,
  rollout,
  aimed,
  member: more,
  facts,
  room = 1,
  classRoom,
  leaving,
}: Asked = {}): HoldQuestion {
  const pool = {
    name: 'workers',
    origin: 'rendered',
    spec: poolSpec({ ...spec, rollout: { ...ROLLOUT, ...rollout } }),
    config: { name: POOL.configName, sha256: POOL.sha256 },
    commit: COMMIT_A,
    findings: [],
  } as const;
  return {
    targeted: {
      member: {
        ...memberOf(NODE, assignedNode(NODE, POOL), TARGET, 0, NOW),
        lifecycle: LIFECYCLE.outdated,
        isAssigned: false,
        ...more,
      },
      targetKind: 'config',
      configName: POOL.configName,
      ...aimed,
    },
    facts: {
      group: { pool: leaving === undefined ? pool : null, members: [] },
      now: NOW,
      present: undefined,
      policy: policyOf(DEFAULT_CLUSTER),
      windows: { open: true, because: 'open', changesAt: null },
      blockers: undefined,
      halt: null,
      waves: null,
      analysis: undefined,
      cohort: new Set(['n1']),
      refusedBases: new Map([['b', 'n2']]),
      unselected: new Map(),
      isAvailable: () => true,
      ...facts,
    },
    room,
    classLimit: classRoom,
  };
}

/** Its class has proven whatever it is asked about. */
export const PROVEN_GROUP: Group = { pool: null, members: [], proof: { ...NO_PROOF, isProven: () => true } };

/** A wave in this state. */
export const under = (state: 'rolling' | 'waiting', startedAt?: string): GroupFacts['waves'] => ({
  ...WAVES,
  waves: [{ name: 'canary', state, nodes: 1, ...(startedAt === undefined ? {} : { startedAt }) }],
});
export const REVERT = { ...HALT, action: 'revert' } as const;
export const FINISH = { allow: [], deny: [], overrun: 'finish-wave' } as const;
export const BUSY = { quiet: true, because: 'quiet', busy: new Map([['n1', 'pod a runs here']]) };

/** The pool with this reason in its annotation. */
export function annotated(because: string): GroupFacts['present'] {
  const pool = poolInCluster(POOL);
  return { ...pool, metadata: { ...pool.metadata, annotations: { [SUSPEND_ANNOTATION]: because } } };
}
