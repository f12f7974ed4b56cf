import { unknownActive } from '../decide/unknown-active.ts';
import type { State } from '../decide/state.ts';
import type { SeenFiles } from './managed-files.ts';

/**
 * Remembers the run of the kubelet that was seen over files which nobody can account for. When a person has put the node's
 * own config in their place, that run goes on with what it read: to the node, the files are not right before another run.
 */
export function createForeignRuns() {
  let foreign: string | null = null;
  return {
    update(state: State, run: string | null, seen: SeenFiles): SeenFiles {
      if (unknownActive(state, seen) !== undefined) foreign = run;
      const isOver = seen.files.files !== 'installed' || run === null || run !== foreign;
      return isOver || state.doing.phase !== 'idle' || state.lastKnownGood !== null
        ? seen
        : { ...seen, files: { files: 'differ', areOurs: true } };
    },
  };
}
