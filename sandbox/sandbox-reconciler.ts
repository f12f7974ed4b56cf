import type { OwnPod } from '#reconciler/cluster/drains/own-pod.ts';
import { connectForge, type ForgeSettings } from '#reconciler/reporting/forge/connect-forge.ts';
import { createAuditView } from '#reconciler/cluster/audit-view.ts';
import { connectNotifier } from '#reconciler/reporting/notifications/connect-notifier.ts';
import { createAnnotator } from '#reconciler/git/notes/notes-annotator.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { createFollowedRepository } from '#reconciler/git/following/followed-repository.ts';
import { createGitSource } from '#reconciler/git/git-source.ts';
import type { SshOptions } from '#reconciler/git/remote.ts';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { createStatusPage } from '#reconciler/reporting/status-page/status-page.ts';
import { withRetryAfter } from '#reconciler/cluster/kube/retry-after-kube.ts';
import { createReconciler } from '#reconciler/reconciler.ts';
import { judgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import { judgeForFleet } from '#reconciler/policy/judge-for-fleet.ts';
import type { LoadedRepo, PoolBounds } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { Snapshot } from '#reconciler/policy/commit-snapshot.ts';
import { createCommitReader } from '#reconciler/reading/commit-reader.ts';
import { createCommitReadings } from '#reconciler/reading/commit-readings.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { signingKeyIn } from '#reconciler/git/trust/signing-key.ts';
import { connectTrust, type TrustSettings } from '#reconciler/git/trust/connect-trust.ts';
import { createReporting } from '#reconciler/reporting/reporting.ts';
import { createPollDebounce } from '#reconciler/git/poll-debounce.ts';
import { fileSecrets } from '#reconciler/git/webhook/webhook-secrets.ts';
import { serveWebhook, WEBHOOK_PATH } from '#reconciler/git/webhook/server.ts';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { type Millis, systemClock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { VERSION } from '#shared/runtime/version.ts';

export interface SandboxReconcilerOptions {
  readonly kube: Kube;
  readonly cluster: string;
  readonly gitUrl: string;
  /** How a repository is reached whose address is one of ssh. */
  readonly gitSsh?: SshOptions | undefined;
  readonly pollMs: Millis;
  readonly log: Log;
  /** Directory of a credential for git, as a mounted Secret has it; absent for a repository that everybody may write to. */
  readonly gitCredentialsDir?: string | undefined;
  /** File with the secret of a webhook; absent for none. */
  readonly webhookSecretFile?: string | undefined;
  /** Directory of the keys that commits have to be signed with; absent where they need not be signed. */
  readonly trustedKeysDir?: string | undefined;
  /** File of the key that notes are signed with; absent for none. */
  readonly notesSigningKeyFile?: string | undefined;
  /** What else is said of signatures. Default: commits are to be signed. */
  readonly trust?: Partial<TrustSettings> | undefined;
  /** Where statuses are posted; absent for none. */
  readonly forge?: ForgeSettings | undefined;
  /** File that says who is told of what; absent for nobody. */
  readonly notificationsFile?: string | undefined;
  /** Name of the pod that it runs in; absent for none. */
  readonly ownPod?: string | undefined;
  /** Commits are read in a thread, as in a cluster, which takes a moment; in ours otherwise. */
  readonly readsInThread?: boolean | undefined;
  /** Port of the status page; any free one otherwise. */
  readonly pagePort?: number | undefined;
}

/** The real reconciler with the sandbox's ports: no lease, and everything that waits waits less. */
export interface SandboxReconciler {
  readonly notesRef: string;
  /** Where a forge would post its deliveries to; null where there is no webhook. */
  readonly webhookUrl: Promise<string | null>;
  /** Where the status page is; null where its port is taken. */
  readonly pageUrl: Promise<string | null>;
  /** What a scrape would get. */
  metrics(): Promise<string>;
  /** @param killed it writes nothing more, as a process that is killed */
  stop(killed?: boolean): Promise<void>;
}

export function startReconciler(options: SandboxReconcilerOptions): SandboxReconciler {
  const {
    cluster,
    gitUrl,
    gitSsh,
    pollMs,
    log,
    webhookSecretFile: secretFile,
    trustedKeysDir,
    notesSigningKeyFile: signingKeyFile,
    forge,
    pagePort = 0,
  } = options;
  const clock = systemClock;
  const random = Math.random;
  const metrics = createMetrics({ clock, ofProcess: false });
  const kube = withRetryAfter(metrics.meterKube(options.kube), clock);
  let isKilled = false;
  const isLeader = (): boolean => !isKilled;
  const fleet = (): Fleet | null => reconciler.fleet();
  const audit = createAuditView({ kube, namespace: DEFAULT_NAMESPACE, clock, random, log });
  const page = createStatusPage({
    about: { cluster, version: VERSION, forge: forge?.kind },
    leadership: () => ({ leads: true, holder: 'sandbox' }),
    audit: audit.summary,
    reach: 'local',
    port: pagePort,
    clock,
    log,
  });
  const notifier =
    options.notificationsFile === undefined
      ? null
      : connectNotifier(options.notificationsFile, {
          cluster,
          onOutcome: (receiver, outcome) => metrics.instruments.notifications.inc({ receiver, outcome }),
          isLeader,
          clock,
          log,
          random,
          onChange: () => reconciler.poke(),
        });
  const receivers = notifier === null ? {} : { receivers: notifier.receivers };
  const told = {
    ...receivers,
    kube,
    audit: audit.summary,
    metrics,
    page,
    identity: 'sandbox',
    isLeader,
    fleet,
    clock,
    random,
    log,
  };
  const telling = createReporting(told);
  const notesRef = `refs/notes/kubelet-gitops/${cluster}`;
  const git = { url: gitUrl, ssh: gitSsh, credentials: fileCredentials(options.gitCredentialsDir), clock, random };
  const load = ({ files, findings }: Snapshot, boundsBefore?: PoolBounds): LoadedRepo =>
    loadRepo(files, { cluster, gitFindings: findings, ...(boundsBefore && { boundsBefore }) });
  const readings = createCommitReadings({
    read: createCommitReader({ cluster, clock }),
    judge: (pool) => judgeForFleet(pool, fleet(), judgePool),
    onRead: () => reconciler.poke(),
    log,
  });
  const reconciler = createReconciler(
    {
      kube,
      source: metrics.meterSource(createGitSource({ ...git, branch: 'main' })),
      followed: createFollowedRepository(git),
      ...(trustedKeysDir === undefined
        ? {}
        : { trust: connectTrust({ signedCommits: 'on', trustedKeysDir, ...options.trust }, git, { clock, log }) }),
      statuses: forge === undefined ? null : connectForge(forge, { clock, log, random, onChange: () => undefined }),
      notifier,
      annotator: createAnnotator({
        ...git,
        ref: notesRef,
        signing: signingKeyFile === undefined ? undefined : { cluster, key: () => signingKeyIn(signingKeyFile) },
      }),
      load,
      ...(options.readsInThread === true ? { load: readings.load, startReading: readings.start } : {}),
      readEarlier: (snapshot) => load(snapshot),
      judge: judgePool,
      isLeader,
      ownPod: ownPodOf(options.ownPod, () => (isKilled = true)),
      clock,
      log,
      random,
      observer: telling.observer,
    },
    {
      cluster,
      namespace: DEFAULT_NAMESPACE,
      onRewrite: 'refuse',
      keepUnusedMs: 3_600_000,
      notesEveryMs: 250,
      recheckMs: 200,
      restMs: 20,
    },
  );
  const stop = new AbortController();
  const polling = (async () => {
    while (!stop.signal.aborted) {
      await reconciler.poll(stop.signal);
      await clock.sleep(pollMs, stop.signal);
    }
  })();
  const running = Promise.all([reconciler.run(stop.signal), telling.run(stop.signal), audit.run(stop.signal)]);
  const pokes = createPollDebounce({
    look: (signal) => reconciler.poll(signal),
    gapMs: 1_000,
    clock,
    signal: stop.signal,
    onError: (err) => log.error({ err }, 'look at the branch ended with an error'),
  });
  const webhook =
    secretFile === undefined
      ? null
      : serveWebhook({
          port: 0,
          host: '127.0.0.1',
          branch: 'main',
          secrets: fileSecrets(secretFile),
          onPush: () => void pokes.trigger(),
          clock,
          log,
        });
  return {
    notesRef,
    metrics: () => metrics.text(),
    pageUrl: page.port.then((port) => (port === null ? null : `http://127.0.0.1:${port}/`)),
    webhookUrl: Promise.resolve(webhook).then((server) =>
      server === null ? null : `http://127.0.0.1:${server.port}${WEBHOOK_PATH}`,
    ),
    async stop(killed = false) {
      isKilled = killed;
      stop.abort();
      await (await webhook)?.close();
      await Promise.all([running, polling]);
    },
  };
}

const ownPodOf = (name: string | undefined, leadNoMore: () => void): OwnPod | null =>
  name === undefined
    ? null
    : {
        namespace: DEFAULT_NAMESPACE,
        name,
        handOver() {
          leadNoMore();
          return Promise.resolve();
        },
      };
