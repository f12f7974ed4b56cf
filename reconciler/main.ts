import { randomUUID } from 'node:crypto';
import { systemClock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { createLog } from '#shared/runtime/log.ts';
import { VERSION } from '#shared/runtime/version.ts';
import type { Fleet } from './policy/fleet.ts';
import { connectForge } from './reporting/forge/connect-forge.ts';
import { connectNotifier } from './reporting/notifications/connect-notifier.ts';
import { loadReceivers } from './reporting/notifications/receivers.ts';
import { sendTests } from './reporting/notifications/send-tests.ts';
import { createAnnotator } from './git/notes/notes-annotator.ts';
import { fileCredentials } from './git/git-credentials.ts';
import { createFollowedRepository } from './git/following/followed-repository.ts';
import { createGitSource } from './git/git-source.ts';
import { type HealthView, serveHealth, serveReconcilerMetrics } from './reporting/health-and-metrics-server.ts';
import { createAuditView } from './cluster/audit-view.ts';
import { connectKube } from './cluster/kube/connect-kube.ts';
import { withRetryAfter } from './cluster/kube/retry-after-kube.ts';
import { holdLease } from './cluster/leader/hold-lease.ts';
import { followExpirations } from './reporting/metrics/expirations.ts';
import { expiringCredentialsOf } from './reporting/metrics/expiring-credentials.ts';
import { createMetrics } from './reporting/metrics/metrics.ts';
import { createStatusPage, type StatusPage, type StatusPageOptions } from './reporting/status-page/status-page.ts';
import { createReconciler } from './reconciler.ts';
import { poolJudge } from './policy/config-repo/judge-pool.ts';
import { judgeForFleet } from './policy/judge-for-fleet.ts';
import { createVerdictCache } from './policy/config-repo/verdict-cache.ts';
import { createCommitReader } from './reading/commit-reader.ts';
import { createCommitReadings } from './reading/commit-readings.ts';
import { type ReconcilerSettings, readReconcilerSettings } from './settings.ts';
import type { Listening } from './http-server/listen.ts';
import { createReporting } from './reporting/reporting.ts';
import { startTriggers, type Triggers } from './triggers.ts';
import { signingKeyIn } from './git/trust/signing-key.ts';
import { connectTrust } from './git/trust/connect-trust.ts';

const LEASE_NAME = 'kubelet-gitops-reconciler';
const RECHECK_MS = 15_000;
const REST_MS = 100;
/** A thousand pools on nodes of four versions. One is some 150 bytes and what there is to say, which is nothing mostly. */
const MOST_VERDICTS = 4_000;
const STATUS_EVERY_MS = 10_000;
/** The loop goes round at least every recheck; a pass of a large fleet over a slow API server may take a while. */
const STUCK_AFTER_MS = 10 * 60_000;

async function main(settings: ReconcilerSettings): Promise<void> {
  const log = createLog({ level: settings.logLevel, base: { program: 'reconciler', cluster: settings.cluster } });
  const clock = systemClock;
  const random = Math.random;
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());

  const expirations = followExpirations(expiringCredentialsOf(settings, clock), log);
  const metrics = createMetrics({ clock, ofProcess: true, expirations });
  const userAgent = `kubelet-gitops-reconciler/${VERSION}`;
  const kube = withRetryAfter(metrics.meterKube(await connectKube({ env: process.env, clock, log, userAgent })), clock);
  const git = { url: settings.gitUrl, caFile: settings.gitCaFile, proxy: settings.proxy, clock, random };
  const repository = {
    ...git,
    credentials: fileCredentials(settings.gitCredentialsDir),
    ssh: { directory: settings.gitCredentialsDir },
  };
  const source = metrics.meterSource(
    createGitSource({ ...repository, branch: settings.gitBranch, path: settings.gitPath }),
  );
  const followed = createFollowedRepository(repository, settings.gitPath);
  const trust = connectTrust(settings, repository, { clock, log });
  const { notesSigningKeyFile: signingKeyFile } = settings;
  const annotator =
    settings.notes === 'off'
      ? null
      : createAnnotator({
          ...git,
          ref: settings.notesRef,
          signing:
            signingKeyFile === undefined
              ? undefined
              : { cluster: settings.cluster, key: () => signingKeyIn(signingKeyFile) },
          credentials: fileCredentials(settings.notesCredentialsDir),
          ssh: { directory: settings.notesCredentialsDir },
        });

  const identity = `${settings.identity}_${randomUUID()}`;
  const isLeader = (): boolean => lease.isLeader();
  const fleet = (): Fleet | null => reconciler.fleet();
  const notifier =
    settings.notificationsFile === undefined
      ? null
      : connectNotifier(settings.notificationsFile, {
          cluster: settings.cluster,
          proxy: settings.proxy,
          onOutcome: (receiver, outcome) => metrics.instruments.notifications.inc({ receiver, outcome }),
          isLeader,
          clock,
          log,
          random,
          onChange: () => reconciler.poke(),
        });
  const audit = createAuditView({ kube, namespace: settings.namespace, clock, random, log });
  const telling = createReporting({
    kube,
    audit: audit.summary,
    ...(notifier === null ? {} : { receivers: notifier.receivers }),
    metrics,
    page: pageOf(settings, {
      leadership: () => ({ leads: isLeader(), holder: lease.holder() ?? '' }),
      standby: { kube, namespace: settings.namespace, fleet },
      audit: audit.summary,
      log,
    }),
    identity: settings.identity,
    isLeader,
    fleet,
    clock,
    random,
    log,
  });
  const judge = poolJudge(createVerdictCache(MOST_VERDICTS));
  const { cluster, gitPath: folder, allowFields } = settings;
  const reading = { cluster, folder, allowFields, clock };
  const readings = createCommitReadings({
    read: createCommitReader(reading),
    judge: (pool) => judgeForFleet(pool, fleet(), judge),
    onRead: () => reconciler.poke(),
    log,
  });
  const handBack = new AbortController();
  const lease = holdLease({
    kube,
    namespace: settings.namespace,
    name: LEASE_NAME,
    identity,
    pod: settings.pod,
    clock,
    random,
    log,
    signal: handBack.signal,
    onGained: (ahead) => void reconciler.lead(stop.signal, ahead),
    // What was in memory may be out of date when the lead comes back: another process starts from what the cluster says.
    onLost: () => {
      log.error({}, 'lead lost: stopping, to start again from the cluster');
      process.exitCode = 1;
      stop.abort();
    },
  });
  const reconciler = createReconciler(
    {
      kube,
      source,
      followed,
      trust,
      annotator,
      statuses:
        settings.forge === undefined
          ? null
          : connectForge(
              { ...settings.forge, proxy: settings.proxy },
              { clock, log, random, onChange: () => reconciler.poke() },
            ),
      notifier,
      load: readings.load,
      startReading: readings.start,
      // Beside the other: a revert does not wait for what takes long to read.
      readEarlier: createCommitReader(reading),
      judge,
      isLeader,
      ownPod:
        settings.pod === undefined
          ? null
          : { namespace: settings.namespace, name: settings.pod, handOver: () => lease.handOver() },
      clock,
      log,
      random,
      observer: telling.observer,
    },
    { ...settings, path: settings.gitPath, recheckMs: RECHECK_MS, restMs: REST_MS, statusEveryMs: STATUS_EVERY_MS },
  );
  let triggers: Triggers | undefined;
  let health: Listening | undefined;
  let numbers: Listening | undefined;
  try {
    triggers = await startTriggers({
      look: (signal) => reconciler.poll(signal),
      pollMs: settings.pollMs,
      webhook: webhookOf(settings),
      clock,
      log,
      random,
      signal: stop.signal,
    });
    const view: HealthView = {
      live: () => clock.monotonic() - reconciler.lastPassAt() < STUCK_AFTER_MS,
      ready: () => reconciler.ready(),
    };
    health = await serveHealth({ view, port: settings.healthPort });
    numbers = await serveReconcilerMetrics({ metrics, port: settings.metricsPort, clock, log });
    log.info(
      { version: VERSION, url: source.url, branch: source.branch, path: settings.gitPath, port: health.port },
      'started',
    );
    await Promise.all([reconciler.run(stop.signal), telling.run(stop.signal), audit.run(stop.signal)]);
  } finally {
    // Also after a failure: what is left running would keep a process alive that does nothing any more.
    stop.abort();
    await triggers?.stop();
    await health?.close();
    await numbers?.close();
    handBack.abort();
    await lease.ended;
  }
  log.info({}, 'stopped');
}

function webhookOf({ webhookSecretFile: secretFile, webhookPort: port, gitBranch: branch }: ReconcilerSettings) {
  return secretFile === undefined ? undefined : { secretFile, port, branch };
}

function pageOf(
  settings: ReconcilerSettings,
  ports: Pick<StatusPageOptions, 'leadership' | 'standby' | 'audit' | 'log'>,
): StatusPage | null {
  const { cluster, forge, statusPage: reach, statusPort: port } = settings;
  if (reach === 'off') return null;
  return createStatusPage({
    about: { cluster, version: VERSION, forge: forge?.kind },
    ...ports,
    reach,
    port,
    clock: systemClock,
  });
}

/** Whether receivers can be reached is known here alone: by this network, proxy and Secret. */
async function testNotifications({ notificationsFile, cluster, proxy }: ReconcilerSettings): Promise<void> {
  if (notificationsFile === undefined) throw new Error('NOTIFICATIONS_FILE is not set: nobody is told of anything');
  const tested = await sendTests(loadReceivers(notificationsFile), { cluster, proxy, clock: systemClock });
  process.stdout.write(tested.map(({ line }) => `${line}\n`).join(''));
  if (tested.some(({ isSent }) => !isSent)) process.exitCode = 1;
}

try {
  const settings = readReconcilerSettings(process.env);
  await (process.argv[2] === 'notify' ? testNotifications(settings) : main(settings));
} catch (error) {
  process.stderr.write(`kubelet-gitops reconciler: ${reasonOf(error)}\n`);
  process.exitCode = 2;
}
