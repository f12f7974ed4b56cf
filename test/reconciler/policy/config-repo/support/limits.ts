import { readPool } from '#reconciler/policy/config-repo/read-pool.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import { API_VERSION } from '#shared/contract/api/group.ts';

export type Spec = Readonly<Record<string, unknown>>;

/** A pool that says this besides its selector, and what is wrong with it. */
export function read(more: Spec) {
  const report = fileReport('pool.yaml', () => ({ line: 1, column: 1 }));
  const document = { apiVersion: API_VERSION, kind: 'KubeletPool', spec: { nodeSelector: {}, ...more } };
  const { spec } = readPool(document, 'x', report);
  return { spec, findings: report.findings };
}

const rollout = (part: Spec): Spec => ({ rollout: part });
const window = (part: Spec): Spec => rollout({ windows: { allow: [{ cron: '0 2 * * *', duration: '1h', ...part }] } });
const prometheus = (part: Spec): Spec => ({ blockers: { prometheus: { url: 'http://p', query: 'up', ...part } } });
const url = (length: number): string => `http://p/${'a'.repeat(length - 9)}`;
const alerts = (length: number): Spec => prometheus({ query: undefined, alerts: ['a'.repeat(length)] });
const ports = (count: number): Spec => ({ fields: { deny: Array.from({ length: count }, () => 'port') } });
const labels = (value: string): Spec => ({ nodeSelector: { matchLabels: { a: value } } });
const canaries = (nodes: unknown): Spec => rollout({ canary: { nodes } });
const INT32 = 2 ** 31 - 1;
const YEAR = '8784h';

/** A list of so many, each made from its number. */
const many = <T>(count: number, item: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => item(i));
const steps = (count: number): Spec => rollout({ steps: many(count, (i) => ({ nodes: i + 1 })) });
const freezes = (count: number): Spec =>
  rollout({ windows: { deny: many(count, () => ({ cron: '0 2 * * *', duration: '1h' })) } });
const expressions = (count: number): Spec => ({
  nodeSelector: { matchExpressions: many(count, (i) => ({ key: `a${i}`, operator: 'Exists' })) },
});
const hosts = (count: number): Spec => ({
  nodeSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: many(count, (i) => `n${i}`) }] },
});
const named = (count: number): Spec => prometheus({ query: undefined, alerts: many(count, (i) => `A${i}`) });
const measured = (count: number): Spec =>
  rollout({ canary: { nodes: 1 }, analysis: { measures: many(count, () => 'cpu') } });
const file = (length: number): Spec => ({ layers: [`base/${'a'.repeat(length - 5)}`] });
const soak = (written: string): Spec => rollout({ soak: written });

/** What is limited; the last that is taken; the first that is not; what is said of that. */
export const LIMITS: readonly (readonly [what: string, last: Spec, beyond: Spec, finding: string])[] = [
  ['a high priority', { priority: INT32 }, { priority: INT32 + 1 }, 'out-of-range spec.priority'],
  ['a low priority', { priority: -INT32 }, { priority: -INT32 - 1 }, 'out-of-range spec.priority'],
  [
    'the restarts of a trial',
    { trial: { maxRestarts: 1000 } },
    { trial: { maxRestarts: 1001 } },
    'out-of-range spec.trial.maxRestarts',
  ],
  [
    'no restart in a trial',
    { trial: { maxRestarts: 0 } },
    { trial: { maxRestarts: -1 } },
    'out-of-range spec.trial.maxRestarts',
  ],
  ['a short trial', { trial: { duration: '1ms' } }, { trial: { duration: '0s' } }, 'bad-duration spec.trial.duration'],
  [
    'a short time to start',
    { trial: { startTimeout: '1ms' } },
    { trial: { startTimeout: '0s' } },
    'bad-duration spec.trial.startTimeout',
  ],
  ['a long soak', soak(YEAR), soak('8784h1ms'), 'bad-duration spec.rollout.soak'],
  ['a soak in few letters', soak(`${'0'.repeat(30)}1h`), soak(`${'0'.repeat(31)}1h`), 'bad-duration spec.rollout.soak'],
  [
    'a window in few letters',
    window({ duration: `${'0'.repeat(30)}1h` }),
    window({ duration: `${'0'.repeat(31)}1h` }),
    'bad-text spec.rollout.windows.allow[0].duration',
  ],
  ['as many steps', steps(64), steps(65), 'out-of-range spec.rollout.steps'],
  ['as many windows', freezes(64), freezes(65), 'out-of-range spec.rollout.windows.deny'],
  ['as many expressions', expressions(64), expressions(65), 'out-of-range spec.nodeSelector.matchExpressions'],
  ['as many values', hosts(256), hosts(257), 'out-of-range spec.nodeSelector.matchExpressions[0].values'],
  ['as many alerts', named(100), named(101), 'out-of-range spec.blockers.prometheus.alerts'],
  ['as many measures', measured(16), measured(17), 'out-of-range spec.rollout.analysis.measures'],
  [
    'as many layers',
    { layers: many(64, (i) => `base/${i}.yaml`) },
    { layers: many(65, (i) => `base/${i}.yaml`) },
    'out-of-range spec.layers',
  ],
  ['a layer with a long path', file(1024), file(1025), 'bad-path spec.layers[0]'],
  [
    'a budget that can be counted',
    rollout({ maxUnavailable: Number.MAX_SAFE_INTEGER }),
    rollout({ maxUnavailable: 1e300 }),
    'out-of-range spec.rollout.maxUnavailable',
  ],
  [
    'a small budget',
    rollout({ maxUnavailable: 0 }),
    rollout({ maxUnavailable: -1 }),
    'out-of-range spec.rollout.maxUnavailable',
  ],
  [
    'a large budget',
    rollout({ maxUnavailable: '100%', canary: { nodes: 1 } }),
    rollout({ maxUnavailable: '101%', canary: { nodes: 1 } }),
    'out-of-range spec.rollout.maxUnavailable',
  ],
  [
    'a budget of whole nodes',
    rollout({ maxUnavailable: 1 }),
    rollout({ maxUnavailable: 1.5 }),
    'out-of-range spec.rollout.maxUnavailable',
  ],
  [
    'a small budget of a zone',
    rollout({ maxUnavailablePerZone: '0%' }),
    rollout({ maxUnavailablePerZone: 'a0%' }),
    'out-of-range spec.rollout.maxUnavailablePerZone',
  ],
  [
    'a large budget of a zone',
    rollout({ maxUnavailablePerZone: '100%' }),
    rollout({ maxUnavailablePerZone: '100%b' }),
    'out-of-range spec.rollout.maxUnavailablePerZone',
  ],
  [
    'the failures that halt',
    rollout({ onFailure: { threshold: '1%' } }),
    rollout({ onFailure: { threshold: '0%' } }),
    'out-of-range spec.rollout.onFailure.threshold',
  ],
  ['few canaries', canaries(1), canaries(0), 'out-of-range spec.rollout.canary.nodes'],
  ['few canaries in a hundred', canaries('1%'), canaries('0%'), 'out-of-range spec.rollout.canary.nodes'],
  [
    'a small step',
    rollout({ steps: [{ nodes: 1 }] }),
    rollout({ steps: [{ nodes: 0 }] }),
    'out-of-range spec.rollout.steps[0].nodes',
  ],
  [
    'a step beside the canaries',
    rollout({ canary: { nodes: 3 }, steps: [{ nodes: 3 }] }),
    rollout({ canary: { nodes: 3 }, steps: [{ nodes: 2 }] }),
    'out-of-range spec.rollout.steps[0].nodes',
  ],
  [
    'a step beside canaries in a hundred',
    rollout({ canary: { nodes: '3%' }, steps: [{ nodes: '3%' }] }),
    rollout({ canary: { nodes: '3%' }, steps: [{ nodes: '2%' }] }),
    'out-of-range spec.rollout.steps[0].nodes',
  ],
  [
    'the next step',
    rollout({ steps: [{ nodes: 3 }, { nodes: 4 }] }),
    rollout({ steps: [{ nodes: 3 }, { nodes: 3 }] }),
    'out-of-range spec.rollout.steps[1].nodes',
  ],
  [
    'the reason of an emergency',
    rollout({ emergency: 'a'.repeat(500) }),
    rollout({ emergency: 'a'.repeat(501) }),
    'bad-text spec.rollout.emergency',
  ],
  ['a reason of a letter', rollout({ emergency: 'a' }), rollout({ emergency: '' }), 'bad-text spec.rollout.emergency'],
  [
    'a reason of readable letters',
    rollout({ emergency: 'a\u{a0}b' }),
    rollout({ emergency: 'a\u{7f}b' }),
    'bad-text spec.rollout.emergency',
  ],
  [
    'the text of a window',
    window({ cron: `${'0,'.repeat(123)}0 2 * * *` }),
    window({ cron: `${'0,'.repeat(124)}0 2 * * *` }),
    'bad-text spec.rollout.windows.allow[0].cron',
  ],
  [
    'a short window',
    window({ duration: '1s' }),
    window({ duration: '0s' }),
    'bad-duration spec.rollout.windows.allow[0].duration',
  ],
  [
    'a long window',
    window({ duration: '8784h' }),
    window({ duration: '8784h1s' }),
    'bad-duration spec.rollout.windows.allow[0].duration',
  ],
  [
    'the address of a Prometheus',
    prometheus({ url: url(1024) }),
    prometheus({ url: url(1025) }),
    'bad-text spec.blockers.prometheus.url',
  ],
  [
    'an address by https',
    prometheus({ url: 'https://p' }),
    prometheus({ url: 'ftp://p' }),
    'bad-url spec.blockers.prometheus.url',
  ],
  [
    'an address without a scheme around http',
    prometheus({ url: 'http://p/x' }),
    prometheus({ url: 'xhttp://p' }),
    'bad-url spec.blockers.prometheus.url',
  ],
  [
    'an address without a name',
    prometheus({}),
    prometheus({ url: 'http://me@p' }),
    'bad-url spec.blockers.prometheus.url',
  ],
  [
    'an address without a password',
    prometheus({}),
    prometheus({ url: 'http://:secret@p' }),
    'bad-url spec.blockers.prometheus.url',
  ],
  [
    'an address without a query',
    prometheus({}),
    prometheus({ url: 'http://p?a=b' }),
    'bad-url spec.blockers.prometheus.url',
  ],
  [
    'an address without a fragment',
    prometheus({}),
    prometheus({ url: 'http://p#a' }),
    'bad-url spec.blockers.prometheus.url',
  ],
  [
    'a query of a Prometheus',
    prometheus({ query: 'a'.repeat(4096) }),
    prometheus({ query: 'a'.repeat(4097) }),
    'bad-text spec.blockers.prometheus.query',
  ],
  ['the name of an alert', alerts(200), alerts(201), 'bad-text spec.blockers.prometheus.alerts[0]'],
  ['an alert with a name', alerts(1), alerts(0), 'bad-text spec.blockers.prometheus.alerts[0]'],
  [
    'a namespace by its name',
    { blockers: { pods: { namespace: 'a', selector: { matchLabels: { a: 'b' } } } } },
    { blockers: { pods: { namespace: 7, selector: { matchLabels: { a: 'b' } } } } },
    'bad-label spec.blockers.pods.namespace',
  ],
  ['the fields that are denied', ports(200), ports(201), 'wrong-type spec.fields.deny'],
  ['fields in a list', ports(1), { fields: { deny: 'port' } }, 'wrong-type spec.fields.deny'],
  ['the value of a label', labels('a'.repeat(63)), labels('a'.repeat(64)), 'bad-label spec.nodeSelector.matchLabels.a'],
  [
    'a short drain',
    { disruption: { drainTimeout: '1s' } },
    { disruption: { drainTimeout: '0s' } },
    'bad-duration spec.disruption.drainTimeout',
  ],
];
