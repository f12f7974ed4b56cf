import { createCheckpointStore } from '#agent/checkpoint/checkpoint-store.ts';
import { rejectionOf, type State } from '#agent/decide/state.ts';
import { createMemoryDisk, type MemoryDisk } from '../../../support/agent/memory-disk.ts';
import { AT } from '../../../support/agent/states.ts';

export const DIRECTORY = '/state';
export const META = ['assigned', 'last-known-good', 'trial', 'rejected', 'order'] as const;

/** A disk with this state on it, and nothing else. */
export async function saved(state: State): Promise<MemoryDisk> {
  const disk = createMemoryDisk();
  await createCheckpointStore(disk, DIRECTORY, 'node-a').save(state);
  return disk;
}

/** What an agent makes of that disk when it starts. */
export const load = (disk: MemoryDisk) => createCheckpointStore(disk, DIRECTORY, 'node-a').load(AT);

/** What is on trial is assigned, unless something else was and has been refused since. */
export function reachable(state: State): State {
  const { doing, assigned } = state;
  const isRefused = assigned !== null && rejectionOf(state, assigned) !== undefined;
  return doing.phase === 'trial' && assigned !== null && !isRefused ? { ...state, assigned: doing.config } : state;
}
