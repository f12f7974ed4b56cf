import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ForgeSettings } from '#reconciler/reporting/forge/connect-forge.ts';
import { readClusterStatus } from '#cli/status/read-status.ts';
import type { StatusView } from '#cli/status/render.ts';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { type Millis, systemClock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { startApiServer, type SandboxApiServer } from './api-server/server.ts';
import { startGitServer, type SandboxGitServer } from './git-server/server.ts';
import { nodesIn, startNode, type SandboxNode, type SandboxNodeOptions } from './sandbox-node.ts';
import { startReconciler, type SandboxReconciler } from './sandbox-reconciler.ts';

export interface SandboxOptions {
  readonly cluster: string;
  readonly nodes: readonly SandboxNodeOptions[];
  /** One log for each program: `reconciler`, `agent`. */
  readonly log: (program: string) => Log;
  /** The git server of another world, which stops it; one of its own otherwise. */
  readonly git?: SandboxGitServer;
  /** Port of the API server; any free one otherwise. */
  readonly apiPort?: number;
  /** Commits are read in a thread, as in a cluster, which takes a moment; in ours otherwise. */
  readonly readsInThread?: boolean;
  /** Port of the status page. */
  readonly pagePort?: number;
  readonly pollMs: Millis;
  /** Directory of a credential for git, as a mounted Secret has it; absent for a repository that everybody may write to. */
  readonly gitCredentialsDir?: string;
  /** File with the secret of a webhook; absent for none. */
  readonly webhookSecretFile?: string;
  /** Directory of the keys that commits have to be signed with; absent where they need not be signed. */
  readonly trustedKeysDir?: string;
  /** File of the key that notes are signed with; absent for none. */
  readonly notesSigningKeyFile?: string;
  /** What else is said of signatures. Default: commits are to be signed. */
  readonly trust?: Parameters<typeof startReconciler>[0]['trust'];
  /** Where statuses are posted, for the repository with this address; absent for none. */
  readonly forge?: (gitUrl: string) => ForgeSettings;
  /** File that says who is told of what; absent for nobody. */
  readonly notificationsFile?: string;
  /** Name of the pod that the reconciler runs in; absent for none. */
  readonly ownPod?: string;
}

/** The whole system in one process: a git server, an API server, a reconciler, and nodes with agents and kubelets. */
export interface Sandbox {
  readonly git: SandboxGitServer;
  readonly api: SandboxApiServer;
  readonly nodes: ReadonlyMap<string, SandboxNode>;
  readonly notesRef: string;
  /** Where deliveries of a forge go; null where there is no webhook. */
  webhookUrl(): Promise<string | null>;
  /** Where the reconciler's status page is; null where its port is taken. */
  pageUrl(): Promise<string | null>;
  /** What a scrape of the reconciler would get now. */
  metrics(): Promise<string>;
  addNode(node: SandboxNodeOptions): Promise<void>;
  /**
   * Ends the reconciler and starts another one, which knows nothing but what the cluster says.
   *
   * @param meanwhile what happens while there is none
   * @param killed    the one before has no time to write anything down
   */
  restartReconciler(meanwhile?: () => Promise<void>, killed?: boolean): Promise<void>;
  /** A client with every right, as an administrator has it. */
  readonly kube: Kube;
  readonly adminToken: string;
  status(): Promise<StatusView>;
  /**
   * Resolves with the first status for which the condition holds.
   *
   * @param withinMs three minutes by default: what is waited for comes within a second or two, unless the machine is busy
   * @throws GitopsError `SANDBOX_NOT_YET` after `withinMs`
   */
  until(
    what: string,
    condition: (view: StatusView) => boolean | Promise<boolean>,
    withinMs?: Millis,
  ): Promise<StatusView>;
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 50;
const PATIENCE_MS = 180_000;
const TOKENS = { admin: 'admin-token', reconciler: 'reconciler-token', agent: 'agent-token' } as const;

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-sandbox-'));
  const git = options.git ?? (await startGitServer());
  const api = await startApiServer({
    tokens: Object.values(TOKENS),
    // kubectl sends no token over plain HTTP: every user of the sandbox may do everything.
    anonymous: { user: 'sandbox' },
    ...(options.apiPort === undefined ? {} : { port: options.apiPort }),
  });
  const connect = (program: keyof typeof TOKENS): Kube =>
    createKube({
      server: api.url,
      credentials: staticCredentials({ token: TOKENS[program] }),
      clock: systemClock,
      log: options.log(program),
      userAgent: `sandbox-${program}`,
    });
  const kube = connect('admin');
  const nodes = new Map<string, SandboxNode>();
  const addNode = async (node: SandboxNodeOptions): Promise<void> => {
    const ports = {
      nodes: nodesIn(api),
      kube: connect('agent'),
      directory: join(directory, node.name),
      log: options.log('agent'),
    };
    nodes.set(node.name, await startNode(node, ports));
  };
  for (const node of options.nodes) await addNode(node);
  const begin = (): SandboxReconciler =>
    startReconciler({
      kube: connect('reconciler'),
      cluster: options.cluster,
      gitUrl: git.local?.url ?? git.url,
      gitSsh: git.local?.ssh,
      pollMs: options.pollMs,
      log: options.log('reconciler'),
      gitCredentialsDir: options.gitCredentialsDir,
      webhookSecretFile: options.webhookSecretFile,
      trustedKeysDir: options.trustedKeysDir,
      trust: options.trust,
      notesSigningKeyFile: options.notesSigningKeyFile,
      forge: options.forge?.(git.url),
      notificationsFile: options.notificationsFile,
      ownPod: options.ownPod,
      readsInThread: options.readsInThread,
      pagePort: options.pagePort,
    });
  let reconciler = begin();
  const status = (): Promise<StatusView> => readClusterStatus(kube);

  return {
    git,
    api,
    nodes,
    notesRef: reconciler.notesRef,
    webhookUrl: () => reconciler.webhookUrl,
    pageUrl: () => reconciler.pageUrl,
    metrics: () => reconciler.metrics(),
    addNode,
    async restartReconciler(meanwhile, killed) {
      await reconciler.stop(killed);
      await meanwhile?.();
      reconciler = begin();
    },
    kube,
    adminToken: TOKENS.admin,
    status,
    async until(what, condition, withinMs = PATIENCE_MS) {
      const deadline = systemClock.monotonic() + withinMs;
      for (;;) {
        // Many looks: from inside, they cost a fraction.
        const view = await readClusterStatus(api.direct);
        if (await condition(view)) return view;
        if (systemClock.monotonic() > deadline) {
          throw new GitopsError('SANDBOX_NOT_YET', `${what}: not within ${withinMs} ms`, { fields: { view } });
        }
        await systemClock.sleep(LOOK_EVERY_MS);
      }
    },
    async stop() {
      await reconciler.stop();
      await Promise.all([...nodes.values()].map((node) => node.stop()));
      await api.stop();
      if (options.git === undefined) await git.stop();
      // A write of an agent that was stopped in the middle of it may end now.
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
