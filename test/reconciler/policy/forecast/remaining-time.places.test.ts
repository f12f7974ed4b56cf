import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PayloadClass } from '#reconciler/policy/payload-classes.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import type { RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { NOW } from '../../../support/fleet.ts';
import {
  failed,
  runsIt,
  type Seconds,
  settled,
  time,
  timeLeft,
  told,
  tries,
  waits,
  withoutAgent,
  type Worker,
} from './support/time-left.ts';

const inZone = (name: string): Partial<NodeView> => ({ labels: { 'topology.kubernetes.io/zone': name } });
const [A, B] = [inZone('a'), inZone('b')];
const DRAINED = { cordoned: true, drain: { config: 'x', at: NOW } };

const ONE: Seconds = [190, 185, 210];
/** The second turn comes when the first is past its probation. */
const TWO: Seconds = [260, 250, 300];

describe('the time that is left of a rollout', () => {
  const PLACES: readonly (readonly [string, readonly Worker[], Partial<RolloutSpec>, Seconds])[] = [
    ['all begin at once', [waits(), waits(), waits()], {}, ONE],
    ['a node leaves the pool', [waits(), { ...settled(), leaves: true }], { maxUnavailable: 1 }, ONE],
    ['a node runs the config already', [runsIt()], {}, [10, 5, 30]],
    ['a node that has it is not Ready', [settled({ ready: false }), waits()], {}, ONE],
    ['a node is drained', [waits(DRAINED)], { maxUnavailable: 1 }, ONE],
    ['a node that has it is still cordoned', [settled(DRAINED), waits(), waits()], { maxUnavailable: 2 }, TWO],
    ['a zone has places for all', [waits(A), waits(A)], { maxUnavailablePerZone: 2 }, ONE],
    ['a share of each zone may begin', [waits(A), waits(A), waits(B), waits(B)], { maxUnavailablePerZone: '50%' }, TWO],
    ['a node of the zone is down', [withoutAgent(A), waits(A), waits(A)], { maxUnavailablePerZone: 2 }, TWO],
    ['a node of another zone is down', [withoutAgent(B), waits(A), waits(A)], { maxUnavailablePerZone: 2 }, ONE],
    ['a node of the zone is drained', [waits({ ...A, ...DRAINED }), waits(A)], { maxUnavailablePerZone: 2 }, ONE],
    [
      'a node of the zone is in its probation',
      [tries(30, { durationSeconds: 100 }, A), waits(A)],
      { maxUnavailablePerZone: 2 },
      ONE,
    ],
    [
      'a node that has yet to begin has the only place',
      [told({ duration: '2m' }), waits()],
      { maxUnavailable: 1 },
      TWO,
    ],
    [
      'a node in its probation has the only place',
      [tries(30, { durationSeconds: 100 }), waits()],
      { maxUnavailable: 1 },
      [230, 220, 270],
    ],
    [
      'a node past its probation gave the only place back',
      [tries(80, { healthySeconds: 60 }), waits()],
      { maxUnavailable: 1 },
      [230, 225, 240],
    ],
  ];
  for (const [name, workers, rollout, expected] of PLACES) {
    it(`is known where ${name}`, () => assert.deepEqual(timeLeft(workers, { rollout }), time(expected)));
  }

  const THREE = [waits(), waits(), waits()];
  const ON_TRIAL: readonly (readonly [string, readonly Worker[], number | null, Seconds])[] = [
    ['one may try it', THREE, 1, [800, 790, 840]],
    ['nobody says how many may try it', THREE, null, [800, 790, 840]],
    ['one after the other may try it after a failure', [settled(), failed(), waits(), waits()], 1, [260, 250, 300]],
  ];
  for (const [name, workers, allowed, expected] of ON_TRIAL) {
    it(`is known where ${name}`, () => {
      const rollout = { onFailure: { threshold: 2, action: 'halt' } } as const;
      assert.deepEqual(timeLeft(workers, { allowed, rollout }), time(expected));
    });
  }

  it('counts the canaries of each class before the others', () => {
    const [small, large] = [classNamed('small'), classNamed('large')];
    const workers = [
      { ...waits(A), payloadClass: small },
      { ...waits(A), payloadClass: small },
      { ...waits(B), payloadClass: large },
    ];
    const rollout = { maxUnavailablePerZone: 1, canary: { nodes: 1, perClass: true } };
    assert.deepEqual(timeLeft(workers, { rollout, allowed: null }), time([800, 790, 840]));
  });

  it('counts the canaries that a selector names before the others', () => {
    const canary = { selector: { matchLabels: { canary: 'yes' } } };
    const workers = [waits(A), waits({ labels: { ...B.labels, canary: 'yes' } }), waits(A)];
    const left = timeLeft(workers, {
      rollout: { maxUnavailablePerZone: 1, canary: { ...canary, soak: '1h' } },
      allowed: null,
    });
    assert.deepEqual(left, time([4_470, 4_455, 4_530]));
  });

  it('has no waves where the config is proven: all begin at once, and the longest soak is left', () => {
    const rollout = { canary: { nodes: 1, soak: '1h' }, steps: [{ nodes: 2, soak: '2h' }] };
    const [left, before] = [
      { rollout, allowed: Infinity },
      { rollout, allowed: null },
    ].map((each) => timeLeft([waits(), waits(), waits(), settled()], each));
    assert.deepEqual(left, time([7_390, 7_385, 7_410]));
    assert.notDeepEqual(before, left);
  });

  it('does not wait for more canaries of a class than have begun', () => {
    const [small, large] = [classNamed('small'), classNamed('large')];
    const workers = [
      { ...tries(0), payloadClass: small },
      { ...waits(), payloadClass: small },
      { ...tries(0), payloadClass: large },
      { ...waits(), payloadClass: large },
    ];
    const left = (canary: { readonly nodes: number; readonly perClass?: boolean }): unknown =>
      timeLeft(workers, { rollout: { canary: { ...canary, soak: '1h' } }, allowed: null });
    assert.deepEqual(left({ nodes: 1, perClass: true }), left({ nodes: 2 }));
    assert.deepEqual(left({ nodes: 2 }), time([4100, 4090, 4140]));
  });
});

const classNamed = (name: string): PayloadClass => ({
  name,
  config: { name, sha256: name, payload: '' },
  target: { sha256: name, apply: 'overlay' },
  because: '',
});
