import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodCount } from '#reconciler/policy/fleet.ts';
import { lockOutVerdict } from '#reconciler/policy/rollout/lock-out.ts';
import { memberOf } from '#reconciler/policy/rollout/membership.ts';
import type { NodeSize } from '#reconciler/policy/allocatable/allocatable.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { idleNode, nodeView, NOW } from '../../../support/fleet.ts';

const MI = 2 ** 20;
const TEN_MINUTES = 600_000;
const AMOUNTS = { cpu: '4', memory: '4Gi', pods: '250' };
const SIZE: NodeSize = { kubeletVersion: 'v1.36.2', capacity: AMOUNTS, allocatable: AMOUNTS };
const EVICTS = { evictionHard: { 'memory.available': '99%' } };
const PAYLOADS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  plain: {},
  usual: { maxPods: 110 },
  evicts: EVICTS,
  scoped: { ...EVICTS, topologyManagerScope: 'pod' },
  both: { ...EVICTS, kubeReserved: { cpu: '3990m' } },
};
const node = nodeView('a', 'workers', { size: SIZE });
const { metadata } = idleNode(node);
const running = (name: string): KubeletNode => idleNode(node, { active: { name, sha256: name } });
const counted = (ago: number, memory: number, cpu = 0): PodCount => ({
  at: NOW - ago,
  pods: 3,
  vital: { count: 3, requests: { cpu, memory: memory * MI, 'ephemeral-storage': 0 } },
});

interface Case {
  readonly is?: KubeletNode | undefined;
  readonly to: string | null;
  readonly count?: PodCount;
}

const ROWS: readonly (readonly [string, Case, string | null, RegExp?])[] = [
  ['its own local config', { to: null }, null],
  ['a config that nobody can read', { to: 'lost' }, null],
  ['a config that leaves less', { to: 'evicts' }, 'count'],
  ['a config that leaves less, before it ever reported', { is: { metadata }, to: 'evicts' }, 'count'],
  ['a config that leaves less, before anybody made an object for it', { is: undefined, to: 'evicts' }, 'count'],
  ['a config that takes nothing, after it was asked about another', { to: 'plain' }, null],
  ['a config that takes the same as the one before', { is: running('evicts'), to: 'scoped' }, null],
  ['a config after one that nobody can read', { is: running('lost'), to: 'scoped' }, 'count'],
  ['a limit of pods, where the one before leaves that to the node', { is: running('plain'), to: 'usual' }, 'count'],
  ['a config under which its pods fit', { to: 'evicts', count: counted(0, 20) }, null],
  ['a config under which they do not', { to: 'evicts', count: counted(0, 50) }, 'held', /memory would be left/],
  [
    'a config under which they do not, each of two resources',
    { to: 'both', count: counted(0, 50, 1) },
    'held',
    /some of them; .*memory would be left/,
  ],
  ['the same, counted ten minutes ago', { to: 'evicts', count: counted(TEN_MINUTES, 50) }, 'held'],
  ['the same, counted longer ago', { to: 'evicts', count: counted(TEN_MINUTES + 1, 50) }, 'held and counted'],
];

describe('whether a node can be given', () => {
  const payloadOf = (sha256 = '') => PAYLOADS[sha256] ?? null;
  for (const [name, given, expected, because = /^/] of ROWS) {
    it(`${name}: ${expected ?? 'yes'}`, () => {
      const { to, count } = given;
      const is = 'is' in given ? given.is : idleNode(node);
      const target = to === null ? null : ({ sha256: to, apply: 'overlay' } as const);
      const aimed = { member: memberOf(node, is, target, 0, NOW), targetKind: 'config', configName: to } as const;
      const verdict = lockOutVerdict(aimed, payloadOf, new Map(count && [['a', count]]), NOW);
      const said =
        verdict?.verdict === 'drain'
          ? verdict.stage
          : verdict?.verdict === 'hold'
            ? `held${verdict.counts === true ? ' and counted' : ''}`
            : null;
      assert.equal(said, expected);
      if (verdict?.verdict === 'hold') assert.match(verdict.because, because);
    });
  }

  it('the same as soon as another config of before can be read, or is another', () => {
    const readable = new Set(['scoped']);
    const said = (active: string): string | undefined => {
      const target = { sha256: 'scoped', apply: 'overlay' } as const;
      const aimed = {
        member: memberOf(node, running(active), target, 0, NOW),
        targetKind: 'config',
        configName: 'x',
      } as const;
      const read = (sha256 = ''): ReturnType<typeof payloadOf> => (readable.has(sha256) ? payloadOf(sha256) : null);
      return lockOutVerdict(aimed, read, new Map(), NOW)?.verdict;
    };
    assert.equal(said('evicts'), 'drain');
    readable.add('evicts').add('plain');
    assert.equal(said('evicts'), undefined);
    assert.equal(said('plain'), 'drain');
  });
});
