import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { aCluster } from '../support/cluster.ts';
import { createRepository, layer, pool, type TestRepository } from '../support/repository.ts';
import { run } from '../support/run.ts';

const node = (name: string, label: string) => ({
  kind: 'Node',
  metadata: { name, labels: { pool: label } },
  status: { nodeInfo: { kubeletVersion: 'v1.26.4' } },
});
const NODES = { items: [node('a-1', 'a'), node('free', 'nobody'), node('b-1', 'b')] };

const START = {
  'base/common.yaml': layer('maxPods: 110', 'evictionHard:', '  memory.available: 200Mi', '  nodefs.available: 10%'),
  'pools/a/pool.yaml': pool('a', 'a', 'layers: [base/common.yaml, kubelet.yaml]'),
  'pools/a/kubelet.yaml': layer(
    'evictionHard:',
    '  memory.available: 1Gi',
    'maxParallelImagePulls: 5',
    'serializeImagePulls: false',
    'allowedUnsafeSysctls: []',
    'enforceNodeAllocatable: [pods]',
  ),
  'pools/b/pool.yaml': pool('b', 'b', 'apply: replace'),
  'pools/b/kubelet.yaml': layer('maxPods: 50'),
  'pools/c/pool.yaml': pool('c', 'b'),
  'pools/c/kubelet.yaml': layer('maxPods: 50'),
  'pools/zeros/pool.yaml': pool('zeros', 'zeros', 'apply: replace'),
  'pools/zeros/kubelet.yaml': layer(
    'nodeStatusUpdateFrequency: 10s',
    'maxPods: 0',
    'syncFrequency: 0s',
    'maxParallelImagePulls: 5',
    'mergeDefaultEvictionSettings: true',
    'evictionHard: {memory.available: 1Gi}',
    'authentication: null',
  ),
  'pools/bad/pool.yaml': pool('bad', 'bad'),
  'pools/bad/kubelet.yaml': layer('maxPodz: 50'),
};

describe('kubelet-gitops render', () => {
  let repository: TestRepository;
  before(async () => {
    repository = await createRepository();
    await repository.commit('start', START);
    await writeFile(join(repository.directory, 'nodes.json'), JSON.stringify(NODES));
  });
  after(() => repository.remove());

  const render = (...argv: readonly string[]) => run('render', '--repo', repository.directory, ...argv);
  const withNodes = (...argv: readonly string[]) =>
    render(...argv, '--inventory', join(repository.directory, 'nodes.json'));

  it('prints what the reconciler would render, with the file and line that each value comes from', async () => {
    const { code, out } = await render('a');
    assert.equal(code, 0);
    assert.match(out, /^# pool a, a-\w+, apply: overlay /);
    for (const line of [
      'maxPods: 110 # base/common.yaml:3',
      '  memory.available: 1Gi # pools/a/kubelet.yaml:4',
      '  nodefs.available: 10% # base/common.yaml:6',
      'allowedUnsafeSysctls: [] # pools/a/kubelet.yaml:7',
      'enforceNodeAllocatable: [pods] # pools/a/kubelet.yaml:8',
    ]) {
      assert.ok(out.split('\n').includes(line), `${line}\n${out}`);
    }
    const { config } = JSON.parse((await render('a', '-o', 'json')).out) as { readonly config: object };
    assert.deepEqual(parse(out), config);
  });

  it('takes a node, finds its pool, and says what its kubelet drops', async () => {
    const { code, out } = await withNodes('a-1');
    assert.equal(code, 0);
    assert.match(out, /^maxParallelImagePulls: 5 # pools\/a\/kubelet\.yaml:5; a kubelet 1\.26 does not know it$/m);
    assert.match((await render('a', '--kubelet-version', '1.27')).out, /^maxParallelImagePulls: 5 # \S+:5$/m);
  });

  it('adds what a version works with where nobody sets it, and nothing that somebody sets', async () => {
    const { out } = await render('a', '--kubelet-version', '1.34', '--defaults');
    assert.match(out, /^podPidsLimit: -1 # default of 1\.34$/m);
    assert.equal(out.match(/^maxPods:/gm)?.length, 1);
    assert.equal(out.match(/^evictionHard:/gm)?.length, 1);
    assert.equal((await render('a', '--defaults')).code, 2);
  });

  it('prints what that kubelet works with in the place of what counts as unset, and what follows another field', async () => {
    const { out } = await render('zeros', '--kubelet-version', '1.37', '--defaults');
    const { nodeStatusReportFrequency, syncFrequency, maxPods, serializeImagePulls, evictionHard, authentication } =
      parse(out);
    assert.deepEqual(
      [nodeStatusReportFrequency, syncFrequency, maxPods, serializeImagePulls],
      ['10s', '1m', 110, false],
    );
    assert.deepEqual(evictionHard, {
      'memory.available': '1Gi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
      'imagefs.available': '15%',
      'imagefs.inodesFree': '5%',
    });
    assert.deepEqual(authentication.anonymous, { enabled: false });
    assert.match(out, /^maxPods: 110 # default of 1\.37, as 0 is unset \(pools\/zeros\/kubelet\.yaml:4\)$/m);
  });

  it('shows what two revisions render differently, value by value, and ends with 1 where they do', async () => {
    const same = await render('a', '--base', 'HEAD', '--revision', '.');
    assert.deepEqual([same.code, same.out], [0, '']);
    await repository.write({
      'base/common.yaml': layer('# moved down', 'maxPods: 120', 'evictionHard:', '  memory.available: 300Mi'),
    });
    const { code, out } = await render('a', '--base', 'HEAD', '--revision', '.');
    await repository.write({ 'base/common.yaml': START['base/common.yaml'] });
    assert.equal(code, 1);
    assert.deepEqual(out.trimEnd().split('\n'), [
      '-evictionHard.nodefs.available: 10%  # base/common.yaml:6',
      '-maxPods: 110  # base/common.yaml:3',
      '+maxPods: 120  # base/common.yaml:4',
    ]);
  });

  const mistakes: readonly (readonly [what: string, argv: readonly string[], said: RegExp])[] = [
    [
      'a pool that there is not',
      ['aa'],
      /there is no pool aa \(did you mean a\?\); for a node, give --inventory or --context/,
    ],
    ['a pool with errors', ['bad'], /pool bad has errors:\npools\/bad\/kubelet\.yaml:3:1: error unknown-field/],
    ['no name', [], /render needs a pool or a node/],
    ['a version that is none', ['a', '--kubelet-version', 'new'], /--kubelet-version new: write the minor version/],
  ];
  for (const [what, argv, said] of mistakes) {
    it(`says what is wrong with ${what}`, async () => {
      const { code, err } = await render(...argv);
      assert.equal(code, 2);
      assert.match(err, said);
    });
  }

  it('says that there is no such pool before it says that the cluster has no such node', async () => {
    await using cluster = await aCluster();
    const { code, err } = await cluster.cli('render', 'bed', '--repo', repository.directory);
    assert.equal(code, 2);
    assert.match(err, /there is no pool bed \(did you mean bad\?\), and there is no node bed in the cluster/);
  });

  it('says why a node has no config of a pool', async () => {
    assert.match((await withNodes('free')).err, /no pool selects free: it runs its local config/);
    assert.match((await withNodes('b-1')).err, /b and c select b-1 with the same priority: it stays as it is/);
    assert.match(
      (await withNodes('nobody')).err,
      /there is no pool nobody \(there is a, b, bad, c, zeros\), and no such node in /,
    );
  });
});
