import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { nodesFrom } from '#cli/inventory/read-inventory.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../support/required-tools.ts';
import { createOrigin, createWorkspace, type Ran, runScript, type Workspace } from './support/ci-run.ts';

const WITHOUT_JQ = spawnSync('jq', ['--version']).status === 0 ? false : 'jq is not installed';

const node = (name: string) => ({
  kind: 'Node',
  metadata: { name, labels: { zone: 'a' }, annotations: { secret: 'annotation' } },
  spec: { podCIDR: '10.0.0.1/24', podCIDRs: ['10.0.0.1/24', 'fd01:2:3::/64'], providerID: 'secret-provider' },
  status: {
    nodeInfo: { kubeletVersion: 'v1.34.2', machineID: 'secret-machine' },
    addresses: [{ address: '10.0.0.1' }],
    capacity: { cpu: '4', pods: '110' },
    allocatable: { cpu: '3800m', pods: '110' },
    conditions: [
      { type: 'Ready', status: 'True', message: 'secret-message' },
      { type: 'DiskPressure', status: 'False' },
    ],
    images: [{ names: ['secret-image'] }],
  },
});
/** What keeps nodes from taking part now, and a cordon of our own, which does not. */
const marked = [
  {
    ...node('n-3'),
    spec: { unschedulable: true, taints: [{ key: 'karpenter.sh/disruption', value: 'disrupting', effect: 'secret' }] },
  },
  { ...node('n-4'), metadata: { name: 'n-4', labels: {}, deletionTimestamp: '2026-11-21T12:00:00Z' } },
  {
    ...node('n-5'),
    metadata: { name: 'n-5', labels: {}, annotations: { 'kubelet-gitops.dev/cordoned': 'secret' } },
    spec: { unschedulable: true },
  },
];
const pod = {
  kind: 'Pod',
  metadata: { name: 'secret-pod' },
  spec: { nodeName: 'n-1', containers: [{ env: [{ name: 'TOKEN', value: 'secret' }] }] },
  status: { phase: 'Running' },
};

const request = (memory: string) => ({ env: pod.spec.containers[0]?.env, resources: { requests: { memory } } });
const asks = { containers: [request('1Gi')], initContainers: [{ ...request('1Mi'), restartPolicy: 'Always' }] };
/** Those that a node cannot do without, each for another reason, and one that looks like them. */
const vital = [
  { ...pod, metadata: { ...pod.metadata, ownerReferences: [{ kind: 'DaemonSet', name: 'secret' }] } },
  { ...pod, metadata: { ...pod.metadata, ownerReferences: [{ kind: 'Node', name: 'secret' }] } },
  { ...pod, spec: { ...pod.spec, priority: 2_000_000_000, priorityClassName: 'secret' } },
  { ...pod, spec: { ...pod.spec, priority: 1_999_999_999 } },
].map((each) => ({ ...each, spec: { ...each.spec, ...asks, overhead: { cpu: '1m' } } }));

describeOrSkip('publish-inventory.sh of the template', { skip: WITHOUT_GIT || WITHOUT_JQ }, () => {
  let workspace: Workspace;
  let clone = '';
  before(async () => {
    workspace = await createWorkspace({ kubectl: '#!/bin/sh\necho "$*" >> "$HOME/asked"\ncat "$HOME/cluster.json"\n' });
    const { origin } = await createOrigin(workspace, { 'x.txt': 'x' });
    clone = join(workspace.directory, 'clone');
    await workspace.git('clone', '--quiet', origin, clone);
  });
  after(() => workspace.remove());

  async function publish(items: readonly unknown[], cluster = 'demo'): Promise<Ran> {
    await writeFile(join(workspace.directory, 'cluster.json'), JSON.stringify({ items }));
    return runScript(['sh'], `scripts/publish-inventory.sh ${cluster}`, clone, workspace.env);
  }
  const origin = (...argv: readonly string[]) => workspace.git('-C', join(workspace.directory, 'origin'), ...argv);

  it('publishes what a plan needs of nodes and pods, and nothing else of them', async () => {
    const objects = [node('n-1'), node('n-2'), ...marked, pod, pod, ...vital];
    const { code, out } = await publish(objects);
    assert.equal(code, 0, out);
    assert.match(out, /demo has 5 nodes/);
    const published = await origin('show', 'inventory:demo.json');
    assert.doesNotMatch(published, /secret|10\.0\.0\.1|fd01/);
    assert.equal(nodesFrom([node('n-1')])[0]?.podAddresses, 254);
    const all: readonly unknown[] = objects;
    assert.deepEqual(nodesFrom(all)[0]?.vital, {
      count: 3,
      requests: { cpu: 0.003, memory: 3 * 1025 * 2 ** 20, 'ephemeral-storage': 0 },
    });
    assert.deepEqual(nodesFrom((JSON.parse(published) as { readonly items: unknown[] }).items), nodesFrom(all));
  });

  it('leaves the branch as it is where nothing has changed, and never lets it grow', async () => {
    assert.equal((await publish([node('n-1'), node('n-2'), pod, pod])).code, 0);
    const before_ = await origin('rev-parse', 'inventory');
    assert.match((await publish([node('n-1'), node('n-2'), pod, pod])).out, /demo is as it was/);
    assert.equal(await origin('rev-parse', 'inventory'), before_);
    assert.equal((await publish([node('n-1')])).code, 0);
    assert.equal(await origin('rev-list', '--count', 'inventory'), '1');
  });

  it('keeps what was published of other clusters', async () => {
    assert.equal((await publish([node('p-1')], 'prod')).code, 0);
    assert.deepEqual((await origin('ls-tree', '--name-only', 'inventory')).split('\n'), ['demo.json', 'prod.json']);
    assert.match(await origin('show', 'inventory:demo.json'), /n-1/);
  });

  it('publishes nothing where kubectl lists no node, or where the name could be a path', async () => {
    const before_ = await origin('rev-parse', 'inventory');
    assert.equal((await publish([])).code, 2);
    assert.equal((await publish([node('n-1')], '../demo')).code, 2);
    assert.equal(await origin('rev-parse', 'inventory'), before_);
  });
});
