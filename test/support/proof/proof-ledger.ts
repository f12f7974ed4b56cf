import type { Fleet } from '#reconciler/policy/fleet.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { millisOf } from './arithmetic.ts';
import { type Machine, newMachine, seeReport, serve } from './machine-history.ts';
import { type Kind, kindOf, type Version } from './machine-pools.ts';

const HOUR = 60 * 60_000;

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
  /**
   * Somebody wrote that all of its waves are done, and a new leader finds that in this pass. Whether its nodes were Ready for all of their
   * soak, who could not take part at its end, and what a person approved, nobody can know any more: what counts is who promoted it that
   * long ago, that these are more than half of all, and more than waves with a pause name.
   */
  isClaimed: boolean;
  /** By class, bytes of which somebody wrote that the class has proven them, as a new leader found it: a revert may go back to them. */
  readonly claimed: Set<string>;
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
      const about = { newest: undefined, done: 0, shown: 0, isLost: false, released: false, isClaimed: false };
      const sets = {
        whole: new Set<string>(),
        remade: new Set<string>(),
        approved: new Set<string>(),
        claimed: new Set<string>(),
      };
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

  /**
   * Somebody wrote that classes of the pool have proven these, and a new leader finds it. Whether all waves of that came to their end
   * nobody can know any more: what counts is that a node of the class has it behind it. Where none has, only a revert goes back to it,
   * as the recorded commit renders it.
   */
  claim(pool: PoolRecord, proven: readonly string[]): void {
    for (const key of proven) pool.claimed.add(key);
    const soakMs = millisOf(pool.version.rollout.soak);
    for (const { kind, proved, provedMs } of this.membersOf(pool.name)) {
      const key = classKey(pool, kind, proved ?? '');
      if (provedMs >= soakMs && pool.claimed.has(key)) pool.remade.add(key);
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
      const each = this.machines.get(view.uid) ?? newMachine(view.uid, view.name, view.createdAt, now);
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
