import type { Annotator } from '#reconciler/git/notes/annotator.ts';
import type { CommitTrust } from '#reconciler/git/trust/commit-trust.ts';
import type { FollowedRepository } from '#reconciler/git/following/followed-repository.ts';
import type { GitSource } from '#reconciler/git/source-port.ts';
import { holdLease } from '#reconciler/cluster/leader/hold-lease.ts';
import type { LeaseTiming } from '#reconciler/cluster/leader/lease-times.ts';
import { withRetryAfter } from '#reconciler/cluster/kube/retry-after-kube.ts';
import { createReconciler } from '#reconciler/reconciler.ts';
import type { JudgePool } from '#reconciler/policy/config-repo/judge-pool.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { createReporting } from '#reconciler/reporting/reporting.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import type { Repository } from './git.ts';

export interface ReplicaPorts {
  readonly identity: string;
  readonly kube: Kube;
  readonly source: GitSource;
  readonly followed: FollowedRepository;
  readonly annotator: Annotator;
  readonly clock: Clock;
  readonly load: Repository['load'];
  /** Default: kubelets accept everything. */
  readonly judge?: JudgePool;
  readonly timing: LeaseTiming;
  /** Whether it tells of its work as well: Events, conditions, metrics. Default: no. */
  readonly tells?: boolean;
  /** The folder that it follows. Default: all of the repository. */
  readonly path?: string;
  /** Whose commits it takes. Default: everybody's. */
  readonly trust?: CommitTrust;
  /** Between two looks at the branch. Default: two seconds. */
  readonly pollMs?: Millis;
  /** Between two pushes of notes. Default: a second. */
  readonly notesEveryMs?: Millis;
}

/** One process of the reconciler, put together as `reconciler/main.ts` does. */
export interface Replica {
  readonly isLeader: () => boolean;
  /** It lost the lead and gave up: in a cluster its pod would begin again. */
  readonly over: () => boolean;
  /** As SIGTERM does. */
  readonly stop: () => void;
  readonly ended: Promise<void>;
  /** What a scrape would get. */
  readonly metrics: () => Promise<string>;
}

const POLL_MS = 2_000;

export function startReplica({ identity, timing, load, tells = false, ...ports }: ReplicaPorts): Replica {
  const { clock, pollMs = POLL_MS, notesEveryMs = 1_000 } = ports;
  const kube = withRetryAfter(ports.kube, clock);
  const random = (): number => 0.5;
  const stop = new AbortController();
  const handBack = new AbortController();
  const lease = holdLease({
    kube,
    namespace: 'kubelet-gitops',
    name: 'kubelet-gitops-reconciler',
    identity,
    clock,
    random,
    log: silentLog,
    timing,
    signal: handBack.signal,
    onGained: (ahead) => void reconciler.lead(stop.signal, ahead),
    onLost: () => stop.abort(),
  });
  const isLeader = (): boolean => lease.isLeader();
  const metrics = createMetrics({ clock, ofProcess: false });
  const fleet = (): Fleet | null => reconciler.fleet();
  const telling = createReporting({
    kube,
    metrics,
    page: null,
    identity,
    isLeader,
    fleet,
    clock,
    random,
    log: silentLog,
  });
  const { observer } = telling;
  const reconciler = createReconciler(
    {
      judge: () => [],
      ...ports,
      kube,
      load,
      readEarlier: load,
      isLeader,
      log: silentLog,
      random,
      ...(tells ? { observer } : {}),
    },
    {
      cluster: 'demo',
      namespace: 'kubelet-gitops',
      path: ports.path ?? '',
      onRewrite: 'refuse',
      keepUnusedMs: 3_600_000,
      notesEveryMs,
      recheckMs: 15_000,
      restMs: 250,
    },
  );
  const polling = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await reconciler.poll(stop.signal);
      await clock.sleep(pollMs, stop.signal);
    }
  };
  const run = async (): Promise<void> => {
    await Promise.all([reconciler.run(stop.signal), polling(), tells ? telling.run(stop.signal) : null]);
    handBack.abort();
    await lease.ended;
  };
  return {
    isLeader,
    over: () => stop.signal.aborted,
    stop: () => stop.abort(),
    ended: run(),
    metrics: () => metrics.text(),
  };
}
