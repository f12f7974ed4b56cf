import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextAnalysis } from '#reconciler/policy/analysis/canary-analysis.ts';
import { measureMarks } from '#reconciler/policy/analysis/measure-marks.ts';
import { sampleOfCanary, sampleOfWaiting } from '#reconciler/policy/analysis/sample.ts';
import { MEASURE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { AnalysisStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { MeasuredWindow, Measures } from '#shared/contract/api/measures.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';

const [OLD, NEW] = ['a'.repeat(64), 'b'.repeat(64)];
const NOW: Millis = Date.parse('2026-11-23T12:00:00Z');
const MINUTE: Millis = 60_000;
const ago = (minutes: number, seconds = 0): string => toTimestamp(NOW - minutes * MINUTE - seconds * 1000);

const window = (sha256: string, cpu: number, seconds = 540): MeasuredWindow => ({ sha256, seconds, values: { cpu } });
const measured = (before: MeasuredWindow, now: MeasuredWindow): Measures => ({ mark: NEW, before, now });
const node = (name: string, measures?: Measures, mark?: string): KubeletNode => ({
  metadata: { name, ...(mark === undefined ? {} : { annotations: { [MEASURE_ANNOTATION]: mark } }) },
  ...(measures === undefined ? {} : { status: { measures } }),
});

describe('what a canary shows', () => {
  const before = window(OLD, 0.1);
  for (const [what, measures, missing] of [
    ['everything', measured(before, window(NEW, 0.2)), undefined],
    ['just enough', measured(window(OLD, 0.1, 240), window(NEW, 0.2, 240)), undefined],
    ['nothing', undefined, 'c reports no measures'],
    ['nothing any more', null, 'c reports no measures'],
    ['nothing of before', { mark: NEW, now: window(NEW, 0.2) }, 'c was not measured before the change'],
    ['too little of before', measured(window(OLD, 0.1, 239), window(NEW, 0.2)), 'c was not measured before the change'],
    ['itself before', measured(window(NEW, 0.1), window(NEW, 0.2)), 'c was not measured before the change'],
    ['nothing since', { mark: NEW, before }, 'c was measured for 0 of 240 seconds'],
    ['too little since', measured(before, window(NEW, 0.2, 239)), 'c was measured for 239 of 240 seconds'],
    ['another config', measured(before, window(OLD, 0.2)), 'c was measured for 0 of 240 seconds'],
  ] as const) {
    it(`with ${what}`, () => {
      const sample = sampleOfCanary('c', measures, NEW);
      const changes = { cpu: { before: 0.1, now: 0.2 } };
      assert.deepEqual(sample, missing === undefined ? { node: 'c', changes } : { node: 'c', missing });
    });
  }

  it('takes nothing for an amount that is none', () => {
    const values = { cpu: 1, relist: 1, podStart: 1, evictions: 0, oomKills: 1, runtimeErrors: 1, reserved: 1 };
    const none = {
      cpu: -1,
      relist: '2',
      podStart: Number.NaN,
      runtimeErrors: Number.POSITIVE_INFINITY,
      reserved: null,
    };
    const now = { sha256: NEW, seconds: 540, values: { ...none, evictions: 1 } };
    const sample = sampleOfCanary('c', measured({ sha256: OLD, seconds: 540, values }, now as never), NEW);
    assert.deepEqual(sample, { node: 'c', changes: { evictions: { before: 0, now: 1 } } });
  });
});

describe('what a node that waits shows', () => {
  for (const [what, measures, counts] of [
    ['the same time', measured(window(OLD, 0.1), window(OLD, 0.2)), true],
    ['just enough', measured(window(OLD, 0.1, 240), window(OLD, 0.2, 240)), true],
    ['another time', { ...measured(window(OLD, 0.1), window(OLD, 0.2)), mark: OLD }, false],
    ['a restart with another config', measured(window(OLD, 0.1), window(NEW, 0.2)), false],
    ['nothing of before', { mark: NEW, now: window(OLD, 0.2) }, false],
    ['nothing since', { mark: NEW, before: window(OLD, 0.1) }, false],
    ['too little of before', measured(window(OLD, 0.1, 239), window(OLD, 0.2)), false],
    ['too little since', measured(window(OLD, 0.1), window(OLD, 0.2, 239)), false],
    ['nothing', undefined, false],
  ] as const) {
    it(`${counts ? 'counts' : 'does not count'} with ${what}`, () => {
      assert.equal(sampleOfWaiting('n', measures, NEW) !== null, counts);
    });
  }
});

describe('the analysis of a rollout', () => {
  const worse = node('c', measured(window(OLD, 0.1), window(NEW, 1)));
  const same = node('c', measured(window(OLD, 0.1), window(NEW, 0.1)));
  const young = node('c', measured(window(OLD, 0.1), window(NEW, 0.1, 60)));
  const others = Array.from({ length: 19 }, (_, index) =>
    node(`n${index}`, measured(window(OLD, 0.1), window(OLD, 0.1))),
  );
  const next = (canary: KubeletNode, before?: AnalysisStatus, now = NOW) =>
    nextAnalysis(
      { timeout: '30m' },
      { mark: NEW, canaries: [{ node: canary, sha256: NEW }], waiting: others },
      before,
      now,
    );
  const was = (verdict: AnalysisStatus['verdict'], since: string): AnalysisStatus => ({
    verdict,
    since,
    message: 'so',
  });

  for (const [what, canary, before, verdict, since] of [
    ['passes at once', same, undefined, 'pass', ago(0)],
    ['suspects before it fails', worse, undefined, 'suspect', ago(0)],
    ['waits for what it has not seen', young, undefined, 'waiting', ago(0)],
    ['waits on', young, was('waiting', ago(29, 59)), 'waiting', ago(29, 59)],
    ['goes on without after the timeout', young, was('waiting', ago(30)), 'unknown', ago(0)],
    ['passes after it waited', same, was('waiting', ago(5)), 'pass', ago(0)],
    ['suspects after it waited', worse, was('waiting', ago(5)), 'suspect', ago(0)],
    ['keeps a suspicion until windows begin later', same, was('suspect', ago(14, 59)), 'suspect', ago(14, 59)],
    ['drops a suspicion that was chance', same, was('suspect', ago(15)), 'pass', ago(0)],
    ['fails what is worse twice', worse, was('suspect', ago(15)), 'fail', ago(0)],
    ['keeps a suspicion that cannot be confirmed', young, was('suspect', ago(44, 59)), 'suspect', ago(44, 59)],
    ['but not forever', young, was('suspect', ago(45)), 'unknown', ago(0)],
    ['never judges again what passed', worse, was('pass', ago(600)), 'pass', ago(600)],
    ['nor what failed', same, was('fail', ago(600)), 'fail', ago(600)],
    ['nor what it went on without', worse, was('unknown', ago(600)), 'unknown', ago(600)],
  ] as const) {
    it(what, () => {
      const found = next(canary, before);
      assert.deepEqual([found.verdict, found.since], [verdict, since]);
    });
  }

  it('leaves out nodes that wait and tell nothing', () => {
    const waiting = [...others, node('mute'), { ...node('early'), status: {} }];
    const compared = { mark: NEW, canaries: [{ node: same, sha256: NEW }], waiting };
    const { message } = nextAnalysis({ timeout: '30m' }, compared, undefined, NOW);
    assert.equal(message, '1 node compared with 19 nodes that wait');
  });

  it('says why it waits, what it suspects and what failed', () => {
    const figures = '1 cores for the kubelet, before 0.1; of 19 nodes that wait 0 got as much worse';
    assert.equal(next(young).message, 'c was measured for 60 of 240 seconds');
    assert.equal(next(worse).message, `${figures}; looked at again in 15 minutes`);
    assert.equal(next(worse, was('suspect', ago(15))).message, figures);
    assert.equal(
      next(young, was('waiting', ago(30))).message,
      'not enough to compare in time: c was measured for 60 of 240 seconds',
    );
  });
});

describe('who is measured', () => {
  const marked = (count: number, mark?: string) =>
    Array.from({ length: count }, (_, index) => node(`n${String(index).padStart(3, '0')}`, undefined, mark));
  const names = (marks: ReturnType<typeof measureMarks>) =>
    marks.map(({ node: { metadata }, mark }) => [metadata.name, mark]);

  it('is everybody, once', () => {
    assert.equal(measureMarks(NEW, marked(5), marked(60)).length, 65);
    assert.deepEqual(measureMarks(NEW, marked(5, NEW), marked(60, NEW)), []);
  });

  it('are the first 40 that wait, again for each rollout', () => {
    const [some, others] = [marked(60, OLD).slice(0, 30), marked(60, OLD).slice(30)];
    const waiting = [...others, ...some.toReversed()];
    assert.deepEqual(
      names(measureMarks(NEW, [], waiting)),
      Array.from({ length: 40 }, (_, index) => [`n${String(index).padStart(3, '0')}`, NEW]),
    );
  });

  it('is no node again that was told', () => assert.deepEqual(measureMarks(NEW, marked(5, OLD), []), []));

  it('is nobody any more where the pool does not ask', () => {
    assert.deepEqual(names(measureMarks(null, marked(1, OLD), [node('y'), node('z', undefined, OLD)])), [
      ['n000', null],
      ['z', null],
    ]);
  });
});
