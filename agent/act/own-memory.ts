import { afterLook, type Memory, NO_MEMORY } from '../decide/memory.ts';
import type { Observation } from '../decide/observation.ts';
import type { State } from '../decide/state.ts';

/** The memory of this process as this folder writes it. Everything else takes it as `Memory`, which is readonly. */
export type OwnMemory = { -readonly [Part in keyof Memory]: Memory[Part] };

export const emptyMemory = (): OwnMemory => ({ ...NO_MEMORY });

/** Drops what a look has shown to be over. Call it after each decision, before its actions. */
export function forget(memory: OwnMemory, state: State, seen: Observation): void {
  Object.assign(memory, afterLook(memory, state, seen));
}
