import type { KubeletPoolStatus, WaveStatus } from './kubelet-pool.ts';

/**
 * What a person lets go on: the payload of a pool after one of its waves or, without a wave, a payload as a whole that is not in force yet.
 * It is bound to the wait as well: the same payload, committed again, asks again.
 */
export interface Approval {
  /** Hex SHA-256 of the payload; of a pool with computed values, of its template. */
  readonly sha256: string;
  /** Since when it waits, as the pool's status says, RFC 3339. */
  readonly since: string;
  /** `canary`, `step 1`, …: the wave that was done when it began to wait. */
  readonly wave?: string;
}

/** What the annotation `kubelet-gitops.dev/approve` says: `<sha256>@<since>`, and the wave after a space. */
export const approvalValue = ({ sha256, since, wave }: Approval): string =>
  `${sha256}@${since}${wave === undefined ? '' : ` ${wave}`}`;

/** Reads the annotation; undefined for none, and for what is no approval. */
export function readApproval(value: string | undefined): Approval | undefined {
  const [, sha256 = '', since = '', wave] = FORM.exec(value ?? '') ?? [];
  if (sha256 === '') return undefined;
  return { sha256, since, ...(wave === undefined ? {} : { wave }) };
}

const FORM = /^([0-9a-f]{64})@(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?: ([a-z0-9 ]{1,64}))?$/;

/** What waits for a person in a pool, and the config that people know it by. */
export interface AwaitedApproval extends Approval {
  readonly configName: string;
}

/** A person was asked after this wave, and has not approved yet. */
export const isAwaited = ({ pausedAt, approvedAt }: WaveStatus): boolean =>
  (pausedAt ?? null) !== null && (approvedAt ?? null) === null;

/** Everything of a pool that waits for a person now, as its status says. */
export const awaitedApprovals = (status: KubeletPoolStatus = {}): readonly AwaitedApproval[] => [
  ...pausedWaves(status),
  ...(status.awaits ? [status.awaits] : []),
];

function pausedWaves({ halt, rollout }: KubeletPoolStatus): readonly AwaitedApproval[] {
  if ((halt ?? null) !== null || rollout === undefined || (rollout.finishedAt ?? null) !== null) return [];
  const { configName, sha256 } = rollout;
  return rollout.waves
    .filter(isAwaited)
    .map(({ name, pausedAt: since = '' }) => ({ configName, sha256, since, wave: name }));
}
