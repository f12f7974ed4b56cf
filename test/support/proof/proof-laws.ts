import assert from 'node:assert/strict';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { boundOf, millisOf, shareOf } from './arithmetic.ts';
import type { Machine } from './machine-history.ts';
import { classKey, isInRollout, type PoolRecord, type ProofLedger } from './proof-ledger.ts';
import {
  bytesFor,
  byClass,
  canariesOf,
  type Limit,
  lostOf,
  replacedIn,
  type Progress,
  progressOf,
  rolloutOf,
  sparedIn,
} from './proof-waves.ts';

/**
 * What one pass of the reconciler may never do, whatever happened before: by what it writes and what the machines have truly shown.
 *
 * @param before the fleet as the reconciler saw it, which the ledger has looked at
 * @throws AssertionError that names the law
 */
export function checkPass(ledger: ProofLedger, before: Fleet, steps: readonly Step[], now: Millis): void {
  const told = tellings(ledger, before, steps);
  for (const pool of ledger.pools.values()) {
    if (pool.isLost) ledger.remake(pool);
    const progress = progressOf(ledger, pool, now);
    const own = told.filter(({ by }) => by === pool.name);
    const current = own.filter(({ machine, bytes }) => bytes === bytesFor(pool, machine));
    checkWave(ledger, pool, progress, current);
    checkClasses(ledger, pool, current, now);
    checkOnTrial(ledger, pool, current, now);
    checkUnavailable(ledger, pool, told);
    const isTakenBack = before.pools.get(pool.name)?.status?.halt?.action === 'revert';
    for (const each of own) if (!current.includes(each)) checkFormer(pool, each, ledger, isTakenBack);
  }
}

/** A write that gives a node other bytes than it has; undefined is its own config. */
export interface Telling {
  readonly machine: Machine;
  readonly bytes: string | undefined;
  /** The pool that says so. */
  readonly by: string | undefined;
}

/** By what is written. A node goes back to what it proved last without a trial. */
function tellings(ledger: ProofLedger, before: Fleet, steps: readonly Step[]): readonly Telling[] {
  return steps.flatMap((step): readonly Telling[] => {
    if (step.step !== 'assign' && step.step !== 'unassign' && step.step !== 'amend') return [];
    const { name } = step.node.metadata;
    const machine = ledger.machines.get(before.nodes.get(name)?.uid ?? '');
    assert.ok(machine !== undefined, `${name} is told something, and is not there`);
    const bytes = step.spec.configSource?.sha256;
    const forNothing = bytes === machine.told || (bytes !== undefined && bytes === machine.proved);
    return forNothing ? [] : [{ machine, bytes, by: step.spec.pool ?? machine.toldBy }];
  });
}

/** Nobody is told a payload that is not proven for its class before as many as the waves before name have proven it. */
function checkWave(ledger: ProofLedger, pool: PoolRecord, { isDone, waves }: Progress, told: readonly Telling[]): void {
  if (isDone || pool.proven.has(pool.version.id)) return;
  const entering = told.filter(({ machine, bytes = '' }) => !ledger.hasProven(pool, machine.kind, bytes));
  if (entering.length === 0) return;
  for (const { machine } of entering) {
    assert.ok(isInRollout(pool, machine), `wave: ${machine.name} joined later, and the waves are not done`);
  }
  const isWithin = ({ of, most }: Limit): boolean => {
    const had = of.filter((each) => each.told === bytesFor(pool, each)).length;
    const begun = entering.filter(({ machine }) => of.includes(machine)).length;
    return begun === 0 || had + begun <= most;
  };
  const names = entering.map(({ machine }) => machine.name).join();
  // A record that was lost begins again with the first wave.
  const isAllowed = waves.some((limits) => limits.every(isWithin));
  assert.ok(isAllowed, `wave: ${names} of pool ${pool.name} are told, and ${pool.done} of its waves are done`);
}

/** A class begins with one node, or its canaries, and another for each that failed. */
function checkClasses(ledger: ProofLedger, pool: PoolRecord, told: readonly Telling[], now: Millis): void {
  const { rollout, isComputed } = pool.version;
  const cohort = rolloutOf(ledger, pool);
  const spared = sparedIn(ledger, pool);
  const members = ledger.membersOf(pool.name);
  const telling = new Set(told.map(({ machine }) => machine));
  const isTold = (each: Machine): boolean => telling.has(each) || each.told === bytesFor(pool, each);
  const perClass = rollout.canary?.perClass === true && isComputed;
  const canaries = canariesOf(pool, cohort);
  const lost = lostOf(pool, members, now);
  const replaced = (own: readonly Machine[]): number => {
    const many = own.filter((each) => lost.includes(each)).length;
    return (pool.released ? many : Math.min(spared, many)) + replacedIn(pool, own, spared, now).length;
  };
  const isWithinCanaries = !perClass && cohort.filter(isTold).length <= canaries + replaced(cohort);
  if (isWithinCanaries) return;
  for (const own of byClass(pool, members).values()) {
    const [first] = own;
    if (first === undefined || !own.some((each) => telling.has(each))) continue;
    if (ledger.everPromoted.has(classKey(pool, first.kind, bytesFor(pool, first)))) continue;
    const isFull = rollout.probation === 'full';
    const plain = isFull ? boundOf(rollout.maxUnavailable, ledger.groupOf(pool.name).length) : Math.max(1, canaries);
    const ofClass = perClass ? shareOf(rollout.canary?.nodes ?? 1, own.length) : 1;
    const most = (isComputed ? ofClass : plain) + replaced(own);
    const names = own.filter(isTold).map(({ name }) => name);
    assert.ok(
      names.length <= most,
      `exposure: ${names.join()} are told bytes that none of their class has promoted, and ${most} may be`,
    );
  }
}

/** How many run what they have not proven, over all classes. */
function checkOnTrial(ledger: ProofLedger, pool: PoolRecord, told: readonly Telling[], at: Millis): void {
  if (told.length === 0 || pool.proven.has(pool.version.id)) return;
  const { rollout } = pool.version;
  const { maxUnavailable, maxOnTrial, probation } = rollout;
  const group = ledger.groupOf(pool.name).length;
  const unavailable = boundOf(maxUnavailable, group);
  const isFull = probation === 'full';
  const widest = maxOnTrial === undefined ? Math.max(boundOf('20%', group), unavailable) : boundOf(maxOnTrial, group);
  const members = ledger.membersOf(pool.name);
  const telling = new Set(told.map(({ machine }) => machine));
  const soakMs = isFull ? 0 : millisOf(rollout.soak);
  // Who was told what another class gets has a place already.
  const payloads = new Set(members.map((each) => bytesFor(pool, each)));
  const isOnTrial = (each: Machine): boolean => {
    if (each.told === undefined || !payloads.has(each.told) || each.tookBack) return false;
    if (ledger.hasProven(pool, each.kind, each.told)) return false;
    return each.proved !== each.told || each.provedMs < soakMs;
  };
  const isTelling = (each: Machine): boolean =>
    telling.has(each) && !ledger.hasProven(pool, each.kind, bytesFor(pool, each));
  const had = members.filter(isOnTrial).length;
  const now = members.filter((each) => isOnTrial(each) || isTelling(each)).length;
  const dead = replacedIn(pool, members, sparedIn(ledger, pool), at).length;
  const most = isFull ? unavailable : Math.min(widest, shownBound(ledger, pool)) + dead;
  assert.ok(
    now <= Math.max(had, most),
    `on trial: ${now} nodes of pool ${pool.name} run what they have not proven, and ${most} may`,
  );
}

/** The canaries until they have promoted it; then each class twice as many as have lived with it. */
function shownBound(ledger: ProofLedger, pool: PoolRecord): number {
  const all = [...ledger.machines.values()].filter((each) => each.pool === pool.name);
  const members = all.filter(({ isThere }) => isThere);
  const canaries = Math.max(1, canariesOf(pool, members));
  if (!all.some((each) => each.promoted.has(bytesFor(pool, each)))) return canaries;
  const { canary } = pool.version.rollout;
  const perClass = canary?.perClass === true && pool.version.isComputed;
  let most = 0;
  for (const own of byClass(pool, all).values()) {
    const there = own.filter(({ isThere }) => isThere).length;
    const first = perClass ? shareOf(canary?.nodes ?? 1, there) : pool.version.isComputed ? 1 : canaries;
    const lived = own.filter(({ promoted, passed, kind }) => {
      const bytes = pool.version.bytes[kind] ?? '';
      return promoted.has(bytes) || passed.has(bytes);
    });
    most += Math.max(there === 0 ? 0 : first, 2 * lived.length);
  }
  return Math.max(canaries, most);
}

/** No turn makes more nodes unavailable than may be; who is new takes nobody's place. */
function checkUnavailable(ledger: ProofLedger, pool: PoolRecord, told: readonly Telling[]): void {
  const group = ledger.groupOf(pool.name);
  const isNew = ({ joined, promoted }: Machine): boolean => joined && promoted.size === 0;
  const turns = told.filter(
    ({ machine }) => group.includes(machine) && machine.ready && !machine.isChanging && !isNew(machine),
  );
  if (turns.length === 0) return;
  const { maxUnavailable, probation = '50s' } = pool.version.rollout;
  const probationMs = probation === 'full' ? Infinity : millisOf(probation);
  const busy = group.filter((each) => {
    if (isNew(each) || turns.some(({ machine }) => machine === each)) return false;
    return !each.ready || each.cordoned || (each.isChanging && each.triedMs < probationMs);
  });
  const most = boundOf(maxUnavailable, group.length);
  assert.ok(
    busy.length + turns.length <= most,
    `maxUnavailable: ${turns.length} begin in pool ${pool.name} beside ${busy.length}, and ${most} may`,
  );
}

/** Other bytes than those of the present version: only what the node has proven itself, or the pool for its class. */
function checkFormer(pool: PoolRecord, { machine, bytes }: Telling, ledger: ProofLedger, isTakenBack: boolean): void {
  if (bytes === undefined || machine.promoted.has(bytes)) return;
  if (isTakenBack && pool.claimed.has(classKey(pool, machine.kind, bytes))) return;
  assert.ok(
    ledger.hasProven(pool, machine.kind, bytes),
    `former: ${machine.name} is told bytes of before that pool ${pool.name} never proved for its class`,
  );
}

/** A rollout begins with the nodes that are there in its first pass that can be written down, and without a halt. */
export function beginRollouts(ledger: ProofLedger, before: Fleet, after: Fleet): void {
  for (const pool of ledger.pools.values()) {
    pool.isClaimed = false;
    const isHalted = after.pools.get(pool.name)?.status?.halt !== undefined;
    const members = ledger.membersOf(pool.name);
    if (pool.newest !== undefined || isHalted || !before.pools.has(pool.name) || members.length === 0) continue;
    pool.newest = Math.max(...members.map(({ createdAt }) => createdAt));
    pool.isLost = false;
  }
}
