import { awaitedApprovals, isAwaited } from '#shared/contract/api/approval.ts';
import type { KubeletPoolStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { approvalLine } from '../rollout/pause.ts';

/** What of a pool waits for a person, and how it goes on, a clause each. */
export const awaitedLines = (pool: string, status: KubeletPoolStatus | undefined): readonly string[] =>
  awaitedApprovals(status).map((each) => approvalLine(pool, each));

/** `approved by ada at 2026-11-22T10:00:00Z`; undefined for a wave that nobody approved. */
export const approvedBy = ({ approvedAt, approvedBy: who }: WaveStatus): string | undefined =>
  approvedAt === undefined ? undefined : `approved${who === undefined ? '' : ` by ${who}`} at ${approvedAt}`;

/** How a wave stands, in a word or with what comes after it. */
export const waveWords = (wave: WaveStatus): string =>
  isAwaited(wave) ? `${wave.state} (waits for a person)` : wave.state;
