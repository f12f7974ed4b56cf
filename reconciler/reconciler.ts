import { readApproval } from '#shared/contract/api/approval.ts';
import { APPROVE_ANNOTATION, BY_ANNOTATION } from '#shared/contract/api/group.ts';
import { readClaim } from '#shared/contract/claim.ts';
import type { KubeletSourceStatus } from '#shared/contract/api/kubelet-source.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { type Clock, fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { askedToWaitMs, isKubeError } from '#shared/kube/kube-error.ts';
import { withLifetime } from '#shared/runtime/lifetime.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';
import { ASK_TIMEOUT_MS, createBlockerChecks, MOST_ANSWER_BYTES } from './cluster/blockers/blocker-checks.ts';
import { createCanaryQueries } from './cluster/blockers/canary-queries.ts';
import { createWebGet, type WebOptions } from './cluster/blockers/web-get.ts';
import { createClusterView } from './cluster/cluster-view.ts';
import type { JudgePool } from './policy/config-repo/judge-pool.ts';
import { createDrains } from './cluster/drains/drains.ts';
import type { OwnPod } from './cluster/drains/own-pod.ts';
import type { Fleet } from './policy/fleet.ts';
import type { Annotator } from './git/notes/annotator.ts';
import { plainLine } from './git/plain-text.ts';
import type { ForgeStatusWriter } from './reporting/forge/forge-status-writer.ts';
import type { Notifier } from './reporting/notifications/notifier.ts';
import type { GitSource } from './git/source-port.ts';
import { createPass } from './pass.ts';
import { createNotesWriter } from './reporting/notes/notes-writer.ts';
import { createSourceRecord } from './reporting/source/source-record.ts';
import type { PassObserver } from './reporting/pass-result.ts';
import { type ChooseCommit, createBranch } from './branch.ts';
import { createCandidateChanges } from './candidate-changes.ts';
import { createFollowing } from './following.ts';
import type { FollowedRepository } from './git/following/followed-repository.ts';
import type { ReleasedCommit } from './policy/following/record.ts';
import { followsInForce } from './policy/following/follows.ts';
import type { GivenApproval } from './policy/following/counterparts.ts';
import { provenIn } from './policy/following/payload-proofs.ts';
import { readSignedNotes } from './policy/following/notes-serial.ts';
import { letThroughCommit, recordedFollows } from './reporting/notes/recorded-commits.ts';
import type { SourceState } from './reporting/notes/source-state.ts';
import type { CommitOid, Snapshot } from './policy/commit-snapshot.ts';
import type { LoadedRepo } from './policy/config-repo/loaded-repo.ts';
import type { CommitReadings } from './reading/commit-readings.ts';
import { createEarlierRenderings } from './earlier-renderings.ts';
import type { RewritePolicy } from './policy/commit-admission/refuse-commit.ts';
import { recoveredCommit } from './policy/commit-admission/recovered-commit.ts';
import { createAcceptedCommits, type AcceptedCommitsOptions } from './policy/commit-admission/accepted-commits.ts';
import type { CommitTrust } from './git/trust/commit-trust.ts';
import { createIneffectiveWrites } from './cluster/write-cache/ineffective-writes.ts';
import { createWriteOverlay } from './cluster/write-cache/write-overlay.ts';
import { WRITTEN_MARKS, WRITTEN_NODES, WRITTEN_POOLS } from './cluster/write-cache/write-overlay-rules.ts';

interface ReconcilerPorts {
  readonly kube: Kube;
  readonly source: GitSource;
  /** Whose commits are taken up. Absent: everybody's who may push to the branch. */
  readonly trust?: CommitTrust;
  /** The same repository, for a cluster that follows others. */
  readonly followed: FollowedRepository;
  /** null switches notes off. */
  readonly annotator: Annotator | null;
  /** Absent: no statuses on the forge. */
  readonly statuses?: ForgeStatusWriter | null;
  /** Absent: nobody is told. */
  readonly notifier?: Notifier | null;
  readonly load: AcceptedCommitsOptions['load'];
  /** Begins to read what `load` has not read yet. Absent: it reads at once. */
  readonly startReading?: CommitReadings['start'];
  /** Reads a commit that is not to come into force. */
  readonly readEarlier: (snapshot: Snapshot, signal: AbortSignal) => LoadedRepo | Promise<LoadedRepo>;
  readonly judge: JudgePool;
  /** Whether this process is the one that acts. */
  readonly isLeader: () => boolean;
  /** Absent: this process runs in no pod. */
  readonly ownPod?: OwnPod | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Numbers in [0, 1), for jitter. */
  readonly random: () => number;
  readonly observer?: PassObserver;
}

interface ReconcilerOptions {
  readonly cluster: string;
  readonly namespace: string;
  /** The folder of the repository that is followed. Default: all of it. */
  readonly path?: string;
  readonly onRewrite: RewritePolicy;
  readonly keepUnusedMs: Millis;
  readonly notesEveryMs: Millis;
  /** Longest time between two passes: soaks end and agents fall silent without an event. */
  readonly recheckMs: Millis;
  /** Shortest time between the ends of two passes, so that a burst of events makes one pass. */
  readonly restMs: Millis;
  /** How old the counts in a pool's status may become. Default: they are written whenever they change. */
  readonly statusEveryMs?: Millis;
  /** How Prometheus is asked. Default: anonymously, trusting the well-known authorities. */
  readonly prometheus?: Pick<WebOptions, 'caFile' | 'token'>;
}

export interface Reconciler {
  /** Works until the signal aborts, then writes the notes that are still due. Rejects only for a bug. */
  run(signal: AbortSignal): Promise<void>;
  /** Reads the branch now, as far as this process acts. Never rejects. */
  poll(signal: AbortSignal): Promise<void>;
  /**
   * The lead was gained: looks again at what the one before may have written, and at the branch. Never rejects.
   *
   * @param ahead how far this machine's clock is ahead of the last time that the one before wrote down
   */
  lead(signal: AbortSignal, ahead?: Millis): Promise<void>;
  /** Something outside may have changed. */
  poke(): void;
  ready(): boolean;
  /** The cluster as it is seen now; null until everything was seen once. */
  fleet(): Fleet | null;
  /** Monotonic time of the last pass, whatever came of it. */
  lastPassAt(): Millis;
}

const FLUSH_TIMEOUT_MS = 5_000;

export function createReconciler(ports: ReconcilerPorts, options: ReconcilerOptions): Reconciler {
  const { kube, clock, log, random, source } = ports;
  const { observer } = ports;
  const wakeUps = createWakeUps(clock);
  const poke = (): void => {
    observer?.woken();
    wakeUps.poke();
  };
  const written = createWriteOverlay(clock, WRITTEN_NODES);
  const writtenPools = createWriteOverlay(clock, WRITTEN_POOLS);
  const marks = createWriteOverlay(clock, WRITTEN_MARKS);
  const branch = createBranch(source, clock, log, ports.trust);
  const { onRewrite } = options;
  const following = createFollowing({
    cluster: options.cluster,
    repository: ports.followed,
    changes: createCandidateChanges(source, ports.readEarlier, () => view.fleet(), clock, log),
    proven: () => provenIn([...(view.fleet()?.pools ?? [])].map(([name, { status }]) => [name, status])),
    approvals: () => approvalsIn(view.fleet()),
    onRewrite,
    clock,
    log,
    ahead: () => ahead,
  });
  const record = createSourceRecord(kube, clock, ports.isLeader);
  const takeUps = createAcceptedCommits({ load: ports.load, judge: ports.judge, policy: options.onRewrite });
  const view = createClusterView({
    kube,
    namespace: options.namespace,
    written,
    writtenPools,
    marks,
    onChange: poke,
    onFault: (err, retryInMs) => log.warn({ err, retryInMs }, 'watch interrupted'),
    clock,
    random,
  });
  const notes =
    ports.annotator === null
      ? null
      : createNotesWriter({
          annotator: ports.annotator,
          cluster: options.cluster,
          signedBefore: async (signal) => readSignedNotes((await record.load(signal)).signedNotes),
          clock,
          log,
          random,
          everyMs: options.notesEveryMs,
          onChange: poke,
        });
  const ownPod = ports.ownPod && {
    ...ports.ownPod,
    async handOver() {
      // Once another one leads, this process can write no more.
      await atLast(({ signal }) => endRecord(signal));
      await ports.ownPod?.handOver();
    },
  };
  const web = createWebGet({ clock, timeoutMs: ASK_TIMEOUT_MS, maxBytes: MOST_ANSWER_BYTES, ...options.prometheus });
  const pass = createPass({
    ...ports,
    cluster: options.cluster,
    settings: { namespace: options.namespace, keepUnusedMs: options.keepUnusedMs },
    statusEveryMs: options.statusEveryMs,
    fleet: view.fleet,
    ahead: () => ahead,
    mayWrite: ports.isLeader,
    drains: createDrains(kube, ownPod),
    blockers: createBlockerChecks({ kube, clock, web }),
    queries: createCanaryQueries({ clock, web }),
    renderings: createEarlierRenderings(source, ports.readEarlier, clock, log),
    wrote: written.wrote,
    wrotePool: writtenPools.wrote,
    wroteMarks: marks.wrote,
    ineffectiveWrites: createIneffectiveWrites(clock, log),
    branch,
    repository: { url: source.url, branch: source.branch },
    path: options.path ?? '',
    takeUps,
    following,
    record,
    notes,
    statuses: ports.statuses ?? null,
    notifier: ports.notifier ?? null,
  });
  let lastPassAt = clock.monotonic();
  let stayAwayUntil: Millis = 0;
  let ready = false;
  let ahead: Millis = 0;
  /** One after the other: an older reading of the branch that took longer must not take the place of a newer one. */
  let looks: Promise<void> = Promise.resolve();

  async function passes(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const askedMs = ports.isLeader() ? await onePass(signal) : 0;
      lastPassAt = clock.monotonic();
      await clock.sleep(Math.max(options.restMs, askedMs), signal);
      await wakeUps.next(options.recheckMs, signal);
    }
  }

  /**
   * Whatever goes wrong ends a pass, never the loop: the API server may be away, and a mistake of ours must not stop a fleet.
   *
   * @returns how long the API server asked to be left alone
   */
  async function onePass(signal: AbortSignal): Promise<Millis> {
    const since = clock.monotonic();
    try {
      const { ran, waitMs } = await pass(signal);
      if (ran) observer?.passed('made', clock.monotonic() - since);
      return waitMs;
    } catch (error) {
      observer?.passed('broken-off', clock.monotonic() - since);
      if (!signal.aborted) log[isKubeError(error) ? 'warn' : 'error']({ err: error }, 'pass broken off');
      return askedToWaitMs(error) ?? 0;
    }
  }

  async function look(signal: AbortSignal): Promise<void> {
    if (!ports.isLeader() || clock.monotonic() < stayAwayUntil) return;
    const before = { ...branch.view(), seen: following.record() };
    try {
      const recorded = await record.load(signal);
      const { commit, takenUpAt } = recorded;
      const inForceSince = fromTimestamp(takenUpAt);
      if (inForceSince !== undefined) ports.trust?.isInForce(commit, inForceSince);
      const fleet = view.fleet();
      const known = commit === '' ? (fleet === null ? null : recoveredCommit(fleet)) : commit;
      const inForce = takeUps.inForce() ?? known;
      const waitMs = await branch.poll(inForce, signal, choiceOf(inForce, recorded, signal));
      stayAwayUntil = clock.monotonic() + waitMs;
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'poll put off: the record of the commit in force cannot be read');
    }
    const { tip, readAt, failure } = branch.view();
    const isNews = tip !== before.tip || readAt !== before.readAt || failure !== before.failure;
    if (isNews || following.record() !== before.seen) poke();
  }

  /** undefined where the tip of the branch is to be in force. */
  function choiceOf(inForce: CommitOid | null, recorded: SourceState, signal: AbortSignal): ChooseCommit | undefined {
    const repo = takeUps.repo();
    const before = recordedFollows(recorded);
    if (inForce === null || (repo === null && before === null)) return undefined;
    const released = async (): Promise<ReleasedCommit | null> => letThroughCommit(await record.release(signal));
    // What it says itself is read before anything else can come into force.
    if (repo === null)
      return async (tip) => ({
        oid: inForce,
        lineage: 'same',
        orTip: onRewrite === 'refuse' || (await released())?.oid === tip,
      });
    const follows = followsInForce(repo.cluster, before ?? null);
    if (follows !== null)
      return async (tip) =>
        following.choose({ follows, tip, inForce, repo, recorded, released: await released() }, signal);
    following.forget();
    return undefined;
  }

  /** Of an orderly end, the commit that was being read is not to blame, and what receivers have taken since is not told again. */
  async function endRecord(signal: AbortSignal, attemptsLeft = 2): Promise<void> {
    try {
      const { reading, told } = await record.load(signal);
      const toldNow = ports.notifier?.atEnd(told) ?? told;
      if (reading === '' && toldNow === told) return;
      await record.save(({ status = {} }) => ({ ...withoutReading(status), told: toldNow }), signal);
    } catch (err) {
      // The write that the stop called off had arrived.
      if (isKubeError(err, 'KUBE_CONFLICT') && attemptsLeft > 0) return endRecord(signal, attemptsLeft - 1);
      log.warn({ err }, 'the record stays as it was, as after an end without notice');
    }
  }

  /** The stop has called off everything else already. */
  const atLast = (write: Parameters<typeof withLifetime>[1]): Promise<unknown> =>
    withLifetime(
      {
        clock,
        parent: undefined,
        onParent: () => undefined,
        ms: FLUSH_TIMEOUT_MS,
        reason: () => 'shutting down',
      },
      write,
    );

  const reconciler: Reconciler = {
    async run(signal) {
      const reports = [notes?.run(signal), ports.statuses?.run(signal), ports.notifier?.run(signal)];
      await Promise.all([view.run(signal), passes(signal), ...reports]);
      if (!ports.isLeader()) return;
      await atLast(({ signal }) =>
        Promise.all([notes?.flush(signal), ports.statuses?.flush(signal), endRecord(signal)]),
      );
    },
    poll(signal) {
      looks = looks.catch(() => undefined).then(() => look(signal));
      return looks;
    },
    lead(signal, by = 0) {
      ahead = by;
      view.refresh();
      return reconciler.poll(signal);
    },
    poke,
    fleet: view.fleet,
    ready: () => (ready ||= view.fleet() !== null),
    lastPassAt: () => lastPassAt,
  };
  return reconciler;
}

function withoutReading(status: KubeletSourceStatus): KubeletSourceStatus {
  const { reading: _, ...rest } = status;
  return rest;
}

/** By pool, what its annotation lets go on. */
const approvalsIn = (fleet: Fleet | null): ReadonlyMap<string, GivenApproval> =>
  new Map(
    [...(fleet?.pools ?? [])].flatMap(([name, { metadata }]) => {
      const { [APPROVE_ANNOTATION]: value = '', [BY_ANNOTATION]: by } = metadata.annotations ?? {};
      const approval = readApproval(value);
      const who = plainLine(readClaim(by, 'approve', value)?.who ?? '', LONGEST_NAME);
      return approval === undefined ? [] : [[name, { ...approval, by: who }]];
    }),
  );

/** Of each approved pool, of which there may be many, on the record. */
const LONGEST_NAME = 100;
