import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { queriesToAsk } from '#reconciler/policy/rollout/queries-to-ask.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { AnalysisSpec, Halt, KubeletPoolStatus, RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { commit, COMMIT_A, fleetOf, poolSpec, validPool } from '../../../support/fleet.ts';

const PROMETHEUS = { url: 'http://p:9090', queries: [{ name: 'errors', query: 'x', above: 1 }] };
const at = (time: string): string => `2026-11-23T${time}Z`;

const poolOf = (analysis?: AnalysisSpec) =>
  validPool('workers', 120, {
    rollout: { ...poolSpec().rollout, canary: { nodes: 1 }, ...(analysis === undefined ? {} : { analysis }) },
  });
const { sha256 } = poolOf();
const WAVE = { name: 'canary', nodes: 1, state: 'done', startedAt: at('12:00:10'), doneAt: at('12:40:00') } as const;
const ROLLOUT: RolloutStatus = { configName: 'workers-x', sha256, startedAt: at('12:00:00'), waves: [WAVE] };
const HALT: Halt = { config: 'x', sha256, at: at('12:50:00'), message: 'm', action: 'halt' };

type Asked = readonly [rollout: Partial<RolloutStatus> | undefined, status?: KubeletPoolStatus, prometheus?: boolean];

/** When the time before was, for the pool where it is asked about. */
function before(...[rollout, status = {}, prometheus = true]: Asked): Millis[] {
  const pool = poolOf({ timeout: '30m', ...(prometheus ? { prometheus: PROMETHEUS } : {}) });
  const kept = rollout === undefined ? status : { rollout: { ...ROLLOUT, ...rollout }, ...status };
  const fleet = fleetOf({ pools: [{ metadata: { name: 'workers' }, status: kept }] });
  const desired = desiredState(commit(COMMIT_A, pool), fleet, () => []);
  return queriesToAsk(desired, fleet).map((asked) => {
    assert.deepEqual([asked.name, asked.source], ['workers', PROMETHEUS]);
    return asked.before;
  });
}

const judged = (verdict: 'waiting' | 'suspect' | 'pass' | 'fail' | 'unknown') => ({
  analysis: { verdict, since: at('12:41:00'), message: 'm' },
});

const waitingFor = (reason: string): KubeletPoolStatus => ({
  holds: [{ reason, nodes: 1, examples: ['n1'], message: 'm' }],
});

const settledOn = (of: string): KubeletPoolStatus => ({
  settled: { configName: 'workers-x', sha256: of, apply: 'overlay', at: at('11:00:00') },
});

describe('the pools whose canaries Prometheus is asked about', () => {
  for (const [what, isAsked, args] of [
    ['canaries that are done', true, [{}]],
    ['canaries that were waited for', true, [judged('waiting')]],
    ['canaries that are suspected', true, [judged('suspect')]],
    ['canaries that passed', false, [judged('pass')]],
    ['canaries that failed', false, [judged('fail')]],
    ['canaries that it went on without', false, [judged('unknown')]],
    ['canaries on their way', false, [{ waves: [{ ...WAVE, state: 'soaking' }] }]],
    ['no canaries', false, [{ waves: [{ ...WAVE, name: 'rest' }] }]],
    ['a rollout that is over', false, [{ finishedAt: at('12:50:00') }]],
    [
      'a rollout that is over, where nodes wait for them',
      true,
      [{ finishedAt: at('12:50:00') }, waitingFor('analysis')],
    ],
    [
      'a rollout that is over, where nodes wait for others',
      false,
      [{ finishedAt: at('12:50:00') }, waitingFor('window')],
    ],
    ['another payload', false, [{ sha256: 'f'.repeat(64) }]],
    ['the same payload, applied in another way', false, [{ apply: 'replace' }]],
    ['no rollout', false, [undefined]],
    ['a halt', false, [{}, { halt: HALT }]],
    ['the halt of another payload', true, [{}, { halt: { ...HALT, sha256: 'f'.repeat(64) } }]],
    ['a release', false, [{}, { released: { sha256, haltedAt: at('12:50:00') } }]],
    ['the release of another payload', true, [{}, { released: { sha256: 'f'.repeat(64), haltedAt: at('12:50:00') } }]],
    ['what the pool settled on before', false, [{}, settledOn(sha256)]],
    ['what the pool settled on meanwhile', true, [judged('waiting'), settledOn(sha256)]],
    ['another payload than it settled on', true, [{}, settledOn('f'.repeat(64))]],
    ['no Prometheus', false, [{}, {}, false]],
    ['a time that is none', false, [{ startedAt: 'yesterday' }]],
  ] as readonly (readonly [string, boolean, Asked])[]) {
    it(`${isAsked ? 'are' : 'are not'} those with ${what}`, () => {
      assert.equal(before(...args).length, isAsked ? 1 : 0);
    });
  }

  for (const [what, startedAt, began, time] of [
    ['a minute before the rollout', at('12:00:00'), at('12:00:10'), at('11:59:00')],
    ['that, though the canaries waited for an hour', at('12:00:00'), at('13:00:00'), at('11:59:00')],
    ['an hour before canaries that waited for longer', at('12:00:00'), at('13:00:01'), at('11:59:01')],
    ['that of the rollout where the wave has no time', at('12:00:00'), undefined, at('11:59:00')],
  ] as const) {
    it(`look back at ${what}`, () => {
      const { startedAt: _, ...wave } = WAVE;
      const waves = [began === undefined ? wave : { ...wave, startedAt: began }];
      assert.deepEqual(before({ startedAt, waves }), [Date.parse(time)]);
    });
  }
});
