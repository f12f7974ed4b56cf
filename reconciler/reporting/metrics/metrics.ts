import { collectDefaultMetrics, type Gauge, Registry } from 'prom-client';
import type { AuditSummary } from '#shared/contract/audit-summary.ts';
import type { Finding } from '#shared/contract/finding.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { VERSION } from '#shared/runtime/version.ts';
import type { ClusterEvent } from '../events/cluster-event.ts';
import type { Fleet } from '../../policy/fleet.ts';
import { type BlockingNodes, blockingNodes } from '../../policy/pool-status/blocking-nodes.ts';
import type { GitSource } from '../../git/source-port.ts';
import { parseUnreadableNotes } from '../notes/recorded-unreadable-notes.ts';
import type { ReceiverState } from '../notifications/notifier.ts';
import type { PassResult } from '../pass-result.ts';
import type { Expiration } from './expirations.ts';
import { createInstruments, type Instruments } from './instruments.ts';
import { meterKube } from './meter-kube.ts';
import { readFollowing } from '../../policy/following/record.ts';
import { meterSource } from './meter-source.ts';
import { createLabelLimit, type Words } from './label-limit.ts';
import { clearPools, samplePools } from './pool-samples.ts';
import { committedAtOf, createRolloutTimes } from './rollout-times.ts';

interface MetricsOptions {
  readonly clock: Clock;
  /** Whether to measure this process as well: memory, CPU, the event loop. */
  readonly ofProcess: boolean;
  /** Until when what the reconciler was given is good; asked at every scrape. Default: nothing ends. */
  readonly expirations?: () => Promise<readonly Expiration[]>;
}

/** What can only be asked once there is a reconciler. */
interface MetricsView {
  readonly isLeader: () => boolean;
  readonly fleet: () => Fleet | null;
  /** Browsers that follow the status page. */
  readonly pageListeners: () => number;
  /** null for none. */
  readonly audit?: () => AuditSummary | null;
  /** Who is told; absent where nobody is. */
  readonly receivers?: () => readonly ReceiverState[];
}

/** Counts and measures what the reconciler does, and shows it in Prometheus' text format. */
export interface ReconcilerMetrics {
  readonly instruments: Instruments;
  meterKube(kube: Kube): Kube;
  meterSource(source: GitSource): GitSource;
  /** Hears of a pass that was made whole. */
  round(round: PassResult): void;
  /** Hears of a pass, whatever came of it. */
  passed(outcome: 'made' | 'broken-off', ms: number): void;
  happened(occurrences: readonly ClusterEvent[]): void;
  watch(view: MetricsView): void;
  readonly contentType: string;
  text(): Promise<string>;
}

export function createMetrics(options: MetricsOptions): ReconcilerMetrics {
  const { clock, ofProcess, expirations = () => Promise.resolve([]) } = options;
  const registry = new Registry();
  const instruments = createInstruments(registry);
  const rolloutTimes = createRolloutTimes();
  const words = createLabelLimit();
  let view: MetricsView | undefined;
  let allSuspended = false;
  let blocking: BlockingNodes = new Map();
  instruments.buildInfo.set({ version: VERSION }, 1);
  instruments.gitGoodAt.set(0);
  instruments.leader.set(0);
  if (ofProcess) collectDefaultMetrics({ register: registry });

  return {
    instruments,
    meterKube: (kube) => meterKube(kube, instruments, clock),
    meterSource: (source) => meterSource(source, instruments, clock),
    round(round) {
      allSuspended = round.desired.policy.suspend;
      blocking = blockingNodes(round.planned.nodes, round.planned.pools);
      countRound(round, instruments);
      for (const { pool, reached, seconds } of rolloutTimes(round)) {
        const into = reached === 'first' ? instruments.firstNodeSeconds : instruments.lastNodeSeconds;
        into.observe({ pool }, seconds);
      }
    },
    passed(outcome, ms) {
      instruments.passSeconds.observe({ outcome }, ms / 1000);
      if (outcome === 'made') instruments.passAt.set(clock.now() / 1000);
    },
    happened(occurrences) {
      for (const each of occurrences) countOccurrence(each, instruments, words);
    },
    watch(now) {
      view = now;
    },
    contentType: registry.contentType,
    async text() {
      const ends = await expirations();
      instruments.expiresAt.reset();
      for (const { purpose, at } of ends) instruments.expiresAt.set({ purpose }, at / 1000);
      const leads = view?.isLeader() === true;
      const fleet = view?.fleet() ?? null;
      instruments.leader.set(leads ? 1 : 0);
      instruments.pageListeners.set(view?.pageListeners() ?? 0);
      if (leads && fleet !== null) samplePools(fleet, instruments, clock.now(), allSuspended, blocking, words);
      else clearPools(instruments);
      showReceivers((leads ? view?.receivers?.() : null) ?? [], instruments);
      showAudit((leads ? view?.audit?.() : null) ?? null, instruments);
      return registry.metrics();
    },
  };
}

function countRound(
  { planned, desired, applied, source, tip, unreadable, lost = [] }: PassResult,
  into: Instruments,
): void {
  into.writesLeft.set(applied.left);
  for (const { step } of planned.steps) into.writes.inc({ step });
  into.commitRefused.set(source.refusedCommit === '' ? 0 : 1);
  if (tip !== null && tip.oid === source.commit) into.commitTakenUpAt.set((committedAtOf(tip) ?? 0) / 1000);
  showWorking(into.notesWorking, source.notes);
  showWorking(into.statusesWorking, source.statuses);
  const findings = [...desired.findings, ...[...desired.pools.values()].flatMap((pool) => pool.findings)];
  for (const severity of ['error', 'warning'] as const) {
    into.commitFindings.set({ severity }, findings.filter((each: Finding) => each.severity === severity).length);
  }
  for (const reason of ['conflict', 'opted-out', 'unsupported', 'unknown'] as const) {
    const nodes = planned.nodes.skipped.filter(({ choice }) => choice.choice === reason);
    into.nodesLeftAlone.set({ reason }, nodes.length);
  }
  for (const kind of ['node', 'pool', 'config-source'] as const) {
    into.unreadable.set({ kind }, unreadable.filter(({ of }) => of === kind).length);
  }
  into.unreadable.set({ kind: 'note' }, parseUnreadableNotes(source.unreadableNotes).length);
  into.followedSilentSince.reset();
  for (const { cluster, since } of readFollowing(source.following)?.silent ?? [])
    into.followedSilentSince.set({ cluster }, since / 1000);
  into.fieldsLost.reset();
  for (const { resource, field } of lost) into.fieldsLost.set({ resource, field }, 1);
}

function showReceivers(receivers: readonly ReceiverState[], into: Instruments): void {
  into.notificationsWaiting.reset();
  into.notificationsWorking.reset();
  for (const { name: receiver, waiting, failure } of receivers) {
    into.notificationsWaiting.set({ receiver }, waiting);
    into.notificationsWorking.set({ receiver }, failure === null ? 1 : 0);
  }
}

function showAudit(audit: AuditSummary | null, into: Instruments): void {
  into.auditFailed.reset();
  into.auditedAt.remove();
  if (audit === null) return;
  for (const { section, severity, checks } of audit.failed) into.auditFailed.set({ section, severity }, checks);
  into.auditedAt.set(Date.parse(audit.at) / 1000);
}

/** @param state `on`, or `off: ` and why */
function showWorking(gauge: Gauge, state: string): void {
  if (state === 'off: switched off') gauge.remove();
  else gauge.set(state === 'on' ? 1 : 0);
}

function countOccurrence({ about, reason, pool, cause = '' }: ClusterEvent, into: Instruments, words: Words): void {
  if (reason === 'ConfigFellBack') into.fallbacks.inc({ pool, reason: words(cause) });
  if (reason === 'ConfigRefused' && about.kind === 'Node') into.refusals.inc({ pool, reason: words(cause) });
  if (reason === 'ConfigApplied') into.promotions.inc({ pool });
}
