import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { TargetKind } from '#reconciler/policy/rollout/targets.ts';
import { budgetsOf } from '#reconciler/policy/rollout/max-unavailable.ts';
import { decideGroup, type NodeVerdict } from '#reconciler/policy/rollout/decide-group.ts';
import { hold } from '#reconciler/policy/rollout/holds/hold.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf, targetOf } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import {
  assignedNode,
  desiredPool,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  poolSpec,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';
import { question, WAVES } from './support/hold-question.ts';

const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];

/** Nodes of a kind: how many, what is so of them, and what a change of them takes. */
interface Kind {
  readonly count?: number;
  readonly view?: Partial<NodeView>;
  readonly is?: (node: NodeView) => KubeletNode;
  readonly member?: Partial<Member>;
  readonly targetKind?: TargetKind;
  readonly disruption?: NodeVerdict;
  readonly lockOut?: NodeVerdict;
}

interface Case {
  readonly kinds: readonly Kind[];
  readonly maxUnavailable?: Amount;
  /** How many more the wave lets begin; without waves where it is absent. */
  readonly room?: number;
  readonly notReadyNodes?: 'change';
}

/** What is decided for each node, in the order of the kinds. */
function decided({ kinds, maxUnavailable = 20, room, ...own }: Case): readonly string[] {
  const pool = validPool('workers', 120, { rollout: { ...poolSpec().rollout, maxUnavailable, ...own } });
  const desired = desiredPool(pool);
  const all = kinds.flatMap(({ count = 1, view = {}, is = (node) => settledNode(node, OLD), ...kind }, index) =>
    Array.from({ length: count }, (_, each) => {
      const node = nodeView(`n${index}-${String(each).padStart(2, '0')}`, 'workers', view);
      const member: Member = { ...memberOf(node, is(node), targetOf(desired), 0, NOW), ...kind.member };
      const aimed = { member, targetKind: kind.targetKind ?? 'config', configName: NEXT.configName } as const;
      return { aimed, kind };
    }),
  );
  const members = all.map(({ aimed }) => aimed.member);
  const kindOf = new Map(all.map(({ aimed, kind }) => [aimed.member.node.name, kind]));
  const fleet = fleetOf({
    nodes: members.map(({ node }) => node),
    kubeletNodes: members.flatMap(({ kubeletNode }) => kubeletNode ?? []),
    pools: [poolInCluster(OLD)],
  });
  const group = { pool: desired, members };
  const decisions = decideGroup(
    {
      ...question().facts,
      group,
      targets: all.map(({ aimed }) => aimed),
      cohort: new Set(kindOf.keys()),
      waves: room === undefined ? null : { ...WAVES, room },
      disruption: ({ member }) => kindOf.get(member.node.name)?.disruption ?? null,
      lockOut: ({ member }) => kindOf.get(member.node.name)?.lockOut ?? null,
    },
    budgetsOf([group], [], fleet, [null], NOW),
  );
  const said = new Map(decisions.map(({ member, verdict }) => [member.node.name, inWords(verdict)]));
  return members.map(({ node }) => said.get(node.name) ?? 'nothing');
}

function inWords(verdict: NodeVerdict): string {
  if (verdict.verdict === 'hold') return `hold ${verdict.hold}`;
  return verdict.verdict === 'drain' ? `drain ${verdict.stage}` : verdict.verdict;
}

const onTrial = (node: NodeView): KubeletNode => assignedNode(node, NEXT, { phase: 'Trial' });
/** In the middle of the change before. */
const between = (node: NodeView): KubeletNode => assignedNode(node, OLD, { phase: 'Trial' });
const held = { verdict: 'hold', ...hold('lock-out', 'there is no room') } as const;
const drain = (stage: 'count' | 'cordon' | 'evict'): NodeVerdict => ({ verdict: 'drain', stage, because: '' });
const reboot: NodeVerdict = {
  verdict: 'change',
  because: '',
  reboot: { by: 'systemd', boot: 'b', timeout: '1h' },
};
const drained = { cordoned: true, drain: { config: NEXT.configName, at: NOW } };

const GAVE_BACK = { lifecycle: LIFECYCLE.supersededOnTrial };
const JOINER = { is: idleNode, member: { joining: true }, targetKind: 'settled' } as const;
const [ONE, PAIR, ROOM] = [{ maxUnavailable: 1 }, { maxUnavailable: 2 }, { room: 1 }];

const AWAY: Kind = { view: { ready: false } };
const CHANGES_AWAY = { notReadyNodes: 'change', room: 2 } as const;

const ROWS: readonly (readonly [string, readonly Kind[], decided: string, Omit<Case, 'kinds'>?])[] = [
  [
    'tells a node in the middle of a change something newer in the place that it has',
    [{ count: 2, is: between }],
    'change, change',
    PAIR,
  ],
  [
    'has a node take a place again that gave it back after its probation',
    [{ count: 3, is: between, member: GAVE_BACK }],
    'change, change, hold budget',
    PAIR,
  ],
  [
    'has it wait behind those that have their places still',
    [{ is: between, member: GAVE_BACK }, { is: between }],
    'hold budget, change',
    ONE,
  ],
  [
    'has it take one for the way back as well',
    [{ count: 2, is: between, member: GAVE_BACK, targetKind: 'settled' }],
    'change, hold budget',
    ONE,
  ],
  ['holds a node without an agent', [{ member: { lifecycle: LIFECYCLE.silent } }], 'hold no-agent'],
  ['leaves alone what is done', [{ is: (node) => settledNode(node, NEXT) }], 'rest'],
  [
    'lets no node that is not Ready be a canary in the stead of one that waits for a place in change',
    [{ is: between, targetKind: 'settled' }, { count: 2 }, AWAY],
    'change, hold budget, hold budget, hold wave',
    { ...CHANGES_AWAY, maxUnavailable: 2 },
  ],
  [
    'has one that is not Ready try the config where no place comes back by itself',
    [{ view: { cordoned: true } }, { count: 2 }, AWAY],
    'hold cordoned, hold budget, hold budget, change',
    { ...CHANGES_AWAY, maxUnavailable: 2 },
  ],
  [
    'has it begin beside a Ready one that takes the last place',
    [{ count: 1 }, AWAY],
    'change, change',
    { ...CHANGES_AWAY, maxUnavailable: 2 },
  ],
  ['lets as many begin as its wave has room for', [{ count: 3 }], 'change, change, hold wave', { room: 2 }],
  [
    'counts a node whose pods leave for its wave as one that begins',
    [{ disruption: drain('cordon') }, {}],
    'drain cordon, hold wave',
    ROOM,
  ],
  [
    'gives no room of a wave to a node that runs the config already',
    [{ is: idleNode, member: { runsTarget: true } }, {}],
    'change, change',
    ROOM,
  ],
  [
    'gives no room of a wave to a node that was told the config already',
    [{ member: { isAssigned: true } }, {}],
    'change, change',
    ROOM,
  ],
  ['gives no room of a wave to a node that goes back', [{ targetKind: 'settled' }, {}], 'change, change', ROOM],
  [
    'gives no room of a wave to a node that is held',
    [{ lockOut: held }, { disruption: held }, {}],
    'hold lock-out, hold lock-out, change',
    ROOM,
  ],
  [
    'gives no room of a wave to a node in the middle of a change that is held',
    [{ is: between, lockOut: held }, {}],
    'hold lock-out, change',
    ROOM,
  ],
  ['gives no room of a wave to a new node', [{ ...JOINER }, {}], 'change, change', ROOM],
  ['holds a new node whose config leaves too little for its pods', [{ ...JOINER, lockOut: held }], 'hold lock-out'],
  [
    'lets ten of a few new nodes begin at a time',
    [{ count: 12, ...JOINER }],
    `${'change, '.repeat(10)}hold budget, hold budget`,
  ],
  [
    'shows what is not proven to no more nodes in the middle of a change than may try it',
    [{ count: 3, is: between }],
    'change, change, hold budget',
    PAIR,
  ],
  [
    'takes back from however many are in the middle of a change',
    [{ is: onTrial }, { count: 3, is: between, targetKind: 'settled' }],
    'rest, change, change, change',
    ONE,
  ],
  ['counts the pods of a node in the middle of a change', [{ is: between, disruption: drain('count') }], 'drain count'],
  [
    'drains no node in the middle of a change, and reboots none',
    [
      { is: between, disruption: drain('cordon') },
      { is: between, disruption: reboot },
    ],
    'hold disruption, hold disruption',
  ],
  [
    'goes on with a drain though others try what is not proven',
    [{ is: onTrial }, { view: drained, disruption: drain('evict') }],
    'rest, drain evict',
    ONE,
  ],
  [
    'holds a node that was drained while others try what is not proven',
    [{ is: onTrial }, { view: drained }],
    'rest, hold budget',
    ONE,
  ],
  [
    'holds one that is rebooted for it as well',
    [{ is: onTrial }, { view: drained, disruption: reboot }],
    'rest, hold budget',
    ONE,
  ],
  [
    'drains none for it that was drained for something else',
    [{ is: onTrial }, { view: { ...drained, drain: { config: 'x', at: NOW } }, disruption: drain('cordon') }],
    'rest, hold budget',
    ONE,
  ],
  [
    'shows it to no drained one either that gave its place back after its probation',
    [{ is: onTrial }, { is: between, view: drained, member: GAVE_BACK }],
    'rest, hold budget',
    ONE,
  ],
  [
    'takes back from a node that was drained though others try what is not proven',
    [{ is: onTrial }, { view: drained, targetKind: 'settled' }],
    'rest, change',
    ONE,
  ],
];

describe('a look at the nodes of a pool', () => {
  for (const [name, kinds, expected, given] of ROWS) {
    it(name, () => assert.equal(decided({ kinds, ...given }).join(', '), expected));
  }
});
