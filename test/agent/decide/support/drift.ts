import type { Observation, Rechecked } from '#agent/decide/observation.ts';
import type { Config } from '#agent/decide/state.ts';
import { A, seen } from '../../../support/agent/states.ts';

export const AT_REST = 'idle: A';

/** What the check before this look came to. */
export const checked = (
  remedy: Rechecked['remedy'],
  parts: Partial<Rechecked> = {},
): Pick<Observation, 'rechecked'> => ({
  rechecked: { config: A, remedy, result: { outcome: 'ready', warnings: [] }, isNew: true, retryInMs: 2_000, ...parts },
});
const FAILURE = { reason: 'ConfigInvalid', message: 'no such field' } as const;
export const refused: Partial<Rechecked> = { result: { outcome: 'refused', failure: FAILURE } };
export const unavailable: Partial<Rechecked> = { result: { outcome: 'unavailable', failure: FAILURE } };
export const putBack = (...ages: readonly number[]): Partial<Observation> => ({ repairAges: ages });
export const OLD = 'a'.repeat(64);
export const NEW = 'b'.repeat(64);
export const base = (changes: boolean): Partial<Observation> => ({
  base: { under: OLD, newer: { sha256: NEW, changes } },
});
export const newBase = base(true);
export const overLost = (lost: 'kept' | 'gone', changes = true): Partial<Observation> => ({
  base: { under: NEW, newer: { sha256: NEW, changes, lost } },
});
export const stale: Partial<Observation> = { startedAsInstalled: false };
export const granted = (turn = seen().fingerprint): Partial<Observation> => ({
  intent: { intent: 'config', config: A, turn },
});
/** What the check before this look came to, of A over the new base. */
export const checkedOver = (parts: Partial<Rechecked> = {}): Pick<Observation, 'rechecked'> =>
  checked('try-over', { config: { ...A, base: NEW }, ...parts });
export const REPORTED: Config = { ...A, drift: 'report' };
