import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveLayer } from '#reconciler/policy/repo/read-pool.ts';
import { mistakesIn, readSpec } from './support/read-spec.ts';

const ANY = 'nodeSelector: {}';

describe('pool.yaml', () => {
  it('takes everything that a pool can say', () => {
    const { spec, findings } = readSpec(`
  nodeSelector:
    matchLabels: {pool: gpu}
    matchExpressions:
      - {key: zone, operator: In, values: [a, b]}
      - {key: gone, operator: DoesNotExist}
  priority: -5
  layers: [base/a.yaml]
  apply: replace
  rollout: {maxUnavailable: 10%, soak: 5m, onFailure: {threshold: 2, action: halt}}
  trial: {duration: 1h, startTimeout: 90s, maxRestarts: 0}
  drift: report`);
    assert.deepEqual(findings, []);
    assert.deepEqual(spec, {
      nodeSelector: {
        matchLabels: { pool: 'gpu' },
        matchExpressions: [
          { key: 'zone', operator: 'In', values: ['a', 'b'] },
          { key: 'gone', operator: 'DoesNotExist' },
        ],
      },
      priority: -5,
      layers: ['base/a.yaml'],
      apply: 'replace',
      rollout: { maxUnavailable: '10%', soak: '5m', onFailure: { threshold: 2, action: 'halt' } },
      trial: { duration: '1h', startTimeout: '90s', maxRestarts: 0 },
      drift: 'report',
    });
  });

  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ['needs a spec', 'null', ['missing-field -', 'missing-field spec.nodeSelector']],
    ['needs a selector', '{priority: 1}', ['missing-field spec.nodeSelector']],
    ['takes an empty selector for all nodes', `{${ANY}}`, []],
    ['takes null as left out', `{${ANY}, priority: null, rollout: null}`, []],
    ['refuses unknown keys', `{${ANY}, windows: []}`, ['unknown-field spec.windows']],
    ['refuses them further down', `{${ANY}, rollout: {canaries: 1}}`, ['unknown-field spec.rollout.canaries']],
    ['refuses keys in the wrong case', `{${ANY}, Priority: 1}`, ['wrong-case spec.Priority']],
    ['refuses a fraction as priority', `{${ANY}, priority: 1.5}`, ['out-of-range spec.priority']],
    ['refuses an unknown mode', `{${ANY}, apply: merge}`, ['unknown-value spec.apply']],
    ['takes both ways with drift', `{${ANY}, drift: repair}`, []],
    ['refuses to overlook drift', `{${ANY}, drift: ignore}`, ['unknown-value spec.drift']],
    ['refuses drift that is no word', `{${ANY}, drift: {policy: report}}`, ['unknown-value spec.drift']],
    ['refuses no layers at all', `{${ANY}, layers: []}`, ['wrong-type spec.layers']],
    ['refuses a layer that is no text', `{${ANY}, layers: [5]}`, ['bad-path spec.layers[0]']],
    [
      'refuses a negative budget',
      `{${ANY}, rollout: {maxUnavailable: -1}}`,
      ['out-of-range spec.rollout.maxUnavailable'],
    ],
    [
      'refuses more than all',
      `{${ANY}, rollout: {maxUnavailable: 101%}}`,
      ['out-of-range spec.rollout.maxUnavailable'],
    ],
    ['takes a budget of none, which stops the pool', `{${ANY}, rollout: {maxUnavailable: 0%}}`, []],
    [
      'refuses a threshold of none',
      `{${ANY}, rollout: {onFailure: {threshold: 0}}}`,
      ['out-of-range spec.rollout.onFailure.threshold'],
    ],
    ['refuses a duration without a unit', `{${ANY}, trial: {duration: "600"}}`, ['bad-duration spec.trial.duration']],
    ['refuses a trial of no time', `{${ANY}, trial: {duration: 0s}}`, ['bad-duration spec.trial.duration']],
    ['takes a soak of no time', `{${ANY}, rollout: {soak: 0s}}`, []],
    [
      'refuses a label key that Kubernetes refuses',
      '{nodeSelector: {matchLabels: {"a b": c}}}',
      ['bad-label spec.nodeSelector.matchLabels["a b"]'],
    ],
    [
      'refuses a label value that is no text',
      '{nodeSelector: {matchLabels: {a: true}}}',
      ['bad-label spec.nodeSelector.matchLabels.a'],
    ],
    [
      'refuses In without values',
      '{nodeSelector: {matchExpressions: [{key: a, operator: In}]}}',
      ['missing-field spec.nodeSelector.matchExpressions[0].values'],
    ],
    [
      'refuses NotIn with no values',
      '{nodeSelector: {matchExpressions: [{key: a, operator: NotIn, values: []}]}}',
      ['missing-field spec.nodeSelector.matchExpressions[0].values'],
    ],
    [
      'refuses Exists with values',
      '{nodeSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}',
      ['missing-field spec.nodeSelector.matchExpressions[0].values'],
    ],
    [
      'refuses an unknown operator',
      '{nodeSelector: {matchExpressions: [{key: a, operator: Gt, values: ["1"]}]}}',
      ['unknown-value spec.nodeSelector.matchExpressions[0].operator'],
    ],
    [
      'refuses an expression without operator',
      '{nodeSelector: {matchExpressions: [{key: a}]}}',
      ['missing-field spec.nodeSelector.matchExpressions[0]'],
    ],
    [
      'refuses an expression without key',
      '{nodeSelector: {matchExpressions: [{operator: Exists}]}}',
      ['bad-label spec.nodeSelector.matchExpressions[0].key'],
    ],
  ];
  for (const [name, spec, expected] of rows) it(name, () => assert.deepEqual(mistakesIn(spec), expected));

  it('guesses what was meant', () => {
    assert.equal(readSpec(`{${ANY}, prioritty: 1}`).findings[0]?.suggestion, 'did you mean priority?');
    assert.equal(readSpec(`{${ANY}, apply: Replace}`).findings[0]?.suggestion, 'did you mean replace?');
    assert.equal(readSpec(`{${ANY}, drift: repaired}`).findings[0]?.suggestion, 'did you mean repair?');
    assert.equal(readSpec(`{${ANY}, drift: ignore}`).findings[0]?.suggestion, 'write repair or report');
    assert.equal(readSpec(`{${ANY}, drift: null}`).spec.drift, 'repair');
    const misspelt = readSpec('{nodeSelecter: {matchLabels: {a: b}}}').findings.map(({ suggestion }) => suggestion);
    assert.deepEqual(misspelt, ['did you mean nodeSelector?', 'name labels of its nodes; {} is every node']);
    assert.equal(readSpec('{nodeSelector: {matchLabels: {a: 1}}}').findings[0]?.suggestion, 'write "1" in quotes');
  });

  it('says of an amount both bounds, for more than all is more often written than less than none', () => {
    const [finding] = readSpec(`{${ANY}, rollout: {maxUnavailable: 150%}}`).findings;
    assert.match(
      finding?.message ?? '',
      / is "150%" and has to be a count from 0 on, or a percentage from 0% to 100%$/,
    );
  });
});

describe('the path of a layer', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['kubelet.yaml', 'pools/x/kubelet.yaml'],
    ['./kubelet.yaml', 'pools/x/kubelet.yaml'],
    ['../y/kubelet.yaml', 'pools/y/kubelet.yaml'],
    ['../../base/a.yaml', 'base/a.yaml'],
    ['base/a.yaml', 'base/a.yaml'],
    ['base/../shared/a.yaml', 'shared/a.yaml'],
    ['../../../a.yaml', undefined],
    ['base/../../a.yaml', undefined],
    ['/base/a.yaml', undefined],
    ['base//a.yaml', undefined],
    ['base/', undefined],
    ['..', undefined],
    ['', undefined],
    ['base\\a.yaml', undefined],
  ];
  for (const [written, expected] of rows) {
    it(`${JSON.stringify(written)} is ${expected ?? 'none'}`, () =>
      assert.equal(resolveLayer(written, 'pools/x'), expected));
  }
});
