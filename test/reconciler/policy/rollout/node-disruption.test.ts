import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Disruption } from '#reconciler/policy/disruption/field-disruption.ts';
import { nodeDisruptions } from '#reconciler/policy/rollout/node-disruption.ts';
import { type Member, memberOf } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { idleNode, nodeView, NOW } from '../../../support/fleet.ts';

const PAYLOADS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  many: { maxPods: 100 },
  few: { maxPods: 50 },
  scoped: { maxPods: 100, topologyManagerScope: 'pod' },
  plain: {},
};
const node = nodeView('a', 'workers');
const { metadata } = idleNode(node);
const RESTART: Disruption = { class: 'restart', fields: [] };
const local = idleNode(node);
const running = (name: string): KubeletNode => idleNode(node, { active: { name, sha256: name } });

/** What a node runs, what it should run, and what that change does to it. */
const ROWS: readonly (readonly [string, KubeletNode | undefined, string | null, Disruption])[] = [
  [
    'nobody knows what changes in place of its local config, but for how many pods may run',
    local,
    'few',
    { ...RESTART, podLimit: 50 },
  ],
  ['nobody knows what changes in place of its local config', local, 'plain', RESTART],
  ['nobody knows what changes back to its local config', running('scoped'), null, RESTART],
  ['nobody knows what changes on a node that never reported', { metadata }, 'scoped', { ...RESTART, podLimit: 100 }],
  ['nobody knows what changes on a node without an agent', undefined, 'plain', RESTART],
  ['nobody knows what changes on a node that runs nothing yet', { metadata, status: {} }, 'plain', RESTART],
  ['fewer pods may run', running('many'), 'few', { ...RESTART, podLimit: 50 }],
  ['more pods may run', running('few'), 'many', RESTART],
  [
    'what running pods do not follow drains the node',
    running('many'),
    'scoped',
    { class: 'drain', fields: ['topologyManagerScope'] },
  ],
  [
    'what running pods do not follow drains the node as well where it goes, and fewer of them may run',
    running('scoped'),
    'few',
    { class: 'drain', fields: ['topologyManagerScope'], podLimit: 50 },
  ],
];

describe('what a change does to a node, as far as anybody knows', () => {
  const member = (is: KubeletNode | undefined, to: string | null): Member =>
    memberOf(node, is, to === null ? null : { sha256: to, apply: 'overlay' }, 0, NOW);

  it('is known of each pair of configs, in whatever order they are asked for', () => {
    const disruption = nodeDisruptions((sha256 = '') => PAYLOADS[sha256] ?? null);
    for (const rows of [ROWS, ROWS.toReversed()]) {
      for (const [name, is, to, expected] of rows) {
        assert.deepEqual(disruption({ member: member(is, to), targetKind: 'config', configName: to }), expected, name);
      }
    }
  });
});
