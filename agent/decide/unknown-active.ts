import type { Files, Observation } from './observation.ts';
import { activeOf, type State } from './state.ts';

/** Why nobody can say what the kubelet of a node runs that is at rest, and what a person has to do. */
interface UnknownActive {
  readonly message: string;
  /** The node does not get out of it by itself. */
  readonly needsPerson: boolean;
}

/** Files of ours, on a node whose state says local: the state was lost, is too old, or another node's. */
export const hasForeignFiles = ({ files }: { readonly files: Files }): boolean =>
  files.files === 'differ' && files.areOurs === true;

/**
 * A state that says local may only say that nothing is left of the state. So it is believed where the node's own config is
 * seen to be in its place, and there is nothing of ours; undefined then, and while something is being changed.
 */
export function unknownActive(state: State, { files }: Pick<Observation, 'files'>): UnknownActive | undefined {
  if (state.doing.phase === 'trial' || state.doing.phase === 'falling-back' || activeOf(state) !== null)
    return undefined;
  if (files.files === 'blocked' && files.mayPass !== true) return { message: files.message, needsPerson: true };
  if (files.files !== 'differ' || files.areOurs !== true) return undefined;
  const place = files.path ?? 'the kubelet';
  return {
    message: `${place} has a config of this agent, and the agent's state, which knows of none, was lost or is not of this node`,
    needsPerson: false,
  };
}
