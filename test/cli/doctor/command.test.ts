import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { sourceObject } from '../../support/source-object.ts';
import { parseAllDocuments } from 'yaml';
import { CODES } from '#cli/doctor/diagnosis-codes.ts';
import type { Diagnosis } from '#cli/doctor/diagnosis.ts';
import { rightsIn } from '#cli/doctor/read/missing-rights.ts';
import { type Right, formatRight } from '#cli/doctor/rights.ts';
import { grantedTo } from '../../support/granted-rights.ts';
import type { ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import type { ApiServerOptions } from '#sandbox/api-server/server.ts';
import { DAEMON_SETS, DEPLOYMENTS } from '#sandbox/api-server/resources/built-in.ts';
import { KUBELET_SOURCES, KUBELET_NODES, KUBELET_POOLS, LEASES, NODES } from '#shared/kube/kube.ts';
import { COMMIT_A, poolSpec } from '../../support/fleet.ts';
import { aCluster, type TestCluster } from '../support/cluster.ts';
import { run } from '../support/run.ts';
import { kubeconfigOf } from '../../support/kubeconfig/one-cluster.ts';

const NAMESPACE = 'kubelet-gitops';
const AGENT_LABELS = { 'app.kubernetes.io/name': 'kubelet-gitops', 'app.kubernetes.io/component': 'agent' };
const manifests = globSync('deploy/rbac/*.yaml').flatMap((file) =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as unknown),
);
const account = (name: string) => ({
  user: `system:serviceaccount:${NAMESPACE}:${name}`,
  may: grantedTo({ namespace: NAMESPACE, name }, manifests),
});
const ACCOUNTS = {
  reconciler: account('kubelet-gitops-reconciler'),
  agent: account('kubelet-gitops-agent'),
  all: { user: 'administrator' },
} as const;

/** One node, one pool, both programs: all is well. */
async function aSoundCluster(options: Partial<ApiServerOptions> = {}): Promise<TestCluster> {
  const cluster = await aCluster({ tokens: ACCOUNTS, ...options });
  const { store } = cluster.sandbox.server;
  const now = new Date().toISOString();
  store.seed(NODES, {
    metadata: { name: 'n-1', labels: { pool: 'workers' } },
    status: { nodeInfo: { kubeletVersion: 'v1.34.2' } },
  } as object as { metadata: { name: string } });
  store.seed(KUBELET_NODES, {
    metadata: { name: 'n-1' },
    spec: { pool: 'workers' },
    status: { phase: 'Idle', agentVersion: '0.1.0', heartbeat: now },
  });
  store.seed(KUBELET_POOLS, { metadata: { name: 'workers' }, spec: poolSpec(), status: { phase: 'Settled' } });
  store.seed(KUBELET_SOURCES, sourceObject({ commit: COMMIT_A }));
  const holder = { holderIdentity: 'r-1_x', renewTime: now.replace('Z', '000Z'), leaseDurationSeconds: 15 };
  store.seed(LEASES, {
    metadata: { name: 'kubelet-gitops-reconciler', namespace: NAMESPACE },
    spec: holder,
  } as object as {
    metadata: { name: string; namespace: string };
  });
  for (const [resource, name] of [
    [DEPLOYMENTS, 'kubelet-gitops-reconciler'],
    [DAEMON_SETS, 'kubelet-gitops-agent'],
  ] as const) {
    store.seed(resource, { metadata: { name, namespace: NAMESPACE, labels: AGENT_LABELS } });
  }
  return cluster;
}

const codesIn = (out: string): readonly string[] =>
  (JSON.parse(out) as { readonly diagnoses: readonly Diagnosis[] }).diagnoses.map(({ code }) => code);

describe('kubelet-gitops doctor', () => {
  it('says that nothing is wrong, and ends with 0', async () => {
    await using cluster = await aSoundCluster();
    const ran = await cluster.cli('doctor');
    assert.match(ran.out, /^nothing is wrong\naudit: none was published\. .*kubelet-gitops audit\n$/);
    assert.deepEqual([ran.err, ran.code], ['', 0]);
    assert.deepEqual(JSON.parse((await cluster.cli('doctor', '-o', 'json')).out), { diagnoses: [], audit: null });
  });

  it('asks for what the API server notes of writers, by which clocks are compared', async () => {
    const accepted = new Set<string | undefined>();
    const server = createServer(({ headers }, response) => {
      accepted.add(headers.accept);
      response.writeHead(403).end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-doctor-'));
    try {
      const kubeconfig = join(directory, 'kubeconfig');
      await writeFile(kubeconfig, kubeconfigOf({ server: `http://127.0.0.1:${port}` }));
      await run('doctor', '--kubeconfig', kubeconfig);
      assert.deepEqual([...accepted], ['application/json']);
    } finally {
      await rm(directory, { recursive: true });
      server.closeAllConnections();
      server.close();
    }
  });

  it('changes nothing', async () => {
    await using cluster = await aSoundCluster();
    const before = cluster.sandbox.server.store.version();
    await cluster.cli('doctor');
    assert.equal(cluster.sandbox.server.store.version(), before);
  });

  it('finds what is wrong, with what follows and what to do, and ends with 1', async () => {
    await using cluster = await aSoundCluster();
    const { store } = cluster.sandbox.server;
    store.remove(LEASES, 'kubelet-gitops-reconciler', NAMESPACE);
    store.patch(NODES, 'n-1', { metadata: { labels: { pool: 'none' } } });
    const ran = await cluster.cli('doctor');
    assert.equal(ran.code, 1);
    assert.match(ran.out, /^error no-leader: no reconciler ever held the Lease/);
    assert.ok(ran.out.includes(`  ${CODES['no-leader'].why}\n  What to do: ${CODES['no-leader'].remedy}\n`));
    assert.deepEqual(codesIn((await cluster.cli('doctor', '-o', 'json')).out), ['no-leader', 'nodes-unmanaged']);
  });

  it('notes alone are nothing wrong', async () => {
    await using cluster = await aSoundCluster();
    cluster.sandbox.server.store.patch(NODES, 'n-1', { metadata: { labels: { pool: 'none' } } });
    const ran = await cluster.cli('doctor');
    assert.equal(ran.code, 0);
    assert.match(ran.out, /^note nodes-unmanaged: node n-1: selected by no pool\n/);
  });

  it('counts the agents of servers, where they have a DaemonSet of their own', async () => {
    await using cluster = await aSoundCluster();
    const status = { desiredNumberScheduled: 3, numberReady: 2, updatedNumberScheduled: 1 };
    cluster.sandbox.server.store.seed(DAEMON_SETS, {
      metadata: { name: 'kubelet-gitops-agent-servers', namespace: NAMESPACE, labels: AGENT_LABELS },
      status,
    } as object as { metadata: { name: string; namespace: string } });
    cluster.sandbox.server.store.seed(DAEMON_SETS, {
      metadata: { name: 'of-somebody-else', namespace: NAMESPACE },
      status,
    } as object as { metadata: { name: string; namespace: string } });
    const { out } = await cluster.cli('doctor');
    assert.match(out, /^note agents-updating: 1 of 3 agents are of the current template\n/m);
  });

  it('names every right that a program lacks', async () => {
    // Lists of nodes and reads of Nodes are all that is left.
    const little = (name: string) => ({ ...account(name), may: isLeft });
    const isLeft = ({ resource, subresource, verb }: ResourceCall): boolean =>
      resource === 'nodes' && subresource === undefined && (verb === 'list' || verb === 'get');
    const tokens = { a: little('kubelet-gitops-reconciler'), b: little('kubelet-gitops-agent') };
    await using cluster = await aSoundCluster({ tokens });
    const { out } = await cluster.cli('doctor');
    const isGone = ({ component, resource, verb }: Right): boolean =>
      component === undefined && !(resource === 'nodes' && (verb === 'list' || verb === 'get'));
    for (const right of rightsIn(NAMESPACE).filter(isGone)) {
      const line = out.split('\n').find((each) => each.startsWith(`error rights-missing: ${right.account} may not`));
      assert.ok(line?.includes(formatRight(right)), `${right.account} ${formatRight(right)}`);
    }
  });

  it('says it in short where a program has no right at all', async () => {
    await using cluster = await aSoundCluster({ tokens: { all: ACCOUNTS.all } });
    const { out } = await cluster.cli('doctor');
    assert.match(out, /^error rights-missing: kubelet-gitops-agent has none of the \d rights that it needs\n/m);
  });

  it('names the one right that was taken away', async () => {
    const { user, may } = ACCOUNTS.agent;
    const robbed = (call: ResourceCall): boolean => call.resource !== 'leases' && may(call);
    await using cluster = await aSoundCluster({ tokens: { ...ACCOUNTS, agent: { user, may: robbed } } });
    const { out } = await cluster.cli('doctor');
    assert.match(out, /^error rights-missing: kubelet-gitops-agent may not get leases\.coordination\.k8s\.io\n/);
  });

  it('asks for the namespace that it was told', async () => {
    await using cluster = await aSoundCluster();
    const codes = codesIn((await cluster.cli('doctor', '--namespace', 'elsewhere', '-o', 'json')).out);
    assert.deepEqual(codes.slice(0, 2), ['rights-missing', 'rights-missing']);
    assert.ok(codes.includes('reconciler-missing') && codes.includes('no-leader'));
    assert.ok(!codes.includes('no-commit'), 'the KubeletSource is in no namespace');
  });

  it('names what may not be read, and goes on with the rest', async () => {
    const mayRead = new Set(['kubeletnodes', 'kubeletpools', 'kubeletsources', 'nodes']);
    const may: NonNullable<NonNullable<ApiServerOptions['anonymous']>['may']> = ({ resource }) => mayRead.has(resource);
    await using cluster = await aSoundCluster({ anonymous: { user: 'reader', may } });
    cluster.sandbox.server.store.patch(KUBELET_POOLS, 'workers', { spec: { suspend: true } });
    const ran = await cluster.cli('doctor');
    assert.equal(ran.code, 1);
    assert.match(ran.out, /not-readable: the Lease of the reconciler: .*Grant the verb "get" on "leases"/);
    assert.match(
      ran.out,
      /not-readable: the rights of both programs: .*Grant the verb "create" on "subjectaccessreviews"/,
    );
    assert.match(ran.out, /pool-suspended: pool workers/);
  });

  it('could not run where no API server answers', async () => {
    const cluster = await aSoundCluster();
    await cluster.sandbox.server.stop();
    const ran = await cluster.cli('doctor');
    await cluster[Symbol.asyncDispose]();
    assert.deepEqual([ran.code, ran.out], [2, '']);
    assert.match(ran.err, /ECONNREFUSED/);
  });
});
