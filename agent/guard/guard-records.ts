import { fromTimestamp } from '#shared/runtime/clock.ts';
import type { GuardCause, GuardSeen } from '../ports/guard.ts';

/**
 * Lines that the guard's script reads and writes over. They have their full length from the beginning, so that the guard
 * can count on a disk that is full.
 */
export const NO_STARTS = blank(61);
export const NO_BOOTS = blank(121);
export const NO_DOUBT = blank(47);
export const NO_NOTE = blank(45);

function blank(length: number): Buffer {
  return Buffer.from(`${'-'.padEnd(length)}\n`);
}

const ALIVE_LENGTH = 96;

/**
 * The agent's sign of life, by the age of the machine in this boot. Always as long, so that one is written over another.
 *
 * @param podUid of the agent's own pod; empty if unknown
 */
export const aliveLine = (bootId: string, uptimeSeconds: number, podUid = ''): Buffer =>
  Buffer.from(`${`${bootId} ${Math.floor(uptimeSeconds)} ${podUid}`.padEnd(ALIVE_LENGTH)}\n`);

/** Whether the guard has counted anything that it waits for the end of. */
export const isCounting = (bytes: Buffer | null): boolean => /^[^-\s]/.test(bytes?.toString('latin1', 0, 1) ?? '');

const CAUSES: readonly GuardCause[] = ['starts', 'silence', 'down', 'boots'];

type Note = Pick<Extract<GuardSeen, { readonly guard: 'fired' }>, 'cause' | 'starts' | 'restarted' | 'at'>;

/** What the guard says of why and how it took a trial back: cause, starts, whether the kubelet was started again, when. */
export function readGuardNote(bytes: Buffer | null): Note {
  const [line = ''] = bytes?.toString('utf8', 0, 1024).split('\n') ?? [];
  const [cause = '', starts = '', restarted = '', at = ''] = line.trim().split(/ +/);
  return {
    cause: CAUSES.find((known) => known === cause) ?? 'unknown',
    starts: /^\d{1,9}$/.test(starts) ? Number(starts) : 0,
    restarted: restarted === 'yes',
    at: fromTimestamp(at) === undefined ? undefined : at,
  };
}
