import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { QueryAnswer } from '#reconciler/policy/analysis/query-answer.ts';
import type { BlockersSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { QueryMeasure } from '#shared/contract/api/prometheus-queries.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createBlockerChecks } from '#reconciler/cluster/blockers/blocker-checks.ts';
import { createCanaryQueries } from '#reconciler/cluster/blockers/canary-queries.ts';
import { createWebGet } from '#reconciler/cluster/blockers/web-get.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { without } from '../../../support/required-tools.ts';
import { type RealPrometheus, startPrometheus } from '../../../support/prometheus.ts';

const skip = without('prometheus', ['--version'], 'nothing proves that a real Prometheus is understood');

const CONFIG = 'global: { evaluation_interval: 200ms }\nrule_files: [rules.yaml]\n';
const RULES = `groups:
  - name: test
    rules:
      - { alert: Fire, expr: vector(1) }
      - { alert: Fire.Too, expr: vector(1) }
      - { alert: Calm, expr: vector(1) > 2 }
      - { alert: NotYet, expr: vector(1), for: 1h }
`;

describeOrSkip('a real Prometheus', { skip }, () => {
  let prometheus: RealPrometheus;
  before(async () => {
    prometheus = await startPrometheus({ 'config.yaml': CONFIG, 'rules.yaml': RULES }, '/metrics-of/us');
    await prometheus.answer('ALERTS{alertname="NotYet"}');
  });
  after(() => prometheus.stop());

  const rows: readonly (readonly [string, Omit<NonNullable<BlockersSpec['prometheus']>, 'url'>, boolean, RegExp])[] = [
    ['a firing alert', { alerts: ['Calm', 'Fire'] }, false, /^Fire is firing in Prometheus at/],
    ['a firing alert with a dot in its name', { alerts: ['Fire.Too'] }, false, /^Fire\.Too is firing/],
    ['an alert that nobody has a rule for', { alerts: ['Calm', 'Fir'] }, false, /has no rule for the alert Fir, which/],
    ['an alert that is not firing', { alerts: ['Calm'] }, true, /quiet/],
    ['an alert that is pending', { alerts: ['NotYet'] }, true, /quiet/],
    ['a query with a result', { query: 'ALERTS{alertname="Calm"} or vector(7)' }, false, /has 1 in/],
    ['a query without one', { query: 'vector(1) > 2' }, true, /quiet/],
    ['a query that is none', { query: 'sum(' }, false, /cannot be asked: it refuses the question \(bad_data\)/],
  ];
  for (const [what, spec, quiet, because] of rows) {
    it(`${what} is ${quiet ? 'quiet' : 'not quiet'}`, async () => {
      const web = createWebGet({ clock: systemClock, timeoutMs: 60_000, maxBytes: 1024 * 1024 });
      const kube = { list: () => Promise.reject(new Error('nobody asks for pods here')) };
      const blockers = createBlockerChecks({ kube, web, clock: systemClock });
      const asked = [{ name: 'workers', spec: { prometheus: { url: prometheus.url, ...spec } } }];
      const answer = (await blockers.ask(asked, new AbortController().signal)).get('workers');
      assert.equal(answer?.quiet, quiet, answer?.because);
      assert.match(answer.because, because);
    });
  }

  const NODES = 'label_replace(vector(1), "node", "a", "", "") or label_replace(vector(2), "node", "b:9100", "", "")';
  const HOUR_AGO = Date.now() - 3_600_000;
  /** Is 1 from half an hour ago on. */
  const NEW = `(vector(time()) > bool ${Math.round(HOUR_AGO / 1000) + 1800})`;
  const numbers = (a: number, b: number): ReadonlyMap<string, number> =>
    new Map([
      ['a', a],
      ['b', b],
    ]);
  const measures: readonly (readonly [string, QueryMeasure, QueryAnswer | RegExp])[] = [
    ['a number for each node', { name: 'x', query: NODES, least: 1 }, { before: numbers(1, 2), now: numbers(1, 2) }],
    [
      'numbers that changed since',
      { name: 'x', query: `(${NODES}) * scalar${NEW}`, least: 1 },
      { before: numbers(0, 0), now: numbers(1, 2) },
    ],
    ['a scalar', { name: 'x', query: 'scalar(vector(3)) / 2', above: 1 }, { value: 1.5 }],
    ['a vector of one', { name: 'x', query: 'sum(vector(3))', above: 1 }, { value: 3 }],
    ['nothing', { name: 'x', query: 'absent(vector(1))', above: 1 }, /: the answer is empty$/],
    ['nothing by nothing', { name: 'x', query: 'vector(0) / 0', above: 1 }, /: the answer is not a finite number$/],
    ['a range', { name: 'x', query: 'ALERTS[5m]', above: 1 }, /: the answer is neither a number nor a list/],
    ['no node', { name: 'x', query: 'vector(1)', least: 1 }, /: none of its series has the label node$/],
    ['no PromQL', { name: 'x', query: 'sum(', least: 1 }, /: it refuses the question \(bad_data\)$/],
  ];
  for (const [what, query, expected] of measures) {
    it(`has ${what} for a measure`, async () => {
      const web = createWebGet({ clock: systemClock, timeoutMs: 60_000, maxBytes: 1024 * 1024 });
      const source = { url: prometheus.url, queries: [query] };
      const asked = [{ name: 'workers', source, before: HOUR_AGO }];
      const queries = createCanaryQueries({ web, clock: systemClock });
      const answer = (await queries.ask(asked, new AbortController().signal)).get('workers')?.get('x');
      if (expected instanceof RegExp) assert.match((answer as { missing: string }).missing, expected);
      else assert.deepEqual(answer, expected);
    });
  }
});
