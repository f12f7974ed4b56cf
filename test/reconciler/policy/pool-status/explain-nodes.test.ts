import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DesiredPool } from '#reconciler/policy/desired.ts';
import type { NodeVerdict } from '#reconciler/policy/rollout/decide-group.ts';
import { explainNodes } from '#reconciler/policy/pool-status/explain-nodes.ts';
import { hold } from '#reconciler/policy/rollout/holds/hold.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf, targetOf, type SkippedNode } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import {
  assignedNode,
  desiredPool,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  settledNode,
  validPool,
} from '../../../support/fleet.ts';

const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
const pool = desiredPool(NEXT);
const REST: NodeVerdict = { verdict: 'rest' };
const node = nodeView('a', 'workers');

/** What is said of one node: its pool, how it stands, what is done now, and why. */
function explained(
  is: KubeletNode,
  verdict: NodeVerdict = REST,
  more: Partial<Member> = {},
  of: DesiredPool | null = pool,
): string {
  const member = { ...memberOf(node, is, targetOf(of), 0, NOW), ...more };
  const decisions = [{ member, aimed: { member, targetKind: 'config', configName: null }, verdict } as const];
  const memory = { halt: null, released: null, settled: null, proof: null, rollout: null };
  const plan = {
    groups: [{ group: { pool: of, members: [member] }, memory, decisions }],
    skipped: [],
    labelLoss: null,
    steps: [],
  };
  return explainNodes(plan, fleetOf({ nodes: [node] }), NOW)
    .map(({ pool: name, standing, now, because }) => `${name} ${standing} | ${now} | ${because}`)
    .join('\n');
}

const asks = { lifecycle: LIFECYCLE.awaitsTurn, turnRequest: { reason: 'NewBase', seen: 's', message: '' } } as const;
const trial = { trial: { config: 'x', awaitsReboot: 'systemd' } } as unknown as KubeletNode['status'];
const refusing: KubeletNode = {
  ...settledNode(node, OLD, { preflight: { outcome: 'refused', sha256: NEXT.sha256, apply: 'overlay', at: 'T' } }),
  spec: {
    ...settledNode(node, OLD).spec,
    preflight: { configSource: { ...assignedNode(node, NEXT).spec?.configSource, sha256: NEXT.sha256 } as never },
  },
};

/** What is said of one that has nothing to do. */
const rests = (standing: string, because: string): string => `workers ${standing} | nothing to do | ${because}`;

/** And of one that a person has to look at. */
const looked = (standing: string, because: string): string => `workers ${standing} | look at it | ${because}`;

const ROWS: readonly (readonly [string, KubeletNode, string, NodeVerdict?, Partial<Member>?, null?])[] = [
  ['done', settledNode(node, NEXT), rests('settled', 'up to date and proven')],
  [
    'done once, and its kubelet ends with it now',
    settledNode(node, NEXT, {
      kubeletVersion: 'v1.37.2',
      error: { reason: 'ProvenConfigFails', message: 'no such gate', at: 'T' },
    }),
    looked('failing', 'not in order with what it had proven (last registered as v1.37.2): no such gate'),
  ],
  [
    'done once, and drifted since',
    settledNode(node, NEXT, { phase: 'Drifted', error: { reason: 'Drifted', message: 'maxPods is 33', at: 'T' } }),
    looked('drifted', 'maxPods is 33'),
  ],
  [
    'broken by itself',
    assignedNode(node, NEXT, { phase: 'Broken', error: { reason: 'KubeletBroken', message: 'all fail', at: 'T' } }),
    looked('broken', "its pool's config is not to blame, and is tried again when the kubelet is well: all fail"),
  ],
  [
    'told, and its kubelet was not healthy before',
    assignedNode(node, NEXT, { phase: 'Idle', error: { reason: 'UnhealthyBefore', message: 'tried again', at: 'T' } }),
    rests('updating', 'tried again'),
  ],
  [
    'done, and not Ready',
    settledNode(node, NEXT),
    rests('settled', 'up to date and proven, but its Node is not Ready'),
    REST,
    { node: { ...node, ready: false } },
  ],
  [
    'done under another name of the same config',
    settledNode(node, NEXT, { assigned: { name: 'other-1' } }),
    rests('settled', `up to date and proven (as ${NEXT.configName}, the same config under another name)`),
  ],
  [
    'soaking',
    settledNode(node, NEXT),
    rests('soaking', 'up to date, and soaking: it keeps its place in the budget until then'),
    REST,
    { lifecycle: LIFECYCLE.soaking },
  ],
  ['at it', assignedNode(node, NEXT, { phase: 'Trial' }), rests('updating', 'applying the config now')],
  [
    'on trial',
    assignedNode(node, NEXT, {
      phase: 'Trial',
      trial: { config: 'x', since: 'T', healthySeconds: 90, durationSeconds: 600, restarts: 0 },
    }),
    rests('updating', 'on trial: its kubelet was healthy for 1m30s of 10m'),
  ],
  [
    'at it, with an agent that missed a heartbeat',
    assignedNode(node, NEXT, { phase: 'Trial', heartbeat: toTimestamp(NOW - 7 * 60_000) }),
    rests('updating', 'it was applying the config when its agent was last heard of, 7m ago'),
  ],
  [
    'about to boot',
    assignedNode(node, NEXT, { phase: 'Trial', ...trial }),
    rests('updating', 'waiting for its machine to reboot (systemd)'),
  ],
  [
    'at rest without knowing what it runs',
    assignedNode(node, NEXT, { active: { name: 'unknown' }, error: { reason: 'X', message: 'provision it', at: 'T' } }),
    rests('updating', 'its agent lost its state, and cannot tell what it runs: provision it'),
  ],
  [
    'back',
    assignedNode(node, NEXT),
    rests('failed', 'took the config back, and does not try it again'),
    REST,
    { lifecycle: LIFECYCLE.failed },
  ],
  ['unwilling', refusing, rests('failed', 'its agent refuses the config, so its pods stay and nothing was changed')],
  ['silent without an agent of ours', { metadata: { name: 'a' } }, rests('no-agent', '')],
  [
    'changed',
    settledNode(node, OLD),
    'workers outdated | change now | its turn',
    { verdict: 'change', because: 'its turn' },
  ],
  [
    'drained',
    settledNode(node, OLD),
    'workers outdated | drain | pods',
    { verdict: 'drain', stage: 'evict', because: 'pods' },
  ],
  [
    'held',
    settledNode(node, OLD),
    'workers outdated | budget | others',
    { verdict: 'hold', ...hold('budget', 'others') },
  ],
  [
    'waiting for a restart',
    settledNode(node, NEXT),
    'workers awaits-turn | window | night',
    { verdict: 'hold', ...hold('window', 'night') },
    asks,
  ],
  ['of a pool that nobody knows', idleNode(node), '- settled | nothing to do | up to date and proven', REST, {}, null],
];

describe('of a node is said that it is', () => {
  for (const [name, is, expected, verdict, more, of] of ROWS) {
    it(name, () => assert.equal(explained(is, verdict, more, of), expected));
  }
});

describe('of nodes of no pool', () => {
  const nodes = ['n10', 'n2', 'n1', 'n3'].map((name) => nodeView(name, 'nobody'));
  const [ten, two, one] = nodes.map((view) => ({ node: view, changing: false }));

  it('is said why they are let be, in the order of their numbers', () => {
    assert.ok(one !== undefined && two !== undefined && ten !== undefined);
    const untouchable: readonly SkippedNode[] = [
      { ...ten, choice: { choice: 'unsupported', because: 'it is a Fargate node' } },
      { ...two, choice: { choice: 'conflict', pools: ['a', 'b'] } },
      { ...one, choice: { choice: 'unknown' } },
    ];
    const found = explainNodes(
      { groups: [], skipped: untouchable, labelLoss: null, steps: [] },
      fleetOf({ nodes }),
      NOW,
    );
    const alone = { pool: '-', standing: '-' };
    const words = found.map(({ because, ...rest }) => [rest, because.slice(0, 24)]);
    assert.deepEqual(words, [
      [{ node: 'n1', ...alone, now: 'unknown' }, 'its pool is missing from'],
      [{ node: 'n2', ...alone, now: 'conflict' }, 'a and b select it with t'],
      [{ node: 'n3', ...alone, now: 'nothing to do' }, 'no pool selects it, and '],
      [{ node: 'n10', ...alone, now: 'unsupported' }, 'it is a Fargate node'],
    ]);
  });
});
