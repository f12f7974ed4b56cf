import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import { fileDecoder } from '#reconciler/policy/config-repo/file-decoder.ts';
import { leftOutOf } from '#reconciler/policy/config-repo/left-out.ts';
import { READING_LIMITS, readingBudget } from '#reconciler/policy/config-repo/reading-limits.ts';
import { judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { readLayer } from '#reconciler/policy/config-repo/read-layer.ts';
import { MAX_PAYLOAD_BYTES } from '#shared/contract/config-map-hash.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { fleetOf } from '../../../support/fleet.ts';
import { brief, CLUSTER, filesOf, KUBELET, load, POOL, pool, type Tree, valid } from './support/load.ts';

const said = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ severity, code, file, field }) => `${severity} ${code} ${file} ${field ?? '-'}`);

describe('the pools of a repository', () => {
  const left = (file?: string): Finding => ({
    code: 'symlink',
    severity: 'error',
    message: 'not followed',
    ...(file === undefined ? {} : { file }),
  });
  const rows: readonly (readonly [string, Tree, readonly Finding[], readonly string[]])[] = [
    ['are the folders in pools/, in order', { 'pools/b/a': '', 'pools/a/b': '', 'pools/a/c': '' }, [], ['a', 'b']],
    ['are no files in pools/', { 'pools/README.md': '' }, [], []],
    ['are no folders of hidden files alone', { 'pools/a/.keep': '' }, [], []],
    ['are no folders called pools elsewhere', { 'old/pools/a/pool.yaml': POOL }, [], []],
    ['are what was left out of pools/ as well', {}, [left('pools/a'), left('pools/b/pool.yaml')], ['a', 'b']],
    ['are nothing that was left out elsewhere', {}, [left('old/pools/a'), left('base/a'), left()], []],
  ];
  for (const [name, tree, findings, expected] of rows) {
    it(name, () =>
      assert.deepEqual(
        load(tree, findings).pools.map((each) => each.name),
        expected,
      ),
    );
  }

  it('are not looked for in folders of pools, which is an error', () => {
    const tree = {
      'pools/a/b/pool.yaml': POOL,
      'pools/a/b/c/pool.yaml': POOL,
      'pools/a/b/pool.yaml.bak': POOL,
      'old/pools/a/b/pool.yaml': POOL,
    };
    assert.deepEqual(said(load(tree).findings), [
      'error nested-pool pools/a/b/pool.yaml -',
      'error nested-pool pools/a/b/c/pool.yaml -',
    ]);
  });

  it('are told of no missing layers where they name more than a pool may have', () => {
    const named = Array.from({ length: 2_000 }, (_, nth) => `    - ${nth}.yaml`).join('\n');
    const { pools } = load({ 'pools/a/pool.yaml': `${POOL}  layers:\n${named}\n` });
    assert.deepEqual(
      pools[0]?.findings.map(({ code, field }) => `${code} ${field}`),
      ['out-of-range spec.layers'],
    );
  });

  it('are in error by their files alone where git has nothing to say', () => {
    const { findings, pools } = loadRepo(filesOf({ 'pools/My_Pool/pool.yaml': POOL }), { cluster: 'prod' });
    assert.deepEqual(findings, []);
    assert.deepEqual(said(pools[0]?.findings ?? []), [
      'error bad-name pools/My_Pool/pool.yaml -',
      'error missing-layer pools/My_Pool/pool.yaml spec.layers[0]',
    ]);
  });

  it('without a pool.yaml are in error', () => {
    assert.deepEqual(said(pool(load({ 'pools/a/b': '' }), 'a').findings), ['error missing-pool pools/a/pool.yaml -']);
  });
});

describe('configs beside a pool', () => {
  const tree = { 'pools/gpu/pool.yaml': POOL, 'pools/gpu/kubelet.yaml': KUBELET };
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['as .yml', 'pools/gpu/old.yml', true],
    ['as .json', 'pools/gpu/old.json', true],
    ['further down', 'pools/gpu/old/kubelet.yaml', true],
    ['put aside', 'pools/gpu/kubelet.yaml.bak', false],
    ['of another kind', 'pools/gpu/README.md', false],
    ['of another pool', 'pools/cpu/kubelet.yaml', false],
    ['of a pool in another place', 'old/gpu/pools/x/kubelet.yaml', false],
  ];
  for (const [name, path, isTold] of rows) {
    it(`${name} ${isTold ? 'are warned about' : 'are none'}`, () => {
      const { findings } = pool(load({ ...tree, [path]: KUBELET }), 'gpu');
      assert.deepEqual(said(findings), isTold ? [`warning unused-file ${path} -`] : []);
    });
  }
});

describe('a layer', () => {
  it('that is missing is told there also after items that are not valid paths', () => {
    const layers = 'layers: [/etc/passwd, ../x/a.yaml, 3, a.yaml, ./b.yaml]';
    const { findings } = pool(load({ 'pools/x/pool.yaml': `${POOL}  ${layers}\n`, 'pools/x/a.yaml': KUBELET }), 'x');
    assert.deepEqual(said(findings), [
      'error bad-path pools/x/pool.yaml spec.layers[0]',
      'error bad-path pools/x/pool.yaml spec.layers[2]',
      'error duplicate-item pools/x/pool.yaml spec.layers[3]',
      'error missing-layer pools/x/pool.yaml spec.layers[4]',
    ]);
  });

  it('that is no YAML is told once', () => {
    const { findings, status } = pool(load({ 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': 'a: [' }), 'x');
    assert.equal(status, 'invalid');
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['yaml-syntax'],
    );
  });

  it('may take keys from an anchor and write its own over them', () => {
    const merged = `${KUBELET}evictionHard: &hard {memory.available: 5%}\nevictionSoft: {<<: *hard, memory.available: 7%}\nevictionSoftGracePeriod: {memory.available: 1m}\n`;
    valid(load({ 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': merged }), 'x');
  });

  it('at the root of the repository may have been meant as well as one in a folder', () => {
    const { findings } = pool(
      load({ 'pools/x/pool.yaml': `${POOL}  layers: [../../comon.yaml]\n`, 'common.yaml': KUBELET }),
      'x',
    );
    assert.match(findings[0]?.suggestion ?? '', /common\.yaml/);
  });
});

describe('what nodes take', () => {
  const names = Array.from({ length: 5 }, (_, index) => `base/${index}.yaml`);
  /** A pool whose headers have so many letters together. */
  function withLetters(count: number) {
    const share = Math.floor(count / names.length);
    const lengths = names.map((_, index) => (index === 0 ? count - share * (names.length - 1) : share));
    const layers = names.map((path, index) => [
      path,
      `${KUBELET}staticPodURLHeader: {Accept-${'abcde'[index]}: ["${'x'.repeat(lengths[index] ?? 0)}"]}\n`,
    ]);
    const spec = `${POOL}  layers: [${names.join(', ')}]\n`;
    const cluster = `${CLUSTER}  fields: {allow: [staticPodURLHeader]}\n`;
    return load({ ...Object.fromEntries(layers), 'pools/x/pool.yaml': spec, 'clusters/prod.yaml': cluster });
  }
  const payloadBytes = (letters: number): number => Buffer.byteLength(valid(withLetters(letters), 'x').payload);
  const mostLetters = (): number => MAX_PAYLOAD_BYTES - payloadBytes(1_000) + 1_000;

  const agentSays = (payload: string): readonly string[] =>
    decodeKubeletConfig(Buffer.from(payload)).findings.map(({ code }) => code);

  it('is a config up to its limit, which is the agents’', () => {
    const { payload } = valid(withLetters(mostLetters()), 'x');
    assert.equal(Buffer.byteLength(payload), MAX_PAYLOAD_BYTES);
    assert.deepEqual(agentSays(payload), []);
    assert.deepEqual(agentSays(`${payload}\n`), ['file-too-big']);
  });

  it('is no config with a byte more', () => {
    const { findings, status } = pool(withLetters(mostLetters() + 1), 'x');
    assert.equal(status, 'invalid');
    assert.deepEqual(said(findings), ['error payload-too-large pools/x/pool.yaml -']);
    assert.equal(findings[0]?.message, 'the merged config of pool x has 262145 bytes, and nodes take at most 262144');
  });

  it('is no config of layers that are small enough each', () => {
    const commit = { oid: 'a'.repeat(40), repo: withLetters(400 * 1024) };
    const { pools, unusable, findings } = desiredState(commit, fleetOf({}), () => []);
    assert.deepEqual([[...pools.keys()], [...unusable]], [[], ['x']]);
    assert.deepEqual(said(findings), ['error payload-too-large pools/x/pool.yaml -']);
  });
});

describe('where nobody knows the line of a field', () => {
  const tree = { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': `${KUBELET}containerLogMonitorInterval: 20s\n` };

  it('a verdict names the pool', () => {
    const { positionOf: _, ...placeless } = valid(load(tree), 'x');
    const findings = judgePool(placeless, ['1.28']);
    assert.deepEqual(brief(findings), ['unknown-field pools/x/pool.yaml']);
    const { file: _file, ...unread } = placeless;
    assert.deepEqual(brief(judgePool(unread, ['1.28'])), ['unknown-field pools/x/pool.yaml']);
  });

  it('a layer that is not there is one of the pool', () => {
    const source = {
      name: 'x',
      files: new Map(),
      leftOut: leftOutOf([], (path) => path),
      shown: (path: string) => path,
    };
    const rest = { cluster: DEFAULT_CLUSTER, fields: DEFAULT_CLUSTER.fields, trials: [], complaintsOf: () => [] };
    const decoder = fileDecoder(readingBudget(READING_LIMITS));
    const at = ['spec', 'layers', 0];
    const { findings } = readLayer('base/a.yaml', at, { ...source, ...rest }, decoder, () => undefined);
    assert.deepEqual(brief(findings), ['missing-layer pools/x/pool.yaml']);
  });

  it('so does one of a rule about what is not written', () => {
    const versions = `${CLUSTER}  kubeletVersions: ["1.34"]\n`;
    const lacking = {
      ...tree,
      'pools/x/kubelet.yaml': `${KUBELET}memoryManagerPolicy: Static\n`,
      'clusters/prod.yaml': versions,
    };
    for (const { file } of pool(load(lacking), 'x').findings) assert.match(file ?? '', /^pools\/x\//);
  });
});
