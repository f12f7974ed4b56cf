import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DrainMark, FailedDrain } from '#reconciler/policy/fleet.ts';
import type { NodeVerdict } from '#reconciler/policy/rollout/decide-group.ts';
import { drainSteps } from '#reconciler/policy/rollout/drain-steps.ts';
import { hold, type HoldReason } from '#reconciler/policy/rollout/holds/hold.ts';
import { LIFECYCLE } from '#reconciler/policy/rollout/lifecycle.ts';
import { type Member, memberOf } from '#reconciler/policy/rollout/membership.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { fleetOf, idleNode, nodeView, NOW } from '../../../support/fleet.ts';

const REST: NodeVerdict = { verdict: 'rest' };
const MARK: DrainMark = { config: 'workers-1', at: NOW - 1_000 };
const REBOOT = { by: 'systemd', boot: 'b', timeout: '1h' } as const;

interface Case {
  readonly verdict?: NodeVerdict;
  readonly is?: Partial<Member>;
  /** It was cordoned by us. */
  readonly marked?: true | 'local';
  /** Nobody knows its pool. */
  readonly unknown?: true;
  readonly toLocal?: true;
  /** An earlier drain of it was given up. */
  readonly inVain?: FailedDrain;
}

const drain = (stage: 'count' | 'preflight' | 'cordon' | 'evict'): NodeVerdict => ({
  verdict: 'drain',
  stage,
  because: '',
});
const held = (reason: HoldReason, more: { readonly gaveUp?: true; readonly counts?: true } = {}): NodeVerdict => ({
  verdict: 'hold',
  ...hold(reason, ''),
  ...more,
});
const node = nodeView('a', 'workers');
const rebooting = { ...idleNode(node), spec: { reboot: REBOOT } };
const { metadata, status = {} } = idleNode(node);
const about = { node: 'a', uid: node.uid };
const UNCORDON: Step = { step: 'uncordon', ...about, failed: null };
const COUNT: Step = { step: 'count-pods', node: 'a', at: NOW };
const IN_VAIN: FailedDrain = { config: 'workers-0', at: NOW - 9, times: 2 };
const told = { name: 'workers-1', namespace: 'n', uid: 'u', key: 'kubelet', sha256: 'a', resourceVersion: '1' };
const toldNode = { ...idleNode(node), spec: { configSource: told } };
const silent = { lifecycle: LIFECYCLE.vanished } as const;

const [GAVE_UP, COUNTED] = [held('disruption', { gaveUp: true }), held('lock-out', { counts: true })];
const silentWith = (kubeletNode: Member['kubeletNode']) => ({ ...silent, kubeletNode });

const ROWS: readonly (readonly [string, Case, readonly Step[]])[] = [
  ['that nobody drained and that needs nothing is let be', {}, []],
  [
    'whose turn has come is cordoned',
    { verdict: drain('cordon') },
    [{ step: 'cordon', ...about, mark: { config: 'workers-1', at: NOW } }],
  ],
  [
    'whose turn has come to go back to its local config is cordoned for that',
    { verdict: drain('cordon'), toLocal: true },
    [{ step: 'cordon', ...about, mark: { config: 'local', at: NOW } }],
  ],
  ['that is asked first is let be', { verdict: drain('preflight') }, []],
  ['whose pods are to be counted has them counted', { verdict: drain('count') }, [COUNT]],
  [
    'that is drained has its pods told to leave, since it was cordoned',
    { verdict: drain('evict'), marked: true },
    [{ step: 'evict', node: 'a', since: MARK.at }],
  ],
  ['that is held has its pods counted again where that may end it', { verdict: COUNTED }, [COUNT]],
  ['that is held gets its pods back', { verdict: held('suspended'), marked: true }, [UNCORDON]],
  ['that is held gets its pods back while they are counted', { verdict: COUNTED, marked: true }, [COUNT, UNCORDON]],
  [
    'whose drain was given up gets its pods back, and that is remembered',
    { verdict: GAVE_UP, marked: true },
    [{ ...UNCORDON, failed: { config: 'workers-1', at: NOW, times: 1 } }],
  ],
  ['stays as it is while no commit is in force', { verdict: held('no-commit'), marked: true }, []],
  ['stays as it is while nobody knows who is in a change', { verdict: held('unheard'), marked: true }, []],
  ['stays as it is where nobody knows its pool', { unknown: true, marked: true }, []],
  ['is changed without pods', { verdict: { verdict: 'change', because: '' }, marked: true }, []],
  ['tries its config without pods', { is: { lifecycle: LIFECYCLE.changing }, marked: true }, []],
  [
    'in the middle of another change has no pods',
    { is: { lifecycle: LIFECYCLE.superseded }, verdict: held('window'), marked: true },
    [],
  ],
  [
    'whose drain was given up again is remembered for both',
    { verdict: GAVE_UP, marked: true, inVain: IN_VAIN },
    [{ ...UNCORDON, failed: { config: 'workers-1', at: NOW, times: 3 } }],
  ],
  [
    'whose drain is not wanted any more is remembered for those before',
    { verdict: held('window'), marked: true, inVain: IN_VAIN },
    [{ ...UNCORDON, failed: IN_VAIN }],
  ],
  [
    'that was told what it was drained for is forgiven those before',
    { is: { lifecycle: LIFECYCLE.settled, kubeletNode: toldNode }, marked: true, inVain: IN_VAIN },
    [UNCORDON],
  ],
  [
    'that was told its local config, as it was drained for, too',
    { verdict: held('window'), marked: 'local', inVain: IN_VAIN },
    [UNCORDON],
  ],
  [
    'that failed gets its pods back, though its agent is at it still',
    { is: { lifecycle: LIFECYCLE.fallingBack }, marked: true },
    [UNCORDON],
  ],
  ['that has proven its config gets its pods back', { is: { lifecycle: LIFECYCLE.settled }, marked: true }, [UNCORDON]],
  ['whose machine reboots has no pods while its agent is silent', { is: silentWith(rebooting), marked: true }, []],
  [
    'whose agent is silent for another reason gets its pods back',
    { is: silentWith(idleNode(node)), marked: true },
    [UNCORDON],
  ],
  [
    'whose machine rebooted before gets its pods back',
    { is: { lifecycle: LIFECYCLE.silent, kubeletNode: rebooting }, marked: true },
    [UNCORDON],
  ],
  ['that was told nothing gets its pods back', { is: silentWith({ metadata, status }), marked: true }, [UNCORDON]],
  ['that nobody made an object for gets its pods back', { is: silentWith(undefined), marked: true }, [UNCORDON]],
];

describe('a node', () => {
  for (const [name, { verdict = REST, is, marked, unknown, toLocal, inVain }, expected] of ROWS) {
    it(name, () => {
      const drained = { cordoned: true, drain: marked === 'local' ? { ...MARK, config: 'local' } : MARK };
      const view = { ...node, ...(marked === undefined ? {} : drained), ...(inVain && { drainFailed: inVain }) };
      const member: Member = { ...memberOf(view, idleNode(node), null, 0, NOW), lifecycle: LIFECYCLE.outdated, ...is };
      const aimed = { member, targetKind: 'config', configName: toLocal === true ? null : 'workers-1' } as const;
      const groups = unknown === true ? [] : [{ decisions: [{ member, aimed, verdict }] }];
      const untouchable =
        unknown === true ? [{ node: view, choice: { choice: 'unknown' }, changing: false } as const] : [];
      assert.deepEqual(drainSteps(groups, untouchable, fleetOf({ nodes: [view] }), NOW), expected);
    });
  }
});
