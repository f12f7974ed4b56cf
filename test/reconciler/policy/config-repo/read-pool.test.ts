import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPool, resolveLayer } from '#reconciler/policy/config-repo/read-pool.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
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

  it('names a duration that is not valid with its field', () => {
    const messages = ['0s', 'soon'].map(
      (duration) => readSpec(`{${ANY}, trial: {duration: ${duration}}}`).findings[0]?.message ?? '',
    );
    assert.match(messages[0] ?? '', /^spec\.trial\.duration has to be more than 0s$/);
    assert.match(messages[1] ?? '', /^spec\.trial\.duration is "soon"/);
  });

  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ['needs a spec', 'null', ['missing-field -']],
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
    ['refuses a start of no time', `{${ANY}, trial: {startTimeout: 0s}}`, ['bad-duration spec.trial.startTimeout']],
    ['refuses a restart less than none', `{${ANY}, trial: {maxRestarts: -1}}`, ['out-of-range spec.trial.maxRestarts']],
    ['takes a trial without restarts', `{${ANY}, trial: {maxRestarts: 0}}`, []],
    ['takes a thousand restarts', `{${ANY}, trial: {maxRestarts: 1000}}`, []],
    ['refuses a restart more', `{${ANY}, trial: {maxRestarts: 1001}}`, ['out-of-range spec.trial.maxRestarts']],
    ['refuses restarts in words', `{${ANY}, trial: {maxRestarts: "5"}}`, ['out-of-range spec.trial.maxRestarts']],
    [
      'doubts a budget of all',
      `{${ANY}, rollout: {maxUnavailable: 100%}}`,
      ['doubtful-value spec.rollout.maxUnavailable'],
    ],
    [
      'refuses a budget less than none',
      `{${ANY}, rollout: {maxUnavailable: -1}}`,
      ['out-of-range spec.rollout.maxUnavailable'],
    ],
    [
      'refuses a budget in words',
      `{${ANY}, rollout: {maxUnavailable: "2"}}`,
      ['out-of-range spec.rollout.maxUnavailable'],
    ],
    [
      'refuses a budget of which nobody knows how much',
      `{${ANY}, rollout: {maxUnavailable: "%"}}`,
      ['out-of-range spec.rollout.maxUnavailable'],
    ],
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
    ['refuses labels in a list', '{nodeSelector: {matchLabels: [a]}}', ['wrong-type spec.nodeSelector.matchLabels']],
    [
      'refuses expressions in a map',
      '{nodeSelector: {matchExpressions: {key: a, operator: Exists}}}',
      ['wrong-type spec.nodeSelector.matchExpressions'],
    ],
    [
      'refuses values that are no list',
      '{nodeSelector: {matchExpressions: [{key: a, operator: Exists, values: b}]}}',
      ['wrong-type spec.nodeSelector.matchExpressions[0].values'],
    ],
    [
      'refuses a value of an expression that is no text',
      '{nodeSelector: {matchExpressions: [{key: a, operator: In, values: [b, 1]}]}}',
      ['bad-label spec.nodeSelector.matchExpressions[0].values[1]'],
    ],
    [
      'refuses an expression of which the key is no text',
      '{nodeSelector: {matchExpressions: [{key: 5, operator: Exists}]}}',
      ['bad-label spec.nodeSelector.matchExpressions[0].key'],
    ],
    ['refuses a spec in a list', '[]', ['wrong-type spec']],
    ['refuses a rollout in a list', `{${ANY}, rollout: []}`, ['wrong-type spec.rollout']],
    ['refuses failures in a list', `{${ANY}, rollout: {onFailure: []}}`, ['wrong-type spec.rollout.onFailure']],
    ['refuses a duration in a list', `{${ANY}, trial: {duration: [1h]}}`, ['bad-duration spec.trial.duration']],
    ['refuses a duration that is a number', `{${ANY}, trial: {duration: 600}}`, ['bad-duration spec.trial.duration']],
    ['refuses a soak in words', `{${ANY}, rollout: {soak: soon}}`, ['bad-duration spec.rollout.soak']],
    [
      'refuses a budget in a list',
      `{${ANY}, rollout: {maxUnavailable: [5%]}}`,
      ['out-of-range spec.rollout.maxUnavailable'],
    ],
    [
      'refuses an expression without key',
      '{nodeSelector: {matchExpressions: [{operator: Exists}]}}',
      ['bad-label spec.nodeSelector.matchExpressions[0].key'],
    ],
  ];
  for (const [name, spec, expected] of rows)
    it(name, () => assert.deepEqual(mistakesIn(spec).toSorted(), expected.toSorted()));

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

describe('a selector', () => {
  const selectorOf = (spec: string) => readSpec(`{nodeSelector: ${spec}}`).spec.nodeSelector;

  it('has what is written and nothing else', () => {
    assert.deepEqual(selectorOf('{}'), {});
    assert.deepEqual(selectorOf('{matchLabels: {a: b}}'), { matchLabels: { a: 'b' } });
    const requirement = { key: 'a', operator: 'Exists' };
    assert.deepEqual(selectorOf('{matchExpressions: [{key: a, operator: Exists}]}'), {
      matchExpressions: [requirement],
    });
  });
});

const HEAD = { apiVersion: 'kubelet-gitops.dev/v1alpha1', kind: 'KubeletPool', spec: { nodeSelector: {} } };

describe('the head of a file', () => {
  const rows: readonly (readonly [string, unknown, readonly string[]])[] = [
    ['may leave out the name', HEAD, []],
    ['may repeat the name', { ...HEAD, metadata: { name: 'x' } }, []],
    ['may leave out everything in metadata', { ...HEAD, metadata: {} }, []],
    ['has the name of the folder', { ...HEAD, metadata: { name: 'y' } }, ['wrong-name metadata.name']],
    ['has nothing but a name', { ...HEAD, metadata: { labels: {} } }, ['unknown-field metadata.labels']],
    ['has a map for metadata', { ...HEAD, metadata: [] }, ['wrong-type metadata']],
    ['says its version', { ...HEAD, apiVersion: 'kubelet-gitops.dev/v1' }, ['wrong-kind apiVersion']],
    ['says its kind', { ...HEAD, kind: undefined }, ['wrong-kind kind']],
    ['has no other keys', { ...HEAD, status: {} }, ['unknown-field status']],
    ['is that of a map', [], ['wrong-type -']],
    ['is missing where there is nothing', null, ['wrong-type -']],
  ];
  for (const [name, document, expected] of rows) {
    it(name, () => {
      const report = fileReport('pool.yaml', () => undefined);
      readPool(document, 'x', report);
      assert.deepEqual(
        report.findings.map(({ code, field }) => `${code} ${field ?? '-'}`),
        expected,
      );
    });
  }

  it('is wrong by a finding that says no more than is known', () => {
    const report = fileReport('pool.yaml', () => undefined);
    report.error('wrong-type', [], 'it has to be a map');
    const finding = { code: 'wrong-type', severity: 'error', message: 'it has to be a map', file: 'pool.yaml' };
    assert.deepEqual(report.findings, [finding]);
  });
});

describe('what a pool allows, denies and tolerates', () => {
  const policyOf = (spec: unknown) => {
    const report = fileReport('pool.yaml', () => undefined);
    const { deny, tolerate } = readPool({ ...HEAD, spec }, 'x', report);
    return { deny, tolerate, said: report.findings.map(({ code, field }) => `${code} ${field}`).toSorted() };
  };
  const rows: readonly (readonly [string, unknown, ReturnType<typeof policyOf>])[] = [
    ['is nothing where it says nothing', { nodeSelector: {} }, { deny: [], tolerate: [], said: [] }],
    [
      'is nothing where nothing is written',
      { nodeSelector: {}, fields: null, tolerate: null },
      { deny: [], tolerate: [], said: [] },
    ],
    ['is nothing without a spec', undefined, { deny: [], tolerate: [], said: ['missing-field undefined'] }],
    [
      'is each field and each code once',
      {
        nodeSelector: {},
        fields: { allow: ['port', 'port'], deny: ['maxPods'] },
        tolerate: ['wrong-case', 'wrong-case'],
      },
      { deny: ['maxPods'], tolerate: ['wrong-case'], said: ['pool-cannot-allow spec.fields.allow'] },
    ],
    [
      'is what of it can be read',
      { nodeSelector: {}, fields: { deny: ['port', 'prot', 5] }, tolerate: ['wrong-case', 'wrong-cas', 5] },
      {
        deny: ['port'],
        tolerate: ['wrong-case'],
        said: [
          'unknown-value spec.fields.deny[1]',
          'unknown-value spec.fields.deny[2]',
          'unknown-value spec.tolerate[1]',
          'unknown-value spec.tolerate[2]',
        ],
      },
    ],
    [
      'is nothing that is not a list',
      { nodeSelector: {}, fields: { allow: 'port' }, tolerate: 'wrong-case' },
      { deny: [], tolerate: [], said: ['wrong-type spec.fields.allow', 'wrong-type spec.tolerate'] },
    ],
  ];
  for (const [name, spec, expected] of rows) it(name, () => assert.deepEqual(policyOf(spec), expected));
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
