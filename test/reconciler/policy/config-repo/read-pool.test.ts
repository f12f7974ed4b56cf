import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPool, resolveLayer } from '#reconciler/policy/config-repo/read-pool.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import { readSpec } from './support/read-spec.ts';

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
