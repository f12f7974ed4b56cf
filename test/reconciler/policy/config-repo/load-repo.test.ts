import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { brief, KUBELET, load, POOL, pool, type Tree, valid } from './support/load.ts';

describe('a pool', () => {
  it('needs no more than a selector and a kubelet.yaml', () => {
    const repo = load({ 'pools/gpu/pool.yaml': POOL, 'pools/gpu/kubelet.yaml': `${KUBELET}maxPods: 64\n` });
    const { spec, value, payload, sha256, configName } = valid(repo, 'gpu');
    assert.deepEqual(spec, {
      nodeSelector: { matchLabels: { pool: 'x' } },
      priority: 0,
      layers: ['pools/gpu/kubelet.yaml'],
      apply: 'overlay',
      rollout: { maxUnavailable: 1, soak: '0s', onFailure: { threshold: 1, action: 'halt' } },
      trial: { duration: '10m', startTimeout: '2m', maxRestarts: 2 },
      drift: 'repair',
    });
    assert.deepEqual(value, { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods: 64 });
    assert.deepEqual(JSON.parse(payload), value);
    assert.equal(sha256, payloadSha256(payload));
    assert.equal(configName, configMapName('gpu', payload));
    assert.deepEqual(repo.findings, []);
  });

  it('lays its layers over each other in their order', () => {
    const repo = load({
      'base/all.yaml': `${KUBELET}maxPods: 110\nkubeReserved: {cpu: 100m, memory: 1Gi}\n`,
      'pools/a/pool.yaml': `${POOL}  layers: [base/all.yaml, kubelet.yaml]\n`,
      'pools/a/kubelet.yaml': `${KUBELET}kubeReserved: {memory: 2Gi}\n`,
      'pools/b/pool.yaml': `${POOL}  layers: [../../base/all.yaml, ./more.yaml]\n  apply: replace\n`,
      'pools/b/more.yaml': `${KUBELET}maxPods: null\n`,
    });
    assert.deepEqual(valid(repo, 'a').value['kubeReserved'], { cpu: '100m', memory: '2Gi' });
    assert.equal(valid(repo, 'a').value['maxPods'], 110);
    assert.deepEqual(valid(repo, 'b').spec.layers, ['base/all.yaml', 'pools/b/more.yaml']);
    assert.equal(Object.hasOwn(valid(repo, 'b').value, 'maxPods'), false);
  });

  it('has the same payload whatever the dialect, the comments and the order', () => {
    const repo = load({
      'pools/a/pool.yaml': POOL,
      'pools/a/kubelet.yaml': `# hello\n${KUBELET}maxPods: 5\nlogging: {verbosity: 3, format: json}\n`,
      'pools/b/pool.yaml': POOL,
      'pools/b/kubelet.yaml': JSON.stringify({
        logging: { format: 'json', verbosity: 3 },
        kind: 'KubeletConfiguration',
        maxPods: 5,
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
      }),
    });
    assert.equal(valid(repo, 'a').payload, valid(repo, 'b').payload);
  });

  const faults: readonly (readonly [string, Tree, readonly string[]])[] = [
    ['without pool.yaml', { 'pools/x/kubelet.yaml': KUBELET }, ['missing-pool pools/x/pool.yaml']],
    ['whose pool.yaml is no YAML', { 'pools/x/pool.yaml': 'a: [' }, ['yaml-syntax pools/x/pool.yaml:1:5']],
    [
      'with a list of no layers',
      { 'pools/x/pool.yaml': `${POOL}  layers: []\n`, 'pools/x/kubelet.yaml': KUBELET },
      ['wrong-type pools/x/pool.yaml:5:3', 'unused-file pools/x/kubelet.yaml'],
    ],
    ['without a layer', { 'pools/x/pool.yaml': POOL }, ['missing-layer pools/x/pool.yaml:3:1']],
    [
      'with an unknown key',
      { 'pools/x/pool.yaml': `${POOL}  prioritty: 5\n`, 'pools/x/kubelet.yaml': KUBELET },
      ['unknown-field pools/x/pool.yaml:5:3'],
    ],
    [
      'with a layer outside of the repository',
      { 'pools/x/pool.yaml': `${POOL}  layers: [../../../etc/kubelet.yaml, /etc/kubelet.yaml]\n` },
      ['bad-path pools/x/pool.yaml:5:39', 'bad-path pools/x/pool.yaml:5:12'],
    ],
    [
      'with a layer twice',
      { 'pools/x/pool.yaml': `${POOL}  layers: [kubelet.yaml, ./kubelet.yaml]\n`, 'pools/x/kubelet.yaml': KUBELET },
      ['duplicate-item pools/x/pool.yaml:5:26'],
    ],
    [
      'with a layer that is something else',
      { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': 'apiVersion: v1\nkind: ConfigMap\n' },
      ['wrong-kind pools/x/kubelet.yaml:1:1'],
    ],
    [
      'with a field that no kubelet has',
      { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': `${KUBELET}maxPodz: 5\n` },
      ['unknown-field pools/x/kubelet.yaml:3:1'],
    ],
    [
      'with a value that no kubelet takes',
      { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': `${KUBELET}maxPods: -5\n` },
      ['out-of-range pools/x/kubelet.yaml:3:1'],
    ],
    [
      'with a word that means two things',
      { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': `${KUBELET}failSwapOn: no\n` },
      ['yaml-ambiguous pools/x/kubelet.yaml:3:13'],
    ],
    [
      'whose folder cannot be a name',
      { 'pools/My_Pool/pool.yaml': POOL, 'pools/My_Pool/kubelet.yaml': KUBELET },
      ['bad-name pools/My_Pool/pool.yaml:1:1'],
    ],
    [
      'that calls itself otherwise',
      { 'pools/x/pool.yaml': `${POOL}metadata: {name: other}\n`, 'pools/x/kubelet.yaml': KUBELET },
      ['wrong-name pools/x/pool.yaml:5:12'],
    ],
  ];
  for (const [name, tree, expected] of faults) {
    it(`${name} is invalid and says where`, () => {
      const [only] = load(tree).pools;
      assert.equal(only?.status, 'invalid');
      assert.deepEqual(brief(only?.findings ?? []), expected);
    });
  }

  it('warns about a config beside it that it does not use', () => {
    const repo = load({
      'pools/x/pool.yaml': `${POOL}  layers: [a.yaml]\n`,
      'pools/x/a.yaml': KUBELET,
      'pools/x/kubelet.yaml': KUBELET,
    });
    assert.equal(pool(repo, 'x').status, 'valid');
    assert.deepEqual(brief(pool(repo, 'x').findings), ['unused-file pools/x/kubelet.yaml']);
  });

  it('says which file a layer may have meant', () => {
    const suggested = (written: string, ...files: readonly string[]): string | undefined => {
      const tree = Object.fromEntries(files.map((file) => [file, KUBELET]));
      const repo = load({ ...tree, 'pools/x/pool.yaml': `${POOL}  layers: [${JSON.stringify(written)}]\n` });
      return pool(repo, 'x').findings[0]?.suggestion;
    };
    const others = ['base/kubelet.yaml', 'base/zzz.yaml'];
    assert.equal(suggested('base/common.yaml', ...others, 'base/Common.yaml'), 'there is base/Common.yaml');
    assert.equal(suggested('base/comon.yaml', ...others, 'base/common.yaml'), 'there is base/common.yaml');
    assert.match(suggested('base/caf\u00e9.yaml', ...others, 'base/cafe\u0301.yaml') ?? '', /composed otherwise$/);
    assert.equal(suggested('base/limits.yaml', ...others), 'there is base/kubelet.yaml');
    assert.equal(suggested('base/limits.yaml', 'base/kubelet.yml'), 'there is base/kubelet.yml');
    assert.equal(suggested('elsewhere/limits.yaml', ...others), undefined);
  });

  it('whose pool.yaml has another ending is told to rename it', () => {
    const [finding] = pool(load({ 'pools/x/pool.yml': POOL, 'pools/x/kubelet.yaml': KUBELET }), 'x').findings;
    assert.equal(finding?.suggestion, 'rename pools/x/pool.yml to pool.yaml');
  });

  it('says why git left its layer out', () => {
    const symlink: Finding = {
      code: 'symlink',
      severity: 'warning',
      message: 'symbolic links are not followed',
      file: 'pools/x/kubelet.yaml',
    };
    const [finding] = pool(load({ 'pools/x/pool.yaml': POOL }, [symlink]), 'x').findings;
    assert.match(finding?.message ?? '', /symbolic links are not followed/);
  });

  it('whose pool.yaml git left out is kept, not retired', () => {
    const symlink: Finding = {
      code: 'symlink',
      severity: 'warning',
      message: 'symbolic links are not followed',
      file: 'pools/x/pool.yaml',
    };
    assert.equal(pool(load({}, [symlink]), 'x').status, 'invalid');
  });
});

describe('a fault', () => {
  const good = { 'pools/good/pool.yaml': POOL, 'pools/good/kubelet.yaml': KUBELET };

  it('in one pool leaves the others alone', () => {
    const repo = load({ ...good, 'pools/bad/pool.yaml': 'x' });
    assert.deepEqual(
      repo.pools.map(({ name, status }) => [name, status]),
      [
        ['bad', 'invalid'],
        ['good', 'valid'],
      ],
    );
  });

  it('in a layer concerns the pools that use it', () => {
    const shared = {
      'base/all.yaml': `${KUBELET}maxPods: many\n`,
      'pools/bad/pool.yaml': `${POOL}  layers: [base/all.yaml]\n`,
    };
    const repo = load({ ...good, ...shared });
    assert.deepEqual(
      repo.pools.map(({ name, status }) => [name, status]),
      [
        ['bad', 'invalid'],
        ['good', 'valid'],
      ],
    );
    assert.deepEqual(brief(pool(repo, 'bad').findings), ['wrong-type base/all.yaml:3:1']);
  });

  it('of git is passed on', () => {
    const finding: Finding = { code: 'submodule', severity: 'warning', message: 'x', file: 'vendor' };
    assert.deepEqual(load(good, [finding]).findings, [finding]);
  });
});
