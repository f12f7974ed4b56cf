import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mistakesIn } from './support/read-spec.ts';

/** A code, where in the spec something is written, the place below that which is wrong, and what may not be written there. */
const WRONG: readonly (readonly [code: string, at: string, below: string, ...written: readonly string[]])[] = [
  ['wrong-case', 'Priority', '', '1'],
  ['unknown-value', 'apply', '', 'merge'],
  ['missing-field', 'blockers', '', '{}'],
  ['missing-field', 'blockers.pods', '', '{namespace: a}'],
  ['bad-label', 'blockers.pods', '.namespace', '{namespace: A, selector: {matchLabels: {a: b}}}'],
  ['missing-field', 'blockers.pods.selector', '', '{}'],
  [
    'bad-text',
    'blockers.prometheus',
    '.alerts[0]',
    '{url: "http://p", alerts: [5]}',
    '{url: "http://p", alerts: [\'a"b\']}',
  ],
  ['missing-field', 'blockers.prometheus', '', '{url: "http://p:9090"}'],
  ['conflict', 'blockers.prometheus', '', '{url: "http://p:9090", query: up, alerts: [A]}'],
  ['missing-field', 'blockers.prometheus', '.url', '{query: up}'],
  ['bad-url', 'blockers.prometheus', '.url', '{url: "p:9090", query: up}', '{url: "http://me:secret@p", query: up}'],
  ['duplicate-item', 'blockers.prometheus', '.alerts[1]', '{url: "http://p", alerts: [A, A]}'],
  ['missing-partner', 'disruption', '.reboot', '{allow: [restart, reboot]}'],
  ['unknown-value', 'disruption.allow', '[1]', '[restart, null]', '[restart, evict]'],
  ['missing-partner', 'disruption.allow', '', '[drain]'],
  ['bad-duration', 'disruption.drainTimeout', '', '0s'],
  ['missing-field', 'disruption.reboot', '', '{timeout: 1h}'],
  ['unknown-value', 'drift', '', 'ignore', '{policy: report}'],
  ['wrong-type', 'layers', '', '[]'],
  ['bad-path', 'layers', '[0]', '[5]'],
  [
    'missing-field',
    'nodeSelector.matchExpressions',
    '[0].values',
    '[{key: a, operator: In}]',
    '[{key: a, operator: NotIn, values: []}]',
    '[{key: a, operator: Exists, values: [b]}]',
  ],
  ['unknown-value', 'nodeSelector.matchExpressions', '[0].operator', '[{key: a, operator: Gt, values: ["1"]}]'],
  ['missing-field', 'nodeSelector.matchExpressions', '[0]', '[{key: a}]'],
  ['wrong-type', 'nodeSelector.matchExpressions', '', '{key: a, operator: Exists}'],
  ['wrong-type', 'nodeSelector.matchExpressions', '[0].values', '[{key: a, operator: Exists, values: b}]'],
  ['bad-label', 'nodeSelector.matchExpressions', '[0].values[1]', '[{key: a, operator: In, values: [b, 1]}]'],
  ['bad-label', 'nodeSelector.matchExpressions', '[0].key', '[{key: 5, operator: Exists}]', '[{operator: Exists}]'],
  ['bad-label', 'nodeSelector.matchLabels', '["a b"]', '{"a b": c}'],
  ['wrong-type', 'nodeSelector.matchLabels', '', '[a]'],
  ['bad-label', 'nodeSelector.matchLabels.a', '', 'true'],
  ['out-of-range', 'priority', '', '1.5'],
  ['doubtful-value', 'rollout', '.maxOnTrial', '{maxOnTrial: 1, probation: full}'],
  ['out-of-range', 'rollout', '.steps[0].nodes', '{canary: {nodes: 3}, steps: [{nodes: 2}]}'],
  ['wrong-type', 'rollout', '', '[]'],
  ['missing-field', 'rollout.analysis', '', '{}'],
  ['unknown-value', 'rollout.analysis.measures', '[0]', '[cpus]'],
  ['wrong-type', 'rollout.analysis.measures', '', '[]'],
  ['out-of-range', 'rollout.analysis.thresholds.cpu.least', '', 'much', '"1"', '1e999'],
  ['unknown-field', 'rollout.analysis.thresholds.cpus', '', '{least: 1}'],
  ['bad-duration', 'rollout.analysis.timeout', '', 'soon'],
  ['unknown-field', 'rollout.canaries', '', '1'],
  [
    'conflict',
    'rollout.canary',
    '',
    '{nodes: 1, selector: {matchLabels: {a: b}}}',
    '{perClass: true, selector: {matchLabels: {a: b}}}',
  ],
  ['missing-field', 'rollout.canary', '', '{perClass: true}', '{soak: 1h}'],
  ['wrong-type', 'rollout.canary', '.perClass', '{nodes: 1, perClass: often}'],
  ['bad-duration', 'rollout.canary', '.soak', '{nodes: 1, soak: long}'],
  ['out-of-range', 'rollout.canary.nodes', '', '0', '101%'],
  ['missing-field', 'rollout.canary.selector', '', '{}'],
  ['bad-text', 'rollout.emergency', '', '" "', 'true'],
  ['out-of-range', 'rollout.maxOnTrial', '', '0'],
  ['out-of-range', 'rollout.maxUnavailable', '', '-1', '101%', '"2"', '"%"', '[5%]'],
  ['doubtful-value', 'rollout.maxUnavailable', '', '100%'],
  ['out-of-range', 'rollout.maxUnavailablePerZone', '', '-1'],
  ['unknown-value', 'rollout.notReadyNodes', '', 'skip'],
  ['wrong-type', 'rollout.onFailure', '', '[]'],
  ['unknown-value', 'rollout.onFailure.action', '', 'rollback'],
  ['out-of-range', 'rollout.onFailure.threshold', '', '0'],
  ['unknown-field', 'rollout.onFailure.treshold', '', '1'],
  ['bad-duration', 'rollout.probation', '', '0s', 'Full', '60'],
  ['bad-duration', 'rollout.soak', '', 'soon'],
  ['out-of-range', 'rollout.steps', '[1].nodes', '[{nodes: 10%}, {nodes: 10%}]'],
  ['out-of-range', 'rollout.steps', '[2].nodes', '[{nodes: 5}, {nodes: 10%}, {nodes: 4}]'],
  ['missing-field', 'rollout.steps', '[0]', '[{soak: 1h}, {nodes: 5}, {nodes: 3}]', '[{soak: 1h}]'],
  ['wrong-type', 'rollout.steps', '', '[]'],
  ['unknown-field', 'rollout.steps', '[0].wait', '[{nodes: 1, wait: 1h}]'],
  ['wrong-type', 'rollout.steps', '[0]', '[null]'],
  ['bad-duration', 'rollout.steps', '[0].soak', '[{nodes: 1, soak: long}]'],
  ['missing-field', 'rollout.windows.allow', '[0]', '[{cron: 0 2 * * *}]', '[{duration: 1h}]'],
  ['bad-cron', 'rollout.windows.allow', '[0].cron', '[{cron: 0 2 30 2 *, duration: 1h}]'],
  ['bad-duration', 'rollout.windows.allow', '[0].duration', '[{cron: 0 2 * * *, duration: 0s}]'],
  ['bad-time-zone', 'rollout.windows.allow', '[0].timeZone', '[{cron: 0 2 * * *, duration: 1h, timeZone: Berlin}]'],
  ['bad-text', 'rollout.windows.allow', '[0].cron', '[{cron: 5, duration: 1h}]'],
  ['wrong-type', 'rollout.windows.allow', '[0]', '[5]', '[null]'],
  ['bad-text', 'rollout.windows.allow', '[0].duration', '[{cron: 0 2 * * *, duration: 5}]'],
  ['unknown-value', 'rollout.windows.overrun', '', 'go-on'],
  ['wrong-type', 'suspend', '', '"yes"'],
  ['bad-duration', 'trial.duration', '', '"600"', '0s', '[1h]', '600'],
  ['bad-duration', 'trial.durationAfterCanary', '', '0s'],
  ['out-of-range', 'trial.maxRestarts', '', '-1', '1001', '"5"'],
  ['bad-duration', 'trial.startTimeout', '', '0s'],
  ['unknown-field', 'windows', '', '[]'],
];

/** A spec that says this at the place, and what that needs beside it. */
function specWith(at: string, written: string): string {
  const besides = at.startsWith('rollout.analysis.') ? 'canary: {nodes: 1}, ' : '';
  const [top = '', ...keys] = at.split('.');
  const nested = keys.reduceRight((below, key, index) => `{${index === 0 ? besides : ''}${key}: ${below}}`, written);
  return top === 'nodeSelector' ? `{${top}: ${nested}}` : `{nodeSelector: {}, ${top}: ${nested}}`;
}

describe('a pool', () => {
  for (const [code, at, below, ...written] of WRONG) {
    for (const each of written) {
      it(`may not say ${at}: ${each}`, () =>
        assert.deepEqual(mistakesIn(specWith(at, each)), [`${code} spec.${at}${below}`]));
    }
  }

  for (const [at, written, ...expected] of [
    ['rollout.analysis.thresholds.cpu', '{least: -1, percent: 1.5}', 'out-of-range .least', 'out-of-range .percent'],
    [
      'rollout.steps',
      '[{nodes: 5}, {nodes: 0, soak: long}, {nodes: 6}]',
      'bad-duration [1].soak',
      'out-of-range [1].nodes',
    ],
    ['disruption.reboot', '{by: magic, timeout: 0s}', 'unknown-value .by', 'bad-duration .timeout'],
  ] as const) {
    it(`hears of each mistake in ${at}: ${written}`, () => {
      const found = mistakesIn(specWith(at, written)).map((each) => each.replace(`spec.${at}`, ''));
      assert.deepEqual(new Set(found), new Set<string>(expected));
    });
  }

  for (const [at, written] of [
    ['nodeSelector', '{}'],
    ['drift', 'repair'],
    ['rollout', 'null'],
    ['rollout.maxUnavailable', '0%'],
    ['rollout.soak', '0s'],
    ['trial.maxRestarts', '0'],
    ['trial.maxRestarts', '1000'],
  ] as const) {
    it(`may say ${at}: ${written}`, () => assert.deepEqual(mistakesIn(specWith(at, written)), []));
  }

  for (const [spec, wrong] of [
    ['null', 'missing-field -'],
    ['[]', 'wrong-type spec'],
    ['{priority: 1}', 'missing-field spec.nodeSelector'],
  ] as const) {
    it(`may not have the spec ${spec}`, () => assert.deepEqual(mistakesIn(spec), [wrong]));
  }
});
