import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { importableNodes } from '#cli/import/nodes/importable-nodes.ts';
import { nonDefaultsOf } from '#cli/import/non-defaults.ts';
import { groupNodes } from '#cli/import/pools/group-nodes.ts';
import type { ImportedNode } from '#cli/import/pools/fleet-node.ts';
import { writeAddresses } from '#sandbox/demo/addresses.ts';
import { memberOf } from '#sandbox/api-server/stored-object.ts';
import { startSandbox } from '#sandbox/sandbox.ts';
import { NODES } from '#shared/kube/kube.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { until } from '../../support/until.ts';
import { run } from '../support/run.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { commitAll } from '../support/repository.ts';

describe('the essence of what a kubelet runs', () => {
  it('is what differs from the defaults of its version', () => {
    const running = {
      maxPods: 110,
      podPidsLimit: -1,
      syncFrequency: '1m0s',
      fileCheckFrequency: '40s',
      failSwapOn: false,
      enableServer: true,
      clusterDNS: ['10.96.0.10'],
      evictionHard: { 'memory.available': '200Mi' },
      logging: { format: 'text', flushFrequency: '5s', verbosity: 4 },
      tlsCipherSuites: [],
      kubeReserved: {},
      someday: true,
    };
    assert.deepEqual(nonDefaultsOf(running, 34).config, {
      fileCheckFrequency: '40s',
      failSwapOn: false,
      evictionHard: { 'memory.available': '200Mi' },
      logging: { verbosity: 4 },
    });
    assert.deepEqual(nonDefaultsOf(running, 34).leftOut, ['clusterDNS']);
    assert.deepEqual(nonDefaultsOf(running, 34).unknown, ['someday']);
  });

  it('knows defaults in other words', () => {
    const evictionHard = {
      'memory.available': '102400Ki',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
      'imagefs.available': '15%',
      'imagefs.inodesFree': '5%',
    };
    assert.deepEqual(
      nonDefaultsOf({ containerLogMaxSize: '10240Ki', syncFrequency: '60s', evictionHard }, 34).config,
      {},
    );
    assert.deepEqual(nonDefaultsOf({ containerLogMaxSize: '10M' }, 34).config, { containerLogMaxSize: '10M' });
  });

  it('leaves to the nodes what flags of their distribution set', () => {
    const node = (name: string, kubeletVersion: string) => ({
      name,
      labels: {},
      kubeletVersion,
      osImage: '',
      running: { syncFrequency: '30s', maxPods: 50 },
    });
    const { members } = importableNodes([node('a', 'v1.34.4+rke2r1'), node('b', 'v1.34.4')], true);
    assert.deepEqual(
      members.map(({ config, leftOut }) => [config, leftOut]),
      [
        [{ maxPods: 50 }, ['syncFrequency']],
        [{ syncFrequency: '30s', maxPods: 50 }, []],
      ],
    );
  });

  it('leaves out what identifies a node, and says so', () => {
    assert.deepEqual(nonDefaultsOf({ providerID: 'aws:///i-1', maxPods: 20 }, 34), {
      config: { maxPods: 20 },
      leftOut: ['providerID'],
    });
  });

  it('depends on the version, as defaults do', () => {
    assert.deepEqual(nonDefaultsOf({ failCgroupV1: true }, 34).config, { failCgroupV1: true });
    assert.deepEqual(nonDefaultsOf({ failCgroupV1: true }, 35).config, {});
    assert.deepEqual(nonDefaultsOf({ failCgroupV1: true }, 30).config, {});
  });
});

const node = (
  name: string,
  labels: Readonly<Record<string, string>>,
  config: Readonly<Record<string, unknown>>,
): ImportedNode => ({
  name,
  labels: { 'kubernetes.io/hostname': name, ...labels },
  config,
});

describe('grouping nodes', () => {
  it('tells workers of kubeadm by what they lack, so that later ones join them', () => {
    const linux = { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'linux' };
    const controlPlane = { ...linux, 'node-role.kubernetes.io/control-plane': '' };
    const nodes = [
      node('w-1', linux, { maxPods: 50 }),
      node('w-2', linux, { maxPods: 50 }),
      node('c-1', controlPlane, { maxPods: 20 }),
    ];
    const [workers] = groupNodes(nodes, []).groups;
    const lacking = { key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' };
    assert.deepEqual([workers?.name, workers?.nodeSelector], ['workers', { matchExpressions: [lacking] }]);
    const [named] = groupNodes(nodes).groups;
    assert.equal(named?.nodeSelector.matchExpressions?.[0]?.operator, 'In', 'there may be more nodes');
  });

  it('takes all nodes of the operating system where all run the same, and no label that they happen to share', () => {
    const labels = { 'beta.kubernetes.io/arch': 'amd64', 'kubernetes.io/os': 'linux' };
    const nodes = [node('a', labels, { maxPods: 50 }), node('b', labels, { maxPods: 50 })];
    const [all] = groupNodes(nodes, []).groups;
    assert.deepEqual([all?.name, all?.nodeSelector], ['all-nodes', { matchLabels: { 'kubernetes.io/os': 'linux' } }]);
    const [few] = groupNodes([node('a', {}, { maxPods: 50 })], []).groups;
    assert.deepEqual(few?.nodeSelector, {});
  });

  it('does not select nodes of which nobody knows what they run', () => {
    const labels = { 'eks.amazonaws.com/nodegroup': 'blue', 'kubernetes.io/os': 'linux' };
    const [group] = groupNodes([node('a', labels, { maxPods: 50 })], [labels]).groups;
    assert.deepEqual(group?.nodeSelector.matchExpressions?.[0]?.values, ['a']);
  });
});

describe('kubelet-gitops import', () => {
  const directory = temporaryDirectory();
  before(async () => {
    const configz = (config: Readonly<Record<string, unknown>>) => JSON.stringify({ kubeletconfig: config });
    await writeFile(
      join(directory, 'a.json'),
      configz({ maxPods: 200, clusterDomain: 'cluster.local', syncFrequency: '1m0s' }),
    );
    await writeFile(join(directory, 'b.json'), configz({ maxPods: 60, clusterDomain: 'cluster.local' }));
    const item = (name: string, label: string) => ({
      metadata: { name, labels: { [label]: '' } },
      status: { nodeInfo: { kubeletVersion: 'v1.34.2' } },
    });
    const items = [item('a', 'node-role.kubernetes.io/worker'), item('b', 'node-role.kubernetes.io/control-plane')];
    await writeFile(join(directory, 'nodes.json'), JSON.stringify({ items }));
  });

  const importing = (into: string) =>
    run(
      'import',
      `a=${join(directory, 'a.json')}`,
      `b=${join(directory, 'b.json')}`,
      '--inventory',
      join(directory, 'nodes.json'),
      '--cluster',
      'prod',
      '--into',
      join(directory, into),
    );

  it('leaves to the nodes what no pool may set without further ado', () => {
    const running = {
      staticPodPath: '/etc/kubernetes/manifests',
      authentication: { x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' }, anonymous: { enabled: false } },
      rotateCertificates: true,
      enableSystemLogQuery: false,
      maxPods: 20,
    };
    assert.deepEqual(nonDefaultsOf(running, 34), {
      config: { maxPods: 20 },
      leftOut: ['staticPodPath', 'authentication.x509.clientCAFile', 'rotateCertificates'],
    });
  });

  it('is followed by a plan that says that nothing changes', async () => {
    await importing('fresh');
    const repo = join(directory, 'fresh');
    await commitAll(repo);
    const running = ['a', 'b'].flatMap((name) => ['--running', `${name}=${join(directory, `${name}.json`)}`]);
    const nodes = ['--inventory', join(directory, 'nodes.json')];
    const { code, out, err } = await run('plan', '--repo', repo, ...nodes, ...running);
    assert.equal(code, 0, out + err);
    assert.match(out, /^From nothing to HEAD/);
    const taken = 'is new and matches what its node runs already: files are written, no kubelet restarts';
    assert.match(
      out,
      new RegExp(`^Nothing changes\\.\nPool control-plane ${taken} \\(b\\)\nPool worker ${taken}`, 'm'),
    );
    assert.deepEqual((await run('plan', '--repo', repo, ...nodes, '--base', 'HEAD')).code, 0);
    // Where a kubelet runs something else, it does change.
    const other = ['--running', `a=${join(directory, 'b.json')}`, '--running', `b=${join(directory, 'b.json')}`];
    const changed = await run('plan', '--repo', repo, ...nodes, ...other);
    assert.equal(changed.code, 1);
    assert.match(changed.out, /^ {2}maxPods +60 +→ +200$/m);
    assert.doesNotMatch(changed.out, /a: .*not restarted/);
    assert.match(
      changed.out,
      /^ {2}b: already runs this: files are written, the kubelet is not restarted$|no kubelet restarts \(b\)$/m,
    );
    assert.match((await run('plan', '--repo', repo, ...nodes, '--running', 'c=x.json')).err, /c/);
    // Where nobody was asked, nothing is said of restarts but what is not known.
    const unasked = await run('plan', '--repo', repo, ...nodes);
    assert.equal(unasked.code, 1);
    assert.match(unasked.out, /^ {2}a: what the kubelet runs is not known here; .*\(--running cluster asks\)$/m);
    assert.doesNotMatch(unasked.out, /no kubelet is restarted/);
  });

  it('reads a cluster, node by node, and says whom it could not ask', async (t) => {
    const world = await startSandbox({
      cluster: 'demo',
      nodes: [
        { name: 'w-1', labels: { 'node-role.kubernetes.io/worker': '' } },
        { name: 'w-2', labels: { 'node-role.kubernetes.io/worker': '' } },
      ],
      log: () => silentLog,
      pollMs: 1_000,
    });
    t.after(() => world.stop());
    await writeAddresses(world, directory);
    const from = ['--kubeconfig', join(directory, 'kubeconfig'), '--cluster', 'demo'] as const;
    // With the port of their kubelets, which they say when they are ready.
    const portOf = (name: string): unknown => memberOf(world.api.store.get(NODES, name), 'status', 'daemonEndpoints');
    await until('both are ready', () => ['w-1', 'w-2'].every((name) => portOf(name) !== undefined));
    const two = world.nodes.get('w-2');
    const live = join(directory, 'live');
    const ran = await run('import', ...from, '--into', live);
    assert.equal(ran.code, 0, ran.err);
    assert.match(ran.err, /^pool \S+: 2 nodes$/m);
    assert.deepEqual((await run('validate', live)).out, '1 pool: nothing found\n');
    await two?.kubelet.stop();
    const partly = await run('import', ...from, '--into', join(directory, 'partly'));
    assert.equal(partly.code, 1);
    assert.match(partly.err, /^what w-2 runs is not known: .*error trying to reach service/m);
    assert.match(partly.err, /^pool worker: 1 node \(listed by name\)$/m);
    assert.match(partly.err, /^left out: w-2: the kubelet did not say what it runs$/m);
  });
});
