import assert from 'node:assert/strict';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Machine } from './machine-history.ts';
import { classKey, type PoolRecord, type ProofLedger } from './proof-ledger.ts';
import { bytesFor } from './proof-waves.ts';

/** What the statuses of pools newly claim has to be so. @throws AssertionError that names the law */
export function checkClaims(ledger: ProofLedger, before: Pick<Fleet, 'pools'>, after: Fleet): void {
  for (const pool of ledger.pools.values()) {
    check(ledger, pool, before.pools.get(pool.name)?.status, after.pools.get(pool.name)?.status);
  }
}

function check(
  ledger: ProofLedger,
  pool: PoolRecord,
  before: KubeletPoolStatus | undefined,
  after: KubeletPoolStatus | undefined,
): void {
  if (after === undefined || after === before) return;
  const { rollout, phase, halt } = after;
  checkSettled(ledger, pool, before ?? {}, after);
  const isNew = before?.rollout?.sha256 !== rollout?.sha256 || before?.rollout?.finishedAt === undefined;
  if (rollout?.finishedAt !== undefined && isNew) {
    assert.ok(pool.proven.has(rollout.sha256), `settled: pool ${pool.name} says that all waves are done`);
  }
  if (phase === 'Settled') {
    assert.ok(pool.proven.has(pool.version.id), `settled: pool ${pool.name} says that it has`);
    for (const each of ledger.membersOf(pool.name)) {
      const isBeginning = each.joined && each.isChanging;
      assert.ok(isBeginning || each.proved === bytesFor(pool, each), `settled: ${each.name} has not proven it`);
    }
  }
  if (phase === 'Halted' && halt?.action === 'revert') checkBack(ledger, pool, after.message ?? '');
}

function checkSettled(
  ledger: ProofLedger,
  pool: PoolRecord,
  before: KubeletPoolStatus,
  { settled, proof }: KubeletPoolStatus,
): void {
  const { sha256 } = settled ?? { sha256: before.settled?.sha256 };
  if (sha256 !== undefined && before.settled?.sha256 !== sha256) {
    const isRemade = [...pool.remade].some((key) => key.endsWith(sha256));
    assert.ok(
      pool.proven.has(sha256) || isRemade,
      `settled: pool ${pool.name} names what did not come through its waves`,
    );
  }
  const had = new Set(provenOf(before.proof).map((each) => `${each.name} ${each.sha256}`));
  for (const each of provenOf(proof)) {
    if (each.name === '' || had.has(`${each.name} ${each.sha256}`)) continue;
    const kind = pool.version.kindOfName.get(each.name);
    assert.ok(kind !== undefined, `settled: there is no class ${each.name}`);
    assert.ok(
      ledger.everPromoted.has(classKey(pool, kind, each.sha256)),
      `settled: pool ${pool.name} names bytes that no node of class ${each.name} has promoted`,
    );
  }
}

/** What a record says that classes have proven, position by position. */
export const provenOf = (
  proof: KubeletPoolStatus['proof'],
): readonly { readonly name: string; readonly sha256: string }[] =>
  (proof?.classes ?? []).flatMap(({ name, proven }) => {
    const text = proof?.payloads[proven ?? -1];
    return text === undefined ? [] : [{ name, sha256: text.replace('replace:', '') }];
  });

/** The nodes that have what failed, where their class had something else before. */
function leftBehind(ledger: ProofLedger, pool: PoolRecord): readonly Machine[] {
  return ledger.membersOf(pool.name).filter((each) => isOnFailed(ledger, pool, each));
}

/** It was told the bytes that failed, or runs them, and the pool never proved these for its class. */
function isOnFailed(ledger: ProofLedger, pool: PoolRecord, each: Machine): boolean {
  const bytes = bytesFor(pool, each);
  const runsIt = ledger.isStrict && each.runs === bytes;
  if (each.told !== bytes && !runsIt) return false;
  return !ledger.hasProven(pool, each.kind, bytes);
}

/** What the pool proved for the class of a machine before its present version. */
function formerlyProven(ledger: ProofLedger, pool: PoolRecord, { kind }: Machine): readonly string[] {
  const versions = [...pool.proven.values()].filter(({ id }) => id !== pool.version.id);
  const remade = [...pool.remade].flatMap((key) => {
    const bytes = key.split(' ').at(-1) ?? '';
    return key === classKey(pool, kind, bytes) ? [bytes] : [];
  });
  return [...versions.map(({ bytes }) => bytes[kind] ?? ''), ...remade].filter((bytes) =>
    ledger.everPromoted.has(classKey(pool, kind, bytes)),
  );
}

/** Whether it says that all nodes are back, and how many it says stay. */
function readRevert(message: string): { readonly isAll: boolean; readonly kept: number } {
  const [, there, of] = /; (\d+) of (\d+) nodes are back/.exec(message) ?? [];
  const [, kept = '0'] = /; (\d+) without a config to go back to: /.exec(message) ?? [];
  return { isAll: there !== undefined && there === of, kept: Number(kept) };
}

function checkBack(ledger: ProofLedger, pool: PoolRecord, message: string): void {
  if (!readRevert(message).isAll) return;
  const left = leftBehind(ledger, pool).map(({ name }) => name);
  assert.deepEqual(left, [], `back: pool ${pool.name} says that all nodes are back`);
}

/** What a revert of a pool is held to. */
export type RevertLaw =
  /** Every machine whose class proved something before goes back. */
  | 'all'
  /** Every machine of a class that had proven what the pool proved last, all of it, and of which some node still has that. */
  | 'with a witness';

/**
 * After a revert has come to rest: who has what failed has nothing to go back to, and all of those are counted.
 *
 * @throws AssertionError that names the law
 */
export function checkReverted(ledger: ProofLedger, { pools }: Pick<Fleet, 'pools'>, law: RevertLaw): void {
  for (const pool of ledger.pools.values()) {
    const { halt, phase, message = '' } = pools.get(pool.name)?.status ?? {};
    if (phase !== 'Halted' || halt?.action !== 'revert' || halt.sha256 !== pool.version.id) continue;
    const left = leftBehind(ledger, pool);
    const wrong = left.filter((each) => canGoBack(ledger, pool, each, law)).map(({ name }) => name);
    assert.deepEqual(
      wrong,
      [],
      `reverted: they keep what failed in pool ${pool.name}, and have something to go back to`,
    );
    assert.equal(
      readRevert(message).kept,
      left.length,
      `reverted: who stays in pool ${pool.name} is counted: ${message}`,
    );
  }
}

function canGoBack(ledger: ProofLedger, pool: PoolRecord, each: Machine, law: RevertLaw): boolean {
  const former = formerlyProven(ledger, pool, each);
  if (law === 'all') return former.length > 0;
  const last = [...pool.proven.values()].findLast(({ id }) => id !== pool.version.id)?.bytes[each.kind];
  if (last === undefined || pool.remade.size > 0 || !former.includes(last)) return false;
  if (!pool.whole.has(classKey(pool, each.kind, last))) return false;
  return [...ledger.machines.values()].some(
    ({ isThere, told, proved }) => isThere && (told === last || proved === last),
  );
}
