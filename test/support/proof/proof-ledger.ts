import type { Fleet } from '#reconciler/policy/fleet.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { millisOf } from './arithmetic.ts';
import { type Kind, kindOf, type Version } from './machine-pools.ts';

const SILENT_MS = 15 * 60_000;
const HOUR = 60 * 60_000;
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

/** How the present version of a pool stands, by true history. */
export interface PoolRecord {
  readonly name: string;
  version: Version;
  /** Creation of the newest node of the rollout; undefined until it begins. */
  newest: Millis | undefined;
  /** How many of its waves are done, and let the next one begin. */
  done: number;
  /** How many of its waves nodes have ended, whether a person let the next one begin or not. */
  shown: number;
  /** Names of waves after which a person let this version go on. */
  readonly approved: Set<string>;
  /** Versions that came through all of their waves. */
  readonly proven: Map<string, Version>;
  /** By class, bytes of such a version that all nodes of the class ran and had promoted, at one moment. */
  readonly whole: Set<string>;
  /** What nodes had promoted, by class, when somebody lost the record: it may be made again from that. */
  readonly remade: Set<string>;
  /** Its record is lost, and nothing was written since. */
  isLost: boolean;
  /** A person let it go on after failures. */
  released: boolean;
}

/** True history: what every machine has shown, and what that proves. It reads nothing that the reconciler says about it. */
export class ProofLedger {
  readonly machines = new Map<string, Machine>();
  readonly pools = new Map<string, PoolRecord>();
  /** By class and bytes: a machine of the class promoted them. */
  readonly everPromoted = new Set<string>();
  /** And was healthy with them for the soak of its pool. */
  private readonly everSoaked = new Set<string>();
  /**
   * Then time with another config on trial is no soak of what the machine goes back to, a class has proven what a node of it soaked,
   * and who was told to go back and still runs what failed is not back.
   */
  readonly isStrict: boolean;

  constructor(isStrict: boolean) {
    this.isStrict = isStrict;
  }

  /** A commit brings this version. */
  begin(name: string, version: Version): void {
    const known = this.pools.get(name);
    if (known === undefined) {
      const about = { newest: undefined, done: 0, shown: 0, isLost: false, released: false };
      const sets = { whole: new Set<string>(), remade: new Set<string>(), approved: new Set<string>() };
      this.pools.set(name, { name, version, proven: new Map(), ...sets, ...about });
      return;
    }
    const isNew = known.version.id !== version.id;
    known.version = version;
    if (!isNew) return;
    known.approved.clear();
    Object.assign(known, { newest: undefined, done: 0, shown: 0, released: false });
  }

  /** The status of the pool is lost. */
  forget(name: string): void {
    const pool = this.pools.get(name);
    if (pool === undefined) return;
    pool.newest = undefined;
    pool.isLost = true;
    this.remake(pool);
  }

  /** A lost record may be made again from what nodes have promoted. */
  remake(pool: PoolRecord): void {
    for (const each of this.groupOf(pool.name)) {
      if (each.told !== undefined && each.told === each.proved) pool.remade.add(classKey(pool, each.kind, each.told));
    }
  }

  release(name: string): void {
    const pool = this.pools.get(name);
    if (pool !== undefined) pool.released = true;
  }

  /** What is there now; called after everything that happens, before time passes and after it. */
  look({ nodes, kubeletNodes }: Fleet, now: Millis): void {
    for (const each of this.machines.values()) if (nodes.get(each.name)?.uid !== each.uid) each.isThere = false;
    for (const view of nodes.values()) {
      const each = this.machines.get(view.uid) ?? unknown(view.uid, view.name, view.createdAt, now);
      this.machines.set(view.uid, each);
      each.pool = view.labels['pool'] ?? '';
      each.kind = kindOf(view);
      each.ready = view.ready;
      each.cordoned = view.cordoned;
      const found = kubeletNodes.get(view.name);
      const isOwn = found?.metadata.ownerReferences?.some(({ uid }) => uid === view.uid) === true;
      seeReport(each, isOwn ? found : undefined, now);
      serve(each, !this.isStrict, now);
      const pool = this.pools.get(each.pool);
      if (each.proved === undefined || pool === undefined) continue;
      const key = classKey(pool, each.kind, each.proved);
      this.everPromoted.add(key);
      if (hasServed(each, each.proved, millisOf(pool.version.rollout.soak))) this.everSoaked.add(key);
    }
  }

  /** The nodes of a pool that are there, by their labels. */
  membersOf(name: string): readonly Machine[] {
    return [...this.machines.values()].filter(({ pool, isThere }) => isThere && pool === name);
  }

  /** All whose changes the budget of the pool pays for: those that leave it for nobody as well. */
  groupOf(name: string): readonly Machine[] {
    return [...this.machines.values()].filter(
      ({ pool, isThere, toldBy }) => isThere && (pool === name || (!this.pools.has(pool) && toldBy === name)),
    );
  }

  /** Whether the pool has proven these bytes for a class of machines: by a version that came through its waves, or as it is made again. */
  hasProven(pool: PoolRecord, kind: Kind, bytes: string): boolean {
    const key = classKey(pool, kind, bytes);
    const isOfVersion = (version: Version): boolean => version.bytes[kind] === bytes;
    if (pool.remade.has(key)) return true;
    const shown = this.isStrict ? this.everSoaked : this.everPromoted;
    return shown.has(key) && [...pool.proven.values()].some(isOfVersion);
  }
}

/** Bytes, and the class that they are for; all machines of a pool without computed values are of one. */
export const classKey = ({ version }: PoolRecord, kind: Kind, bytes: string): string =>
  version.isComputed ? `${kind} ${bytes}` : bytes;

/** It was there when the rollout began. */
export const isInRollout = ({ newest }: PoolRecord, { createdAt }: Machine): boolean =>
  newest === undefined || createdAt <= newest;

/** It was unable to take part for an unbroken hour. */
export const isUnableForAnHour = ({ unableSince }: Machine, now: Millis): boolean =>
  unableSince !== undefined && now - unableSince >= HOUR;

/** It ran these bytes in health for so long, without a break. */
export const hasServed = ({ served, promoted }: Machine, bytes: string, ms: Millis): boolean =>
  promoted.has(bytes) && (served.get(bytes) ?? 0) >= ms;

function unknown(uid: string, name: string, createdAt: Millis, now: Millis): Machine {
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

function seeReport(each: Machine, node: KubeletNode | undefined, now: Millis): void {
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
function serve(each: Machine, countsTrials: boolean, now: Millis): void {
  const isHealthy =
    each.ready && each.proved !== undefined && (countsTrials || (each.rests && each.runs === each.proved));
  if (!isHealthy || each.proved === undefined) {
    each.serving = undefined;
    return;
  }
  if (each.serving?.bytes !== each.proved) each.serving = { bytes: each.proved, since: now };
  each.served.set(each.proved, Math.max(each.served.get(each.proved) ?? 0, now - each.serving.since));
}
