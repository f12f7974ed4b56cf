import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { Disruption } from '#reconciler/policy/disruption/field-disruption.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { FeatureNeeds } from '#reconciler/policy/allocatable/feature-needs.ts';
import { beforeRestart } from '#reconciler/policy/rollout/before-restart.ts';
import { memberOf } from '#reconciler/policy/rollout/membership.ts';
import { NO_SIGNALS, type Signals } from '#reconciler/policy/signals.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import type { DisruptionSpec } from '#shared/contract/api/kubelet-pool.ts';
import { commit, COMMIT_B, fleetOf, idleNode, nodeView, NOW, validPool } from '../../../support/fleet.ts';

const MINUTE = 60_000;
const DRAINS: DisruptionSpec = { allow: ['restart', 'drain'], drainTimeout: '10m' };
const REBOOTS: DisruptionSpec = {
  allow: ['restart', 'reboot'],
  drainTimeout: '10m',
  reboot: { by: 'systemd', timeout: '1h' },
};
const BOTH: DisruptionSpec = { ...REBOOTS, allow: ['restart', 'drain', 'reboot'] };
const RESTART: Disruption = { class: 'restart', fields: [] };
const DRAIN: Disruption = { class: 'drain', fields: ['podLogsDir'] };
const REBOOT: Disruption = { class: 'reboot', fields: ['a', 'b', 'c', 'd'] };
const FEWER: Disruption = { class: 'restart', fields: [], podLimit: 50 };
const LOSES: Disruption = { class: 'drain', fields: ['featureGates.X'], features: ['VolumeBindMountOptions'] };
/** A pod that mounts with options. */
const NEEDS: FeatureNeeds = new Map([['VolumeBindMountOptions', { names: ['prod/a'], count: 1 }]]);
const asked = (needs: FeatureNeeds | undefined, ago = 0): Partial<Signals> => ({
  pods: new Map([['a', { at: NOW - ago, pods: 3, ...(needs && { needs }) }]]),
});
const ours = validPool('workers', 50).configName;
const drainedSince = (at: number): Partial<NodeView> => ({ cordoned: true, drain: { config: ours, at } });
const pods = (count: number | null, ago = 0): Partial<Signals> => ({
  pods: new Map([['a', { at: NOW - ago, pods: count }]]),
});
const drain = (since: number, drained: boolean): Partial<Signals> => ({
  drains: new Map([['a', { since, drained, because: 'db-0 is protected' }]]),
});

interface Case {
  readonly allowed?: DisruptionSpec;
  readonly node?: Partial<NodeView>;
  readonly signals?: Partial<Signals>;
  readonly status?: KubeletNodeStatus;
  readonly toLocal?: true;
}

/** What is done, and a part of what is said. */
type Answer = readonly [verdict: string, because?: RegExp] | null;

const UNASKED = { pods: new Map() };
const [DRAINED, REBOOTED] = [{ allowed: DRAINS }, { allowed: REBOOTS }];
/** It has no pods left. */
const EMPTY = { node: drainedSince(NOW), signals: drain(NOW, true) };

const ROWS: readonly (readonly [string, Disruption, Case, Answer])[] = [
  ['a restart', RESTART, {}, null],
  ['a restart, however many pods run', RESTART, { signals: pods(500) }, null],
  ['fewer pods, where nobody can count', FEWER, DRAINED, null],
  ['fewer pods, before anybody counted', FEWER, { ...DRAINED, signals: UNASKED }, ['drain count']],
  ['fewer pods, counted a minute ago', FEWER, { ...DRAINED, signals: pods(50, MINUTE) }, null],
  ['fewer pods, counted longer ago', FEWER, { ...DRAINED, signals: pods(50, MINUTE + 1) }, ['drain count']],
  [
    'fewer pods, counted before the clock was set back',
    FEWER,
    { ...DRAINED, signals: pods(50, -MINUTE - 1) },
    ['drain count'],
  ],
  ['fewer pods than run', FEWER, { ...DRAINED, signals: pods(51) }, ['drain cordon']],
  ['fewer pods, where they may not be seen', FEWER, { ...DRAINED, signals: pods(null) }, null],
  [
    'fewer pods than run, where nothing is drained',
    FEWER,
    { signals: pods(51) },
    ['hold', /maxPods to 50, with 51 pods running, needs the node to be drained/],
  ],
  [
    'fewer pods than ran a while ago, where nothing is drained',
    FEWER,
    { signals: pods(51, 5 * MINUTE) },
    ['hold', /with 51 pods running, needs the node to be drained/],
  ],
  [
    'fewer pods than ran long ago, where nothing is drained',
    FEWER,
    { signals: pods(51, 11 * MINUTE) },
    ['hold counts', /with 51 pods running, needs the node to be drained/],
  ],
  [
    'fewer pods, on a node that is drained for it',
    FEWER,
    { ...DRAINED, node: drainedSince(NOW), signals: UNASKED },
    ['drain evict'],
  ],
  [
    'what has to be drained and may run fewer pods',
    { ...DRAIN, podLimit: 50 },
    { ...DRAINED, signals: UNASKED },
    ['drain cordon'],
  ],
  ['a feature less, where nobody can look at pods', LOSES, DRAINED, ['drain cordon']],
  ['a feature less, where pods may not be seen', LOSES, { ...DRAINED, signals: pods(null) }, ['drain cordon']],
  [
    'a feature less, where neither pods nor a drain are allowed',
    LOSES,
    { signals: pods(null) },
    ['hold', /of featureGates\.X needs the node to be drained/],
  ],
  ['a feature less, before anybody asked', LOSES, { signals: UNASKED }, ['drain count', /before a feature goes off/]],
  ['a feature less that no pod needs', LOSES, { signals: asked(undefined) }, null],
  ['a feature less that no pod needed a minute ago', LOSES, { signals: asked(undefined, MINUTE) }, null],
  ['a feature less that no pod needed before that', LOSES, { signals: asked(undefined, MINUTE + 1) }, ['drain count']],
  [
    'a feature less that a pod needs',
    LOSES,
    { ...DRAINED, signals: asked(NEEDS) },
    ['drain cordon', /drained: featureGates\.VolumeBindMountOptions \(needed by prod\/a\)$/],
  ],
  [
    'a feature less that a pod needed a while ago',
    LOSES,
    { ...DRAINED, signals: asked(NEEDS, MINUTE + 1) },
    ['drain count'],
  ],
  [
    'a feature less that a pod needs, where nothing is drained',
    LOSES,
    { signals: asked(NEEDS, 10 * MINUTE) },
    ['hold', /the change of featureGates\.VolumeBindMountOptions \(needed by prod\/a\) needs the node to be drained/],
  ],
  [
    'the same, asked longer ago',
    LOSES,
    { signals: asked(NEEDS, 10 * MINUTE + 1) },
    ['hold counts', /needed by prod\/a/],
  ],
  ['a feature less that the Node does not declare', LOSES, { node: { declares: [] }, signals: asked(NEEDS) }, null],
  [
    'a feature less, and fewer pods than run',
    { ...LOSES, podLimit: 2 },
    { ...DRAINED, signals: asked(undefined) },
    ['drain cordon'],
  ],
  [
    'a feature less, on a node that is drained for it',
    LOSES,
    { ...DRAINED, node: drainedSince(NOW), signals: UNASKED },
    ['drain evict'],
  ],
  ['a restart, on a node that is drained for it', RESTART, { ...DRAINED, node: drainedSince(NOW) }, null],
  ['what has to be drained', DRAIN, DRAINED, ['drain cordon']],
  ['what has to be drained, where that is not allowed', DRAIN, {}, ['hold', /allow: \[restart, drain\]/]],
  [
    'what has to be drained for another config',
    DRAIN,
    { ...DRAINED, node: { cordoned: true, drain: { config: 'x', at: NOW } } },
    ['drain cordon'],
  ],
  [
    'what has to be drained back to its local config',
    DRAIN,
    { ...DRAINED, toLocal: true, node: { cordoned: true, drain: { config: 'local', at: NOW } } },
    ['drain evict'],
  ],
  ['what is drained', DRAIN, { ...DRAINED, node: drainedSince(NOW - 10 * MINUTE) }, ['drain evict', /told to leave/]],
  [
    'what is drained, as was seen',
    DRAIN,
    { ...DRAINED, node: drainedSince(NOW - 1), signals: drain(NOW - 1, false) },
    ['drain evict', /db-0 is protected/],
  ],
  [
    'what was drained before',
    DRAIN,
    { ...DRAINED, node: drainedSince(NOW - 1), signals: drain(NOW - 2, true) },
    ['drain evict', /told to leave/],
  ],
  [
    'what is drained for longer than the pool allows',
    DRAIN,
    { allowed: { ...DRAINS, drainTimeout: '5m' }, node: drainedSince(NOW - 5 * MINUTE - 1) },
    ['hold gave up', /did not leave in time/],
  ],
  ['what has no pods left', DRAIN, { ...DRAINED, node: drainedSince(NOW - 1), signals: drain(NOW - 1, true) }, null],
  ['a reboot', REBOOT, REBOOTED, ['change reboot', /is rebooted \(systemd\)/]],
  ['a reboot, where that is not allowed', REBOOT, DRAINED, ['hold', /allow: \[restart, drain, reboot\]/]],
  [
    'a reboot that nobody is to make',
    REBOOT,
    { allowed: { ...DRAINS, allow: ['restart', 'reboot'] } },
    ['hold', /the change of a, b, c needs .* disruption\.reboot does not say how/],
  ],
  ['a reboot of a boot that nobody knows', REBOOT, { ...REBOOTED, status: {} }, ['hold', /which boot/]],
  ['a reboot, where nodes are drained', REBOOT, { allowed: BOTH }, ['drain cordon']],
  ['a reboot of what was drained', REBOOT, { allowed: BOTH, ...EMPTY }, ['change reboot']],
  [
    'a reboot of what was drained and may run fewer pods',
    { ...REBOOT, podLimit: 50 },
    { allowed: BOTH, ...EMPTY },
    ['change reboot'],
  ],
];
describe('before a node is changed for', () => {
  for (const [name, disruption, given, expected] of ROWS) {
    it(`${name}: ${expected?.[0] ?? 'nothing'}`, () => {
      const { allowed, signals, status = { bootID: 'boot-1' }, toLocal } = given;
      const spec = allowed === undefined ? {} : { disruption: allowed };
      const pool = desiredState(commit(COMMIT_B, validPool('workers', 50, spec)), fleetOf({}), () => []).pools.get(
        'workers',
      );
      const node = nodeView('a', 'workers', given.node);
      const member = memberOf(node, { ...idleNode(node), status }, null, 0, NOW);
      const aimed = { member, targetKind: 'config', configName: toLocal === true ? null : ours } as const;
      const verdict = beforeRestart(aimed, disruption, pool ?? null, { ...NO_SIGNALS, ...signals }, NOW);
      if (expected === null || verdict === null || verdict.verdict === 'rest') {
        assert.equal(verdict, expected);
        return;
      }
      const [what, because = /^/] = expected;
      const more =
        verdict.verdict === 'drain'
          ? [verdict.stage]
          : verdict.verdict === 'change'
            ? ['reboot']
            : verdict.gaveUp === true
              ? ['gave up']
              : verdict.verdict === 'hold' && verdict.counts === true
                ? ['counts']
                : [];
      assert.equal([verdict.verdict, ...more].join(' '), what);
      assert.match(verdict.because, because);
      if (verdict.verdict === 'hold') assert.equal(verdict.hold, 'disruption');
      if (verdict.verdict === 'change')
        assert.deepEqual(verdict.reboot, { by: 'systemd', timeout: '1h', boot: 'boot-1' });
    });
  }
});
