import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { followsInForce } from '#reconciler/policy/following/follows.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { DEFAULT_CLUSTER, readCluster, unreadableCluster } from '#reconciler/policy/config-repo/read-cluster.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import { API_VERSION } from '#shared/contract/api/group.ts';
import { brief, CLUSTER, filesOf, KUBELET, load, POOL, pool } from './support/load.ts';

/** The place of what is wrong with a cluster that says this, and the cluster. */
function readSpec(spec: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) {
  const report = fileReport('clusters/prod.yaml', () => undefined);
  const document = { apiVersion: API_VERSION, kind: 'ClusterConfig', ...more, spec };
  const cluster = readCluster(document, 'prod', report);
  return { cluster, said: report.findings.map(({ code, field }) => `${code} ${field}`) };
}

describe('what is wrong with a cluster file', () => {
  const rows: readonly (readonly [string, Parameters<typeof readSpec>, readonly string[], isHarmless: boolean])[] = [
    ['versions in a word', [{ kubeletVersions: '1.34' }], ['wrong-type spec.kubeletVersions'], true],
    ['a version as a number', [{ kubeletVersions: [1.34] }], ['bad-version spec.kubeletVersions[0]'], true],
    ['a version too old', [{ kubeletVersions: ['1.19'] }], ['bad-version spec.kubeletVersions[0]'], true],
    ['no version', [{ kubeletVersions: ['new'] }], ['bad-version spec.kubeletVersions[0]'], true],
    ['nodes to unassign in words', [{ maxUnassign: 'all' }], ['out-of-range spec.maxUnassign'], true],
    ['nodes to change in words', [{ maxChange: 'all' }], ['out-of-range spec.maxChange'], true],
    ['an unknown field', [{ fields: { allow: ['prot'] } }], ['unknown-value spec.fields.allow[0]'], true],
    ['an unknown code', [{ tolerate: ['all'] }], ['unknown-value spec.tolerate[0]'], true],
    ['a budget in words', [{ maxUnavailable: 'all' }], ['out-of-range spec.maxUnavailable'], false],
    ['a suspension in words', [{ suspend: 'yes' }], ['wrong-type spec.suspend'], false],
    ['windows in a word', [{ windows: 'night' }], ['wrong-type spec.windows'], false],
    ['a word like another', [{ maxChanges: 1 }], ['unknown-field spec.maxChanges'], false],
    ['a word with dots', [{}, { 'spec.fields.x': 1 }], ['unknown-field ["spec.fields.x"]'], false],
    ['another name', [{}, { metadata: { name: 'test' } }], ['wrong-name metadata.name'], false],
    [
      'two errors, of which one hides something',
      [{ maxUnassign: 'all', suspend: 'yes' }],
      ['out-of-range spec.maxUnassign', 'wrong-type spec.suspend'],
      false,
    ],
  ];
  for (const [what, parts, expected, isHarmless] of rows) {
    it(`is told, and whether it could hide what holds changes up: ${what}`, () => {
      const { cluster, said } = readSpec(...parts);
      assert.deepEqual(said, expected);
      assert.equal(cluster.unreadable === undefined, isHarmless);
      assert.equal(cluster.maxUnassign, 0);
    });
  }

  it('is told of one that is not a map', () => {
    const report = fileReport('clusters/prod.yaml', () => undefined);
    assert.notEqual(readCluster([], 'prod', report).unreadable, undefined);
    const places = report.findings.map(({ code, field }) => `${code} ${field ?? '-'}`);
    assert.deepEqual(places, ['wrong-type -']);
  });

  it('takes nothing from how many nodes may be changed, unless it is that', () => {
    assert.equal(readSpec({ maxChange: '30%', maxUnassign: 'all' }).cluster.maxChange, '30%');
    assert.equal(readSpec({ maxChange: 'all', maxUnassign: 'all' }).cluster.maxChange, 0);
  });

  it('takes every allowance away, and nothing that is denied', () => {
    const { cluster } = readSpec({
      maxUnassign: 'all',
      fields: { allow: ['port'], deny: ['maxPods'] },
      tolerate: ['wrong-case'],
    });
    assert.deepEqual([cluster.fields, cluster.tolerate], [{ allow: [], deny: ['maxPods'] }, []]);
  });

  it('leaves no version behind that could not be read', () => {
    assert.deepEqual(readSpec({ kubeletVersions: '1.34' }).cluster.kubeletVersions, []);
    assert.deepEqual(readSpec({ kubeletVersions: ['1.34', 1.35] }).cluster.kubeletVersions, ['1.34']);
  });

  it('is told by its first error, or else by the first of what is odd', () => {
    const finding = (severity: 'error' | 'warning', file: string) => ({ code: 'x', severity, message: 'm', file });
    const [odd, odder, wrong, worse] = [
      finding('warning', 'a'),
      finding('warning', 'b'),
      finding('error', 'c'),
      finding('error', 'd'),
    ];
    assert.match(unreadableCluster([odd, wrong, worse]).unreadable ?? '', /^c:/);
    assert.match(unreadableCluster([odd, odder]).unreadable ?? '', /^a:/);
    assert.notEqual(unreadableCluster([]).unreadable, undefined);
  });
});

describe('a cluster file', () => {
  const pools = { 'pools/x/pool.yaml': POOL, 'pools/x/kubelet.yaml': `${KUBELET}containerLogMonitorInterval: 20s\n` };
  const cluster = (spec: string) => load({ ...pools, 'clusters/prod.yaml': `${CLUSTER}${spec}` });

  const file = 'clusters/prod.yaml';

  it('may be absent', () => assert.deepEqual(load(pools).cluster, { ...DEFAULT_CLUSTER, file, missing: true }));

  it('is named as people see it, in the folder of the repository that it is in', () => {
    const path = 'infra/kubelet/clusters/prod.yaml';
    for (const tree of [{}, { [file]: CLUSTER }, { [file]: 'a: [' }, { [file]: `${CLUSTER}  suspend: 1\n` }]) {
      const repo = loadRepo(filesOf(tree), { cluster: 'prod', folder: 'infra/kubelet' });
      assert.equal(repo.cluster.file, path);
    }
  });

  for (const name of ['prod.yml', 'prod.json', 'Prod.yaml']) {
    it(`called ${name} is not overlooked: nothing new is started before it has its right name`, () => {
      const repo = load({ ...pools, [`clusters/${name}`]: `${CLUSTER}  suspend: true\n` });
      assert.deepEqual(brief(repo.findings), [`misnamed-cluster clusters/${name}`]);
      assert.equal(repo.findings[0]?.severity, 'error');
      assert.match(repo.cluster.unreadable ?? '', /rename it to clusters\/prod\.yaml/);
      assert.equal(pool(repo, 'x').status, 'valid');
    });
  }

  it('that only other clusters have holds everything up: CLUSTER or a name is wrong', () => {
    const repo = load({ ...pools, 'clusters/prd.yaml': CLUSTER });
    assert.deepEqual(brief(repo.findings), ['missing-cluster clusters/prod.yaml']);
    assert.match(repo.cluster.unreadable ?? '', /there is clusters\/prd\.yaml/);
    assert.equal(pool(repo, 'x').status, 'valid');
  });

  it('in another folder is none of ours', () => {
    const others = {
      'Clusters/prod.yaml': CLUSTER,
      'old/clusters/prod.yml': CLUSTER,
      'clusters/prod.yaml.bak': CLUSTER,
      'clusters/prod.yml.orig': CLUSTER,
      'clusters/pro.yamld': CLUSTER,
    };
    assert.deepEqual(load({ ...pools, ...others }).cluster, { ...DEFAULT_CLUSTER, file, missing: true });
  });

  it('that git left out holds everything up, and is told of once', () => {
    const left = { code: 'left-out', severity: 'error', message: 'a link', file: 'clusters/prod.yaml' } as const;
    const repo = load(pools, [left, { ...left, file: 'elsewhere.yaml' }]);
    assert.equal(repo.cluster.maxUnassign, 0);
    assert.match(repo.cluster.unreadable ?? '', /^clusters\/prod\.yaml: error left-out/);
    assert.deepEqual(brief(repo.findings), ['left-out clusters/prod.yaml']);
  });

  it('that git speaks of and has all the same is read', () => {
    const warning = { code: 'odd', severity: 'warning', message: 'odd', file: 'clusters/prod.yaml' } as const;
    const repo = load({ ...pools, 'clusters/prod.yaml': `${CLUSTER}  maxUnassign: 3\n` }, [warning]);
    assert.equal(repo.cluster.maxUnassign, 3);
  });

  it('says all that a cluster can say', () => {
    const { cluster: read, findings } = load({
      ...pools,
      'clusters/prod-eu.yaml': CLUSTER,
      'clusters/prod.yaml': `${CLUSTER}
  kubeletVersions: ["1.34", "1.20", "1.34"]
  maxUnassign: 3
  maxChange: 30%
  maxUnavailable: 5%
  suspend: true
  follows: {clusters: [prod-eu, prod-eu], settledFor: 1h}
  windows: {deny: [{cron: 0 2 * * *, duration: 4h}]}
  trial: {minDuration: 2m}
  fields: {allow: [port], deny: [maxPods]}
  tolerate: [wrong-case]
`,
    });
    assert.deepEqual(findings, []);
    assert.deepEqual(read, {
      file,
      kubeletVersions: ['1.34', '1.20'],
      maxUnassign: 3,
      maxChange: '30%',
      maxUnavailable: '5%',
      suspend: true,
      follows: { clusters: ['prod-eu'], settledFor: '1h' },
      trial: { minDuration: '2m', maxStartTimeout: '30m' },
      windows: { allow: [], deny: [{ cron: '0 2 * * *', duration: '4h' }], overrun: 'stop' },
      fields: { allow: ['port'], deny: ['maxPods'] },
      tolerate: ['wrong-case'],
    });
  });

  describe('that follows others', () => {
    const following = (names: string, more: Readonly<Record<string, string>> = {}) => {
      const files = Object.entries(more).map(([name, spec]) => [`clusters/${name}.yaml`, `${CLUSTER}${spec}`]);
      const own = `${CLUSTER}  follows: ${names}\n`;
      return load({ ...pools, ...Object.fromEntries(files), 'clusters/prod.yaml': own });
    };
    const follows = (name: string): string => `  follows: {clusters: [${name}]}\n`;

    it('waits for a day by default', () => {
      const { cluster: read, findings } = following('{clusters: [stage]}', { stage: '' });
      assert.deepEqual([read.follows, findings], [{ clusters: ['stage'], settledFor: '24h' }, []]);
    });

    const rows: readonly (readonly [string, Parameters<typeof following>, readonly string[]])[] = [
      ['a cluster without a file', ['{clusters: [stgae]}', { stage: '' }], ['unknown-cluster']],
      ['itself', ['{clusters: [prod]}'], ['follows-circle']],
      ['one that follows it', ['{clusters: [stage]}', { stage: follows('prod') }], ['follows-circle']],
      ['a circle of three', ['{clusters: [a]}', { a: follows('b'), b: follows('prod') }], ['follows-circle']],
      ['a circle that it is not in', ['{clusters: [a]}', { a: follows('b'), b: follows('a') }], []],
      ['a chain', ['{clusters: [a, b]}', { a: follows('b'), b: '' }], []],
      ['none', ['{clusters: []}'], ['wrong-type']],
      ['no list', ['{settledFor: 1h}'], ['missing-field']],
    ];
    for (const [title, question, codes] of rows) {
      it(`${title}: ${codes.join() || 'nothing is wrong'}`, () => {
        assert.deepEqual(
          following(...question).findings.map(({ code }) => code),
          codes,
        );
      });
    }

    it('names keys of those that it follows, whole ones of one kind', () => {
      const key = `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'A'.repeat(43)}`;
      const judged = (signers: string) => {
        const own = `{clusters: [stage], require: payloads, signers: ${signers}}`;
        const { cluster: read, findings } = following(own, { stage: '' });
        return { read: read.follows, codes: findings.map(({ code }) => code) };
      };
      const { read, codes } = judged(`{stage: ["${key} a comment", "${key}"]}`);
      assert.deepEqual([read?.signers, read?.require, codes], [{ stage: [key] }, 'payloads', []]);
      for (const wrong of ['', key.slice(0, -1), `${key}A`, key.replace('ed25519', 'rsa'), key.replace('IAAA', 'IQAA')])
        assert.deepEqual(judged(`{stage: ["${wrong}"]}`).codes, ['bad-text'], wrong);
      assert.deepEqual(judged(`{other: ["${key}"]}`).codes, ['unknown-cluster']);
      assert.deepEqual(judged('{stage: []}').codes.length, 1);
    });

    it('whom it follows is unknown where that is wrong, and nothing new is started', () => {
      const { cluster: read } = following('{clusters: [stage], settledFor: soon}', { stage: '' });
      assert.equal(read.follows, null);
      assert.match(read.unreadable ?? '', /settledFor/);
    });

    it('goes on as before where that is a circle, or names a cluster that there is none of', () => {
      const before = { clusters: ['stage'], settledFor: '1h' };
      const circle = following('{clusters: [stage]}', { stage: follows('prod') });
      const unknown = following('{clusters: [stgae]}', { stage: '' });
      for (const { cluster: read } of [circle, unknown]) {
        assert.deepEqual([followsInForce(read, null), followsInForce(read, before)], [null, before]);
        assert.match(read.unreadable ?? '', /follows-circle|unknown-cluster/, 'nothing new is started');
      }
      assert.equal(following('{clusters: [stage]}', { stage: '' }).cluster.unreadable, undefined);
    });
  });

  it('of another cluster is none of this one’s business', () => {
    const others = { 'clusters/prod-2.yaml': 'a: [', 'clusters/other.yml': CLUSTER, 'clusters/README.md': 'x' };
    const repo = load({ ...pools, ...others, 'clusters/prod.yaml': CLUSTER });
    assert.deepEqual(repo.cluster, { ...DEFAULT_CLUSTER, file });
    assert.deepEqual(repo.findings, []);
  });

  it('names the versions that every pool is judged for', () => {
    assert.equal(pool(cluster('  kubeletVersions: ["1.34"]\n'), 'x').status, 'valid');
    const [finding] = pool(cluster('  kubeletVersions: ["1.28", "1.34"]\n'), 'x').findings;
    assert.deepEqual([finding?.code, finding?.versions], ['unknown-field', ['1.28']]);
  });

  it('sets how many nodes a commit may send home', () =>
    assert.equal(cluster('  maxUnassign: 3\n').cluster.maxUnassign, 3));

  const faults: readonly (readonly [string, string, readonly string[]])[] = [
    ['an unknown key', '  maxUnasign: 3\n', ['unknown-field clusters/prod.yaml:4:3']],
    ['a version without quotes', '  kubeletVersions: [1.30]\n', ['bad-version clusters/prod.yaml:4:21']],
    ['an allowance that is none', '  maxUnassign: all\n', ['out-of-range clusters/prod.yaml:4:3']],
    ['a key twice', '  maxUnassign: 3\n  maxUnassign: 90%\n', ['duplicate-key clusters/prod.yaml:5:3']],
  ];
  for (const [name, spec, expected] of faults) {
    it(`with ${name} is reported, breaks no pool and allows nothing to be unassigned`, () => {
      const repo = cluster(spec);
      assert.deepEqual(brief(repo.findings), expected);
      assert.equal(pool(repo, 'x').status, 'valid');
      assert.equal(repo.cluster.maxUnassign, 0);
    });
  }

  it('that is no YAML does the same', () => {
    const repo = load({ ...pools, 'clusters/prod.yaml': 'a: [' });
    const { kubeletVersions, maxUnassign, suspend, unreadable = '', fields } = repo.cluster;
    assert.equal(repo.findings.length, 1);
    assert.deepEqual(
      [{ kubeletVersions, maxUnassign, suspend, fields }, pool(repo, 'x').status],
      [{ kubeletVersions: [], maxUnassign: 0, suspend: false, fields: { allow: [], deny: [] } }, 'valid'],
    );
    assert.match(unreadable, /^clusters\/prod\.yaml:1:\d+: error /);
  });

  it('with an error that could hide what holds changes up says which, and does not say that somebody suspended', () => {
    const { suspend, unreadable } = cluster('  suspnd: true\n').cluster;
    assert.equal(suspend, false);
    assert.equal(
      unreadable,
      'clusters/prod.yaml:4:3: error unknown-field: spec.suspnd is not a field (did you mean suspend?)',
    );
    assert.equal(cluster('  maxUnassign: all\n').cluster.unreadable, undefined);
  });
});
