import { payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { identityText } from '#shared/contract/api/config-identity.ts';
import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { readProof } from '../proof/record.ts';

/** That the machines of one class, in one pool of one cluster, have proven a payload. */
export interface PayloadProof {
  readonly pool: string;
  /** '' in a pool that computes nothing. */
  readonly class: string;
  /** How it is applied and its SHA-256, see `identityText`. */
  readonly payload: string;
}

/** What a cluster has proven, as its notes ref says. */
export interface PayloadProofs {
  readonly proofs: readonly PayloadProof[];
  /** All of it is there: what is not in it was not proven. */
  readonly isWhole: boolean;
}

const SCHEMA = 'kubelet-gitops.dev/payloads/v1';
const MOST_PROOFS = 1_000;
/** A file that is larger is not read. */
export const MOST_PROOF_BYTES = 256 * 1024;

/** What the classes of these pools have proven last. */
export const provenIn = (pools: Iterable<readonly [string, KubeletPoolStatus | undefined]>): readonly PayloadProof[] =>
  [...pools].flatMap(([pool, status]) =>
    [...readProof(status).values()].flatMap(({ name, proven }) =>
      proven === null ? [] : [{ pool, class: name, payload: identityText(proven) }],
    ),
  );

export const proofKey = ({ pool, class: name, payload }: PayloadProof): string => [payload, pool, name].join('\n');

const MOST_HERE = 500;

/** A short name for a payload as it is applied. */
export const payloadId = (payload: string): string => payloadSha256(payload).slice(0, 32);

/** The same on a class, whatever the pool is called. */
export const proofId = (payload: string, name: string): string => payloadId(`${payload}\n${name}`);

/** What this cluster has proven itself, as short names, the newest last. */
export function provenHere(before: readonly string[], now: readonly PayloadProof[]): readonly string[] {
  const ids = new Set(now.map((proof) => proofId(proof.payload, proof.class)));
  return [...before.filter((id) => !ids.has(id)), ...ids].slice(-MOST_HERE);
}

/**
 * The file after these proofs: what was proven before stays, the newest last, as long as there is room.
 *
 * @param before the file as it is; null for none
 */
export function addProofs(cluster: string, before: string | null, now: readonly PayloadProof[]): string {
  const known = new Set(now.map(proofKey));
  const former = (readProofs(before, cluster)?.proofs ?? []).filter((proof) => !known.has(proofKey(proof)));
  let [from, upTo] = [Math.max(0, former.length + now.length - MOST_PROOFS), Math.min(now.length, MOST_PROOFS)];
  for (;;) {
    const kept = former.slice(from);
    const text = written(cluster, kept.length + now.length, [...kept, ...now.slice(0, upTo)]);
    if (new TextEncoder().encode(text).length <= MOST_PROOF_BYTES) return text;
    if (from < former.length) from = Math.min(former.length, from + 100);
    else upTo = Math.floor(upTo * 0.9);
  }
}

/** A line each, so that git stores what changes. */
function written(cluster: string, count: number, proofs: readonly PayloadProof[]): string {
  const lines = proofs.map((proof) => JSON.stringify(proof)).join(',\n');
  return `{"schema":${JSON.stringify(SCHEMA)},"cluster":${JSON.stringify(cluster)},"count":${count},"proofs":[\n${lines}\n]}\n`;
}

/** null for none, for that of another cluster, and for what is damaged. */
export function readProofs(text: string | null, cluster: string): PayloadProofs | null {
  try {
    const read: unknown = JSON.parse(text ?? '');
    if (!isMap(read) || read['schema'] !== SCHEMA || read['cluster'] !== cluster) return null;
    const { count, proofs: all } = read;
    if (!Array.isArray(all) || typeof count !== 'number') return null;
    const proofs = all.slice(0, MOST_PROOFS).flatMap(readOne);
    return { proofs, isWhole: proofs.length === count };
  } catch {
    return null;
  }
}

function readOne(value: unknown): readonly PayloadProof[] {
  if (!isMap(value)) return [];
  const { pool, class: name, payload } = value;
  const areTexts = typeof pool === 'string' && typeof name === 'string' && typeof payload === 'string';
  return areTexts ? [{ pool, class: name, payload }] : [];
}
