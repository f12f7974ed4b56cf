import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextAnalysis } from '#reconciler/policy/analysis/canary-analysis.ts';
import type { QueryAnswer } from '#reconciler/policy/analysis/query-answer.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { AnalysisSpec, AnalysisStatus } from '#shared/contract/api/kubelet-pool.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';

const [OLD, NEW] = ['a'.repeat(64), 'b'.repeat(64)];
const NOW: Millis = Date.parse('2026-11-23T12:00:00Z');
const ago = (minutes: number, seconds = 0): string => toTimestamp(NOW - minutes * 60_000 - seconds * 1000);

const SPEC: AnalysisSpec = {
  measures: [],
  prometheus: { url: 'http://p:9090', queries: [{ name: 'errors', query: 'x', above: 1 }] },
  timeout: '30m',
};
const WITH_AGENTS: AnalysisSpec = { ...SPEC, measures: ['cpu'] };
const canary = (cpu?: number): KubeletNode => ({
  metadata: { name: 'c' },
  ...(cpu === undefined
    ? {}
    : {
        status: {
          measures: {
            mark: NEW,
            before: { sha256: OLD, seconds: 540, values: { cpu: 0.1 } },
            now: { sha256: NEW, seconds: 540, values: { cpu } },
          },
        },
      }),
});
const AWAY: QueryAnswer = { missing: 'no connection' };
const [GOOD, BAD]: readonly QueryAnswer[] = [{ value: 0 }, { value: 2 }];

const next = (
  answer: QueryAnswer | undefined | null,
  before?: AnalysisStatus,
  spec: AnalysisSpec = SPEC,
  node = canary(),
): AnalysisStatus => {
  const answers = answer === null ? undefined : new Map(answer === undefined ? [] : [['errors', answer] as const]);
  const compared = { mark: NEW, canaries: [{ node, sha256: NEW }], waiting: [], answers };
  return nextAnalysis(spec, compared, before, NOW);
};
const was = (verdict: AnalysisStatus['verdict'], since: string): AnalysisStatus => ({ verdict, since, message: 'so' });

describe('an analysis that asks Prometheus', () => {
  for (const [what, answer, before, verdict, since, message] of [
    ['passes at once', GOOD, undefined, 'pass', ago(0), /^errors is 0$/],
    ['suspects before it fails', BAD, undefined, 'suspect', ago(0), /^errors is 2, above 1; looked at again in 15/],
    ['fails what is worse twice', BAD, was('suspect', ago(15)), 'fail', ago(0), /^errors is 2, above 1$/],
    ['drops what was chance', GOOD, was('suspect', ago(15)), 'pass', ago(0), /errors is 0/],
    ['waits where it was not asked', null, undefined, 'waiting', ago(0), /^Prometheus has not been asked yet$/],
    ['repeats what it waits for where nobody asked', null, was('waiting', ago(5)), 'waiting', ago(5), /^so$/],
    ['does not wait forever', null, was('waiting', ago(30)), 'unknown', ago(0), /^not enough to compare in time: so$/],
    ['waits for one that is away', AWAY, undefined, 'waiting', ago(0), /^errors: no connection$/],
    ['waits on', AWAY, was('waiting', ago(29, 59)), 'waiting', ago(29, 59), /no connection/],
    ['goes on without and says so', AWAY, was('waiting', ago(30)), 'unknown', ago(0), /in time: errors: no connection/],
    ['keeps a suspicion while it is away', AWAY, was('suspect', ago(44, 59)), 'suspect', ago(44, 59), /no connection/],
    ['but not forever', AWAY, was('suspect', ago(45)), 'unknown', ago(0), /no connection/],
    ['never fails by one that is away', AWAY, was('suspect', ago(15)), 'suspect', ago(15), /no connection/],
  ] as const) {
    it(what, () => {
      const found = next(answer, before);
      assert.deepEqual([found.verdict, found.since], [verdict, since]);
      assert.match(found.message, message);
    });
  }

  it('waits where there is nothing to compare', () => {
    const nothing: AnalysisSpec = { ...SPEC, prometheus: { url: 'http://p:9090', queries: [] } };
    assert.equal(next(GOOD, undefined, nothing).verdict, 'waiting');
  });

  for (const [what, answer, cpu, verdict, message] of [
    ['fails by the agents alone', GOOD, 2, 'suspect', /^2 cores for the kubelet, before 0\.1; no other/],
    ['fails by Prometheus alone', BAD, 0.1, 'suspect', /^errors is 2, above 1; looked at again/],
    ['fails by both', BAD, 2, 'suspect', /^2 cores.*; errors is 2, above 1/],
    ['fails by one where the other says nothing', AWAY, 2, 'suspect', /^2 cores/],
    ['fails by the other where agents say nothing', BAD, undefined, 'suspect', /^errors is 2/],
    ['passes by both', GOOD, 0.1, 'pass', /^1 node compared with 0 nodes that wait; errors is 0$/],
    ['waits for Prometheus', AWAY, 0.1, 'waiting', /^errors: no connection$/],
    ['waits for agents', GOOD, undefined, 'waiting', /^c reports no measures$/],
  ] as const) {
    it(`with measures of agents, ${what}`, () => {
      const found = next(answer, undefined, WITH_AGENTS, canary(cpu));
      assert.equal(found.verdict, verdict);
      assert.match(found.message, message);
    });
  }
});
