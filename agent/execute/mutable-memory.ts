import { memoryAfterLook, type ProcessMemory, EMPTY_MEMORY } from '../decide/process-memory.ts';
import type { Observation } from '../decide/observation.ts';
import type { State } from '../decide/state.ts';

/** The memory of this process as this folder writes it. Everything else takes it as `Memory`, which is readonly. */
export type MutableMemory = { -readonly [Part in keyof ProcessMemory]: ProcessMemory[Part] };

export const emptyMemory = (): MutableMemory => ({ ...EMPTY_MEMORY });

/** Drops what a look has shown to be over. Call it after each decision, before its actions. */
export function dropOutdated(memory: MutableMemory, state: State, seen: Observation): void {
  Object.assign(memory, memoryAfterLook(memory, state, seen));
}
