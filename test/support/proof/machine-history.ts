import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { Kind } from './machine-pools.ts';

const SILENT_MS = 15 * 60_000;
/** Of those in these worlds. */
const LEAST_PROBATION_MS = 50_000;

/** What a machine has truly shown, by what its agent reported and by the world's own clock. */
export interface Machine {
  readonly uid: string;
  readonly name: string;
  readonly createdAt: Millis;
  /** It joined after everything began. */
  readonly joined: boolean;
  isThere: boolean;
  /** By its label. */
  pool: string;
  kind: Kind;
  ready: boolean;
  cordoned: boolean;
  /** SHA-256 of what it was told; undefined for its own config. */
  told: string | undefined;
  /** Of which pool. */
  toldBy: string | undefined;
  runs: string | undefined;
  proved: string | undefined;
  /** For how long that is what it proved last. */
  provedMs: Millis;
  provedSince: Millis;
  /** Its agent has yet to hear, or is in the middle of a change. */
  isChanging: boolean;
  /** It is in no change, by its agent. */
  rests: boolean;
  /** For how long it has been healthy without a break with what it tries. */
  triedMs: Millis;
  /** It took back what it was told. */
  tookBack: boolean;
  /** Bytes that it ever promoted, ever took back, and was ever past its probation with. */
  readonly promoted: Set<string>;
  readonly rejected: Set<string>;
  readonly passed: Set<string>;
  /** By bytes, the longest time for which it ran them in health, Ready and promoted, without a break. */
  readonly served: Map<string, Millis>;
  serving: { readonly bytes: string; readonly since: Millis } | undefined;
  /** Since when it could take part in nothing, without a break. */
  unableSince: Millis | undefined;
  /** Since when it is not Ready, or its agent says nothing. */
  deadSince: Millis | undefined;
}

/** One that has shown nothing. */
export function newMachine(uid: string, name: string, createdAt: Millis, now: Millis): Machine {
  return {
    uid,
    name,
    createdAt,
    joined: createdAt === now,
    isThere: true,
    pool: '',
    kind: 0,
    ready: true,
    cordoned: false,
    told: undefined,
    toldBy: undefined,
    runs: undefined,
    proved: undefined,
    provedMs: 0,
    provedSince: now,
    isChanging: false,
    rests: true,
    triedMs: 0,
    tookBack: false,
    promoted: new Set(),
    rejected: new Set(),
    passed: new Set(),
    served: new Map(),
    serving: undefined,
    unableSince: undefined,
    deadSince: undefined,
  };
}

/** What its agent says of it. */
export function seeReport(each: Machine, node: KubeletNode | undefined, now: Millis): void {
  const { spec, status = {}, metadata } = node ?? {};
  const { phase, active, lastKnownGood, rejected = [], trial } = status;
  each.told = spec?.configSource?.sha256;
  each.toldBy = spec?.pool;
  each.runs = active?.sha256;
  if (each.proved !== lastKnownGood?.sha256) each.provedSince = now;
  each.proved = lastKnownGood?.sha256;
  each.provedMs = now - each.provedSince;
  const isUnheard = (status.observedGeneration ?? 0) < (metadata?.generation ?? 0);
  each.isChanging = spec !== undefined && (isUnheard || phase === 'Trial' || phase === 'FallingBack');
  each.rests = phase === 'Idle';
  each.triedMs = phase === 'Trial' ? (trial?.healthySeconds ?? 0) * 1_000 : 0;
  if (each.triedMs >= LEAST_PROBATION_MS && each.runs !== undefined) each.passed.add(each.runs);
  // An agent that hears of the same bytes again keeps to its rejection.
  each.tookBack = status.assigned?.sha256 === each.told && rejected.some(({ sha256 }) => sha256 === each.told);
  if (each.proved !== undefined) each.promoted.add(each.proved);
  for (const { sha256 } of rejected) each.rejected.add(sha256);

  const beat = fromTimestamp(status.heartbeat) ?? now;
  const isSilent = now - beat > SILENT_MS;
  const isUnable = isSilent || !each.ready || each.cordoned;
  if (!isUnable) each.unableSince = undefined;
  else each.unableSince ??= isSilent ? beat + SILENT_MS : now;
  if (each.ready && !isSilent) each.deadSince = undefined;
  else each.deadSince ??= isSilent ? beat : now;
}

/** For how long it has run what it promoted, Ready all the time. */
export function serve(each: Machine, countsTrials: boolean, now: Millis): void {
  const isHealthy =
    each.ready && each.proved !== undefined && (countsTrials || (each.rests && each.runs === each.proved));
  if (!isHealthy || each.proved === undefined) {
    each.serving = undefined;
    return;
  }
  if (each.serving?.bytes !== each.proved) each.serving = { bytes: each.proved, since: now };
  each.served.set(each.proved, Math.max(each.served.get(each.proved) ?? 0, now - each.serving.since));
}
