import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, request, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import {
  type AuditReport,
  type AuditSection,
  SECTION_IDS,
  type SectionId,
  SEVERITIES,
} from '#cli/audit/audit-report.ts';
import { AUDIT_CONFIG_MAP, AUDIT_REPORT_KEY, readAuditSummary } from '#shared/contract/audit-summary.ts';
import { CONFIG_MAPS, KUBELET_NODES, NODES } from '#shared/kube/kube.ts';
import { type Authority, createAuthority, type Identity } from '../../shared/kube/support/certificates.ts';
import { readDocuments } from '../../deploy/admission-policy.ts';
import { grantedTo } from '../../support/granted-rights.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { aCluster, type TestCluster } from '../support/cluster.ts';
import { run } from '../support/run.ts';
import { checkIn, nodesOf } from './support/facts.ts';
import { kubeconfigOf } from '../../support/kubeconfig/one-cluster.ts';

const closing: Server[] = [];
afterEach(() => {
  for (const server of closing.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function listening(listener: RequestListener, identity?: Identity): Promise<number> {
  const server = identity === undefined ? createHttpServer(listener) : createHttpsServer({ ...identity }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(server);
  return (server.address() as AddressInfo).port;
}

const MI = 2 ** 20;
const SUMMARY = {
  node: {
    cpu: { usageNanoCores: 4e8 },
    memory: { time: '2026-11-29T12:00:00Z', workingSetBytes: 900 * MI },
    systemContainers: [{ name: 'pods', cpu: { usageNanoCores: 1e8 }, memory: { workingSetBytes: 300 * MI } }],
  },
};

/** A kubelet that runs this, and remembers who asked for what. */
function kubelet(config: Readonly<Record<string, unknown>>, asked: string[] = []): RequestListener {
  return (request, response) => {
    const { url = '', headers } = request;
    asked.push(`${url} ${headers.authorization ?? ''}`.trim());
    const body =
      url === '/configz' ? { kubeletconfig: config } : url.startsWith('/stats/summary') ? SUMMARY : undefined;
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
}

function addNode({ sandbox }: TestCluster, name: string, port: number, ready = true, version = 'v1.34.2'): void {
  sandbox.server.store.seed(NODES, {
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
      nodeInfo: { kubeletVersion: version, osImage: '' },
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      capacity: { cpu: '4', memory: '16Gi', pods: '110' },
      allocatable: { cpu: '4', memory: '16Gi', pods: '110' },
    },
  });
}

const section = ({ sections }: AuditReport, id: SectionId): AuditSection =>
  sections.find((each) => each.id === id) ?? assert.fail(id);

/** The sandbox's API server gives a kubelet 10 s; an audit would give the server 15. */
const ONE_PATIENCE_MS = 15_000;

/** Nothing listens there. */
const CLOSED = 1;

describe('an audit of a cluster, through its API server', () => {
  const report = async (cluster: TestCluster, ...words: readonly string[]): Promise<AuditReport> => {
    const { out, err } = await cluster.cli('audit', '-o', 'json', ...words);
    assert.equal(err, '');
    return JSON.parse(out) as AuditReport;
  };

  it('says what those run that answer, and of the others why not; one that is not Ready is no fault', async () => {
    await using cluster = await aCluster();
    addNode(cluster, 'open', await listening(kubelet({ readOnlyPort: 10_255 })));
    addNode(cluster, 'away', CLOSED);
    addNode(cluster, 'dead', CLOSED, false);
    addNode(cluster, 'old', CLOSED, true, 'v1.19.16');
    addNode(cluster, 'odd', await listening((_, response) => response.end('{}')));
    const endless = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    addNode(
      cluster,
      'deep',
      await listening((_, response) => response.end(`{"kubeletconfig":{"maxPods":${endless}}}`)),
    );
    const vast = '{"kubeletconfig":{"evictionHard":{"memory.available":1e400}}}';
    addNode(cluster, 'vast', await listening((_, response) => response.end(vast)));
    const found = await report(cluster);
    assert.deepEqual(found.nodes, { seen: 1, of: 7 });
    const reasons = found.unseen.map(({ reason, nodes, right }) => `${reason} ${nodes.join()} ${right ?? ''}`.trim());
    assert.deepEqual(reasons.sort(), [
      'no-answer away',
      'not-ready dead',
      'unreadable deep',
      'unreadable odd',
      'unreadable vast',
      'unsupported old',
    ]);
    assert.deepEqual(nodesOf(checkIn(section(found, 'safety'), 'safety/readOnlyPort'), 'fail'), ['open']);
    const room = checkIn(section(found, 'room'), 'room/memory-under-reserved');
    assert.deepEqual([room.result, room.groups[0]?.evidence[0]?.value], ['fail', 'up to 640Mi']);
  });

  it('waits for kubelets that hang no longer than for one of them, and says each that it did not see', async () => {
    const hanging: string[] = [];
    const ports = {
      good: await listening(kubelet({ readOnlyPort: 10_255 })),
      forbidden: await listening((_, response) => response.writeHead(403).end()),
      hanging: await listening(({ url = '' }) => void hanging.push(url)),
      dead: CLOSED,
    };
    const counts = { good: 60, forbidden: 5, hanging: 6, dead: 5 };
    await using cluster = await aCluster();
    for (const [kind, count] of Object.entries(counts))
      for (let index = 0; index < count; index += 1)
        addNode(cluster, `${kind}-${index}`, ports[kind as keyof typeof ports]);
    const began = performance.now();
    const found = await report(cluster);
    assert.ok(performance.now() - began < 2 * ONE_PATIENCE_MS);
    assert.deepEqual(found.nodes, { seen: 60, of: 76 });
    const said = found.unseen.flatMap(({ reason, nodes }) => nodes.map((node) => `${node.split('-')[0]} ${reason}`));
    const times = Object.fromEntries([...Map.groupBy(said, (each) => each)].map(([each, of]) => [each, of.length]));
    assert.deepEqual(times, { 'forbidden forbidden': 5, 'hanging no-answer': 6, 'dead no-answer': 5 });
    // Each was asked once, and not for what it uses.
    assert.deepEqual(hanging, Array<string>(6).fill('/configz'));
    assert.equal(nodesOf(checkIn(section(found, 'safety'), 'safety/readOnlyPort'), 'fail').length, 60);
  });

  it('says of how many nodes Prometheus has days enough', async () => {
    await using cluster = await aCluster();
    addNode(cluster, 'a', await listening(kubelet({})));
    const data = { resultType: 'vector', result: [] };
    const port = await listening((_, response) => response.end(JSON.stringify({ status: 'success', data })));
    const { source } = await report(cluster, '--section', 'room', '--prometheus', `http://127.0.0.1:${port}`);
    assert.equal(source.notes.at(-1), 'Prometheus has 3 days or more of 0 of 1 node.');
  });

  it('does not fail for a node that is not Ready alone', async () => {
    await using cluster = await aCluster();
    addNode(cluster, 'good', await listening(kubelet({ serverTLSBootstrap: true })));
    addNode(cluster, 'dead', CLOSED, false);
    assert.equal((await cluster.cli('audit', '--section', 'sameness')).code, 0);
    addNode(cluster, 'away', CLOSED);
    assert.equal((await cluster.cli('audit', '--section', 'sameness')).code, 1);
  });

  it('asks what the host uses for room only', async () => {
    const asked: string[] = [];
    await using cluster = await aCluster();
    addNode(cluster, 'a', await listening(kubelet({}, asked)));
    await report(cluster, '--section', 'safety');
    assert.deepEqual(asked, ['/configz']);
  });

  it('names the flags that agents report and newer kubelets do not know', async () => {
    await using cluster = await aCluster();
    addNode(cluster, 'a', await listening(kubelet({})));
    cluster.sandbox.server.store.seed(KUBELET_NODES, {
      metadata: { name: 'a' },
      status: { kubeletFlags: ['pod-infra-container-image'] },
    });
    const ids = section(await report(cluster), 'upgrades').checks.map(({ id }) => id);
    assert.ok(
      ids.some((id) => /^upgrades\/1\.\d+\/flag\/pod-infra-container-image$/.test(id)),
      ids.join(' '),
    );
  });

  it('without the right says which is missing and what it can do, asks few kubelets, and advises nobody to grant it', async () => {
    let asked = 0;
    const may = ({ subresource }: { readonly subresource?: string | undefined }): boolean => {
      if (subresource === 'proxy') asked += 1;
      return subresource !== 'proxy';
    };
    await using cluster = await aCluster({ anonymous: { user: 'reader', may } });
    for (let index = 0; index < 120; index += 1) addNode(cluster, `n-${index}`, CLOSED);
    const { code, err } = await cluster.cli('audit');
    assert.equal(code, 2);
    assert.match(err, /the right get nodes\/proxy is missing/);
    assert.match(err, /Do not grant nodes\/proxy for this, which runs commands in every pod/);
    assert.doesNotMatch(err, /Grant the verb/i);
    assert.ok(asked < 60, String(asked));
  });
});

/** The same server over TLS. */
const front = (url: string, identity: Identity): Promise<number> =>
  listening((asked, response) => {
    const { url: path = '', method, headers } = asked;
    const onward = request(`${url}${path}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    asked.pipe(onward);
  }, identity);

describe('an audit on the kubelets’ own port', () => {
  const authority = createAuthority('cluster');
  const stranger = createAuthority('stranger');
  const directory = temporaryDirectory();

  async function direct(cluster: TestCluster, user: object, ca: Authority | undefined, ...words: readonly string[]) {
    const path = join(directory, 'kubeconfig');
    const data = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca.ca).toString('base64') };
    const { url } = cluster.sandbox.server;
    // A kubeconfig's authority counts for https only.
    const server = ca === undefined ? url : `https://127.0.0.1:${await front(url, ca.issue('api', ['127.0.0.1']))}`;
    await writeFile(path, kubeconfigOf({ server, ...data }, user));
    return run('audit', '--direct', '-o', 'json', '--kubeconfig', path, ...words);
  }

  const user = { token: 'all' };

  it('shows its token to those alone that the cluster’s authority has signed for their address', async () => {
    const [good, bad, other]: string[][] = [[], [], []];
    await using cluster = await aCluster();
    addNode(cluster, 'good', await listening(kubelet({}, good), authority.issue('good', ['127.0.0.1'])));
    addNode(cluster, 'impostor', await listening(kubelet({}, bad), stranger.issue('impostor', ['127.0.0.1'])));
    addNode(cluster, 'elsewhere', await listening(kubelet({}, other), authority.issue('elsewhere', ['192.0.2.1'])));
    const { out, err } = await direct(cluster, user, authority);
    assert.notEqual(out, '', err);
    const found = JSON.parse(out) as AuditReport;
    assert.deepEqual(found.nodes, { seen: 1, of: 3 });
    assert.deepEqual(
      found.unseen.map(({ reason, nodes }) => [reason, nodes]),
      [['untrusted', ['elsewhere', 'impostor']]],
    );
    assert.deepEqual([bad, other], [[], []]);
    assert.deepEqual(good, ['/configz Bearer all', '/stats/summary?only_cpu_and_memory=true Bearer all']);
    assert.equal(found.source.from, 'direct');
  });

  it('of the example’s account publishes for the reconciler, doctor and metrics, whatever fails', async () => {
    const account = { namespace: 'kubelet-gitops', name: 'kubelet-gitops-audit' };
    const example = readDocuments('deploy/examples/audit.yaml');
    const tokens = {
      job: { user: 'system:serviceaccount:kubelet-gitops:kubelet-gitops-audit', may: grantedTo(account, example) },
    };
    await using cluster = await aCluster({ tokens });
    const { store } = cluster.sandbox.server;
    addNode(cluster, 'a', await listening(kubelet({ readOnlyPort: 10_255 }), authority.issue('a', ['127.0.0.1'])));
    const publish = () => direct(cluster, { token: 'job' }, authority, '--publish', '--fail-on', 'never');
    const missing = await publish();
    assert.equal(missing.code, 2);
    assert.match(
      missing.err,
      /there is no ConfigMap kubelet-gitops-audit to publish in: kubectl -n kubelet-gitops create/,
    );
    const before = await cluster.cli('doctor');
    assert.match(before.out, /audit: none was published/);

    store.seed(CONFIG_MAPS, { metadata: { name: AUDIT_CONFIG_MAP, namespace: 'kubelet-gitops' } });
    const { code, out, err } = await publish();
    assert.deepEqual([code, err], [0, '']);
    const written = store.get(CONFIG_MAPS, AUDIT_CONFIG_MAP, 'kubelet-gitops') as unknown as Parameters<
      typeof readAuditSummary
    >[0];
    const { binaryData } = written as unknown as { readonly binaryData: Readonly<Record<string, string>> };
    const report = gunzipSync(Buffer.from(binaryData[AUDIT_REPORT_KEY] ?? '', 'base64')).toString();
    assert.deepEqual(JSON.parse(report), JSON.parse(out));
    const summary = readAuditSummary(written) ?? assert.fail();
    assert.deepEqual(summary.nodes, { seen: 1, of: 1 });
    const failed = (JSON.parse(out) as AuditReport).sections.flatMap(({ id, checks }) =>
      checks.filter(({ result }) => result === 'fail').map(({ severity }) => `${id} ${severity}`),
    );
    assert.ok(failed.length > 3);
    assert.deepEqual(
      summary.failed.flatMap(({ section: id, severity, checks }) => Array<string>(checks).fill(`${id} ${severity}`)),
      SECTION_IDS.flatMap((id) =>
        SEVERITIES.flatMap((severity) => failed.filter((each) => each === `${id} ${severity}`)),
      ),
    );
    const after = await cluster.cli('doctor');
    assert.match(after.out, new RegExp(`audit: ${failed.length} checks failed \\(.* on 1 of 1 nodes, at `));
  });

  it('sees when serving certificates end', async () => {
    const soon = createAuthority('cluster', '301231235959Z');
    await using cluster = await aCluster();
    addNode(cluster, 'a', await listening(kubelet({}), soon.issue('a', ['127.0.0.1'])));
    const { out } = await direct(cluster, user, soon, '--section', 'safety');
    const check = checkIn(section(JSON.parse(out) as AuditReport, 'safety'), 'safety/certificate-ends');
    assert.deepEqual(check.groups[0]?.evidence, [{ field: 'certificate', value: 'ends 2030-12-31', by: 'kubelet' }]);
  });

  it('names the smaller right of kubelets from 1.33 on', async () => {
    const refuse: RequestListener = (_, response) => response.writeHead(403).end();
    await using cluster = await aCluster();
    addNode(cluster, 'a', await listening(kubelet({}), authority.issue('a', ['127.0.0.1'])));
    addNode(cluster, 'new', await listening(refuse, authority.issue('new', ['127.0.0.1'])), true, 'v1.33.0');
    addNode(cluster, 'older', await listening(refuse, authority.issue('older', ['127.0.0.1'])), true, 'v1.32.9');
    const { out } = await direct(cluster, user, authority, '--section', 'safety');
    const rights = (JSON.parse(out) as AuditReport).unseen.map(({ nodes, right }) => `${nodes.join()}: ${right}`);
    assert.deepEqual(rights.sort(), ['new: get nodes/configz', 'older: get nodes/proxy']);
  });

  it('is refused without an authority to check kubelets by', async () => {
    await using cluster = await aCluster();
    const { code, err } = await direct(cluster, user, undefined);
    assert.equal(code, 2);
    assert.match(err, /--direct needs the cluster’s authority/);
  });
});
