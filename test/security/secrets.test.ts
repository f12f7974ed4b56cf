import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { type SandboxApiServer, startApiServer } from '#sandbox/api-server/server.ts';
import { type SandboxGitServer, startGitServer } from '#sandbox/git-server/server.ts';
import type { SandboxNode } from '#sandbox/sandbox-node.ts';
import {
  CONFIG_MAPS,
  EVENTS,
  KUBELET_NODES,
  KUBELET_POOLS,
  KUBELET_SOURCES,
  LEASES,
  NODES,
} from '#shared/kube/kube.ts';
import { bundle } from '../../scripts/build.ts';
import { createAuthority } from '../cluster/support/certificate-authority.ts';
import { freePorts } from '../cluster/support/free-ports.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { until } from '../support/until.ts';
import { pushTo, SENDERS } from '../reconciler/git/webhook/deliveries.ts';
import { type ForgeServer, startForge } from '../support/forge-server.ts';
import { WITHOUT_OPENSSL } from '../support/required-tools.ts';
import { CANARIES, GIT_ACCESS, leaksIn } from './support/canaries.ts';
import { type Echo, type EchoingFront, startEchoingFront } from './support/echoing-front.ts';
import { nodeWithCanary } from './support/node.ts';
import { run, type Running, start, startKept } from './support/programs.ts';
import { badStarts, settingsFor, writeSecretFiles } from './support/secret-settings.ts';
import { clusterWithShortTrials } from '../support/short-trials.ts';

const WITHIN = { withinMs: 180_000, everyMs: 50 };
const REF = 'refs/notes/kubelet-gitops/demo';
const layer = (maxPods: number): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: ${maxPods}\n`;
const pool = (more = ''): string => `apiVersion: kubelet-gitops.dev/v1alpha1
kind: KubeletPool
spec:
  nodeSelector: {matchLabels: {role: worker}}
  rollout: {maxUnavailable: 1}
  trial: {duration: 200ms, startTimeout: 5m}
${more}`;

/**
 * The whole system with secrets that can be told from anything else, before servers that say them back wherever a reason
 * is usual. Everything that comes out of anything is collected, and searched at the end.
 */
describeOrSkip('secrets', { skip: WITHOUT_OPENSSL }, () => {
  const outputs = new Map<string, string>();
  const webhookPorts: number[] = [];
  let directory: string;
  let ca: string;
  let api: SandboxApiServer;
  let git: SandboxGitServer;
  let forge: ForgeServer;
  let fronts: Readonly<Record<'api' | 'git' | 'forge' | 'prometheus' | 'receiver', EchoingFront>>;
  let node: SandboxNode;
  let reconciler: Running;
  let agentSaid = '';

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-secrets-'));
    api = await startApiServer({
      tokens: [CANARIES['token of the reconciler'], CANARIES['token of the agent']],
    });
    git = await startGitServer({ access: (header) => GIT_ACCESS.get(header ?? '') ?? 'nothing' });
    forge = await startForge('gitea');
    forge.token = CANARIES['token of the forge'];
    forge.knows = () => true;
    const authority = await createAuthority(directory);
    ca = authority.certificate;
    fronts = {
      api: await startEchoingFront(api.url, await authority.issueServing('api', ['127.0.0.1'])),
      git: await startEchoingFront(git.url),
      forge: await startEchoingFront(forge.origin),
      prometheus: await startEchoingFront('http://127.0.0.1:1'),
      receiver: await startEchoingFront('http://127.0.0.1:1'),
    };
    fronts.receiver.answer = { echo: 'status', status: 401 };
    await writeSecretFiles(directory, { apiServer: fronts.api.origin, receiver: fronts.receiver.origin, ca });
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    for (const program of ['agent', 'reconciler'] as const) await bundle(program, directory);
    const [health = 0, webhook = 0, page = 0, metrics = 0] = await freePorts(4);
    webhookPorts.push(webhook, health, page, metrics);
    node = await nodeWithCanary({
      api,
      server: fronts.api.origin,
      ca,
      directory,
      heard: (line) => (agentSaid += line),
    });
    reconciler = startKept(programOf('reconciler'), [], settings(health, webhook, page, metrics));
    await until('the reconciler', async () => reconciler.said().includes('"started"'), {
      ...WITHIN,
      evidence,
    });
  });

  after(async () => {
    await reconciler?.stop();
    await node?.stop();
    for (const front of Object.values(fronts ?? {})) await front.stop();
    await forge?.close();
    await git?.stop();
    await api?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const settings = (health: number, webhook: number, page: number, metrics = 0): Record<string, string> => ({
    ...settingsFor(directory),
    GIT_URL: `${fronts.git.origin}/config.git`,
    FORGE_API_URL: `${fronts.forge.origin}/api/v1`,
    PROMETHEUS_TOKEN_URL: fronts.prometheus.origin,
    WEBHOOK_PORT: String(webhook),
    HEALTH_PORT: String(health),
    METRICS_PORT: String(metrics),
    STATUS_PORT: String(page),
  });
  const programOf = (program: 'agent' | 'reconciler' | 'cli'): string =>
    program === 'cli' ? 'cli/main.ts' : join(directory, `${program}.js`);

  const evidence = (): string => `${reconciler.said().slice(-3000)}\n${agentSaid.slice(-2000)}`;
  const statusOf = (): string => JSON.stringify(api.store.list(KUBELET_POOLS));
  const settledOn = (commit: string): Promise<unknown> =>
    until(
      `settled on ${commit.slice(0, 8)}`,
      async () => /"phase":"Settled"/.test(statusOf()) && statusOf().includes(commit),
      { ...WITHIN, evidence },
    );

  /** Has a server say back what it is told, until it did so a few times; then all is well again. */
  async function echo(front: EchoingFront, how: Echo, times = 2): Promise<void> {
    const wanted = front.echoed + times;
    front.answer = how;
    await until(`${how.echo} said back`, async () => front.echoed >= wanted, { ...WITHIN, evidence });
    front.answer = null;
  }

  /** The lead is held by writing: one that cannot for ten seconds ends the process. */
  async function leads(): Promise<unknown> {
    const before = JSON.stringify(api.store.list(LEASES));
    return until('a renewed lead', async () => JSON.stringify(api.store.list(LEASES)) !== before, {
      ...WITHIN,
      evidence,
    });
  }

  /** What all objects say, kept under a name because they change. */
  const keepObjects = (when: string): void => {
    const kinds = [NODES, KUBELET_NODES, KUBELET_POOLS, KUBELET_SOURCES, CONFIG_MAPS, EVENTS, LEASES];
    outputs.set(`objects ${when}`, JSON.stringify(kinds.map((kind) => api.store.list(kind))));
  };

  it('the system works with them, so that they are used', async () => {
    const files = {
      ...clusterWithShortTrials('demo'),
      'pools/all/pool.yaml': pool(),
      'pools/all/kubelet.yaml': layer(77),
    };
    const commit = await git.commit({ files, message: 'Start' });
    await settledOn(commit);
    await until('a note', async () => (await git.readNotes(REF)).has(commit), WITHIN);
    await until('a status of the commit', async () => forge.latest(commit).size > 0, WITHIN);
    keepObjects('when settled');
  });

  it('and goes on working while every server says back what it is told', async () => {
    for (const status of [401, 403, 500]) await echo(fronts.git, { echo: 'status', status });
    await echo(fronts.git, { echo: 'redirect' });
    await echo(fronts.git, { echo: 'body' });
    keepObjects('after git');
    for (const status of [401, 403, 500]) {
      await echo(fronts.api, { echo: 'status', status }, 3);
      await leads();
    }
    keepObjects('after the API server');

    fronts.forge.answer = { echo: 'status', status: 401 };
    fronts.prometheus.answer = { echo: 'status', status: 401 };
    const blockers = `  blockers: {prometheus: {url: "${fronts.prometheus.origin}", alerts: [Burning]}}\n`;
    const files = { 'pools/all/pool.yaml': pool(blockers), 'pools/all/kubelet.yaml': layer(88) };
    await git.commit({ files, message: 'Wait for Prometheus' });
    await until(
      'Prometheus to be asked',
      async () => fronts.prometheus.echoed > 0 && /Burning|blocked/.test(statusOf()),
      {
        ...WITHIN,
        evidence,
      },
    );
    await until('a receiver to refuse', async () => fronts.receiver.echoed > 0, WITHIN);
    await until('the forge to refuse', async () => fronts.forge.echoed > 0, WITHIN);
    keepObjects('while blocked');
    fronts.forge.answer = null;
    fronts.git.answer = { echo: 'status', status: 403, only: /receive-pack/ };
    const last = await git.commit({ files: { ...files, 'pools/all/pool.yaml': pool() }, message: 'Do not wait' });
    await settledOn(last);
    await until('notes to be refused', async () => /GIT_FORBIDDEN/.test(reconciler.said()), WITHIN);
    keepObjects('at the end');
  });

  it('and answers deliveries, questions and scrapes', async () => {
    const [webhook = 0, health = 0, page = 0, metrics = 0] = webhookPorts;
    const body = pushTo('main');
    for (const [sender, headersOf] of Object.entries(SENDERS)) {
      for (const secret of [CANARIES['secret of the webhook'], `${CANARIES['secret of the webhook']}x`]) {
        const headers = headersOf(body, secret, Date.now(), `${sender} ${secret.length}`.replaceAll(' ', '-'));
        const url = `http://127.0.0.1:${webhook}/webhook`;
        const response = await fetch(url, { method: 'POST', body, headers });
        const said = JSON.stringify([response.status, [...response.headers], await response.text()]);
        outputs.set(`the answer to a delivery of ${sender}, ${secret.length}`, said);
      }
    }
    for (const [name, url] of [
      ['metrics', `http://127.0.0.1:${metrics}/metrics`],
      ['health', `http://127.0.0.1:${health}/readyz`],
      ['the status page', `http://127.0.0.1:${page}/`],
    ] as const) {
      const response = await fetch(url);
      assert.equal(response.status, 200, name);
      outputs.set(name, JSON.stringify([[...response.headers], await response.text()]));
    }
  });

  it('and every command of operators, in a cluster that answers and in one that says back what it is told', async () => {
    const env = { KUBECONFIG: join(directory, 'kubeconfig'), HOME: directory };
    const into = join(directory, 'bundle');
    const commands = [
      ['status', '--why'],
      ['diff', 'all'],
      ['events'],
      ['doctor'],
      ['audit', '-o', 'json'],
      ['support-bundle', '--into', into],
    ];
    await Promise.all(
      commands.map(async (args) => outputs.set(args.join(' '), await run(programOf('cli'), args, env))),
    );
    for (const file of await readdir(into, { recursive: true, withFileTypes: true })) {
      if (file.isFile()) outputs.set(`bundle ${file.name}`, await readFile(join(file.parentPath, file.name), 'utf8'));
    }
    fronts.api.answer = { echo: 'status', status: 401 };
    outputs.set('status refused', await run(programOf('cli'), ['status'], env));
    fronts.api.answer = { echo: 'redirect' };
    outputs.set('status redirected', await run(programOf('cli'), ['status'], env));
    fronts.api.answer = null;
  });

  it('and programs that cannot start say why', async () => {
    const starts = badStarts(settings(0, 0, 0), directory);
    const judged = starts.map(async ({ name, program, env, why }) => {
      const running = start(programOf(program), program === 'cli' ? ['status'] : [], env);
      // One that starts in spite of it says what is wrong in its log.
      const ended = async (): Promise<boolean> => running.ended() || /"level":"(warn|error)"/.test(running.said());
      await until(`the end of ${name}`, ended, { ...WITHIN, evidence: running.said });
      await running.stop();
      assert.match(running.said(), why, name);
      outputs.set(`start with ${name}`, running.said());
    });
    await Promise.all(judged);
  });

  it('come out nowhere', async () => {
    outputs.set('the log of the reconciler', reconciler.said());
    outputs.set('the log of the agent', agentSaid);
    outputs.set(
      'notes',
      [...(await git.readNotes(REF)).values(), ...(await git.readNoteData(REF)).values()].join('\n'),
    );
    outputs.set('statuses of commits', JSON.stringify(forge.posted));
    for (const name of ['the log of the agent', 'notes', 'statuses of commits']) assert.ok(outputs.get(name), name);
    for (const code of [
      'GIT_UNAUTHORIZED',
      'GIT_FORBIDDEN',
      'GIT_REDIRECT_REFUSED',
      'FORGE_UNAUTHORIZED',
      'NOTIFICATION_UNAUTHORIZED',
    ]) {
      assert.ok(reconciler.said().includes(code), `${code} was never met`);
    }
    assert.deepEqual(leaksIn(outputs), []);
  });
});
