import type { FileOwner } from '../../ports/disk.ts';
import { type StateRequirement, type ManagerState, parseState, managerPolicyOf } from './state-requirement.ts';
import { digestOf, type SavedStateFile, type StateFileTransition } from './saved-state-files.ts';

/** A state file as it is on disk. */
export interface StateFile {
  readonly bytes: Buffer;
  readonly owner: Required<FileOwner>;
}

/** One state file, between two configs. */
export interface StateFileMove {
  readonly found: StateFile | null;
  /** What was done to it since nothing was on trial. */
  readonly known: StateFileTransition | null;
  /** Of the config that the files on disk make now. */
  readonly presentBasis: string | undefined;
  readonly wanted: StateRequirement;
}

/** What is to be done to it, in this order. Nothing at all where a kubelet starts with what is there. */
export interface StateFileChange {
  /** No kubelet starts with it, so it goes; it is kept for people. */
  readonly damaged?: Buffer;
  /** To be remembered before anything is touched. */
  readonly known?: StateFileTransition;
  readonly put?: StateFile;
  readonly isRemoved: boolean;
}

const NOTHING: StateFileChange = { isRemoved: false };

/**
 * Decides what a state file has to become for a config. What does not fit is put aside, under the basis of the config that
 * it was written with; what was put aside earlier and fits comes back.
 *
 * A file that no kubelet can read (torn by a power failure, emptied) would end the next start with any config, and would be
 * taken for the fault of the one that is installed. It goes, too.
 */
export function changeFor(move: StateFileMove): StateFileChange {
  const { found, known, presentBasis, wanted } = move;
  if (!wanted.isRead) return NOTHING;
  const state = found === null ? undefined : parseState(found.bytes);
  const madeUnder = state === undefined ? undefined : writtenUnder(move, state);
  const isTold = known?.to === wanted.basis || presentBasis === wanted.basis;
  const transition = (left: Buffer | null, aside: readonly SavedStateFile[]): Pick<StateFileChange, 'known'> => {
    const from = known?.to === wanted.basis ? known.from : presentBasis;
    const next: StateFileTransition = { to: wanted.basis, from, left: digestOf(left), aside };
    return known !== null && isSame(known, next) ? {} : { known: next };
  };
  const aside = known?.aside ?? [];
  const own = aside.find(({ basis }) => basis === wanted.basis);
  const isBest = madeUnder === wanted.basis || own === undefined;
  if (found !== null && state !== undefined && isBest && wanted.accepts(state, madeUnder)) {
    // A kubelet that still runs with the config before may yet write into it what does not fit.
    return isTold ? NOTHING : { ...transition(found.bytes, aside), isRemoved: false };
  }
  const fitting = own ?? aside.find((one) => fits(one, wanted));
  const put = fitting === undefined ? {} : { put: { bytes: fitting.bytes, owner: fitting.owner } };
  if (found === null && fitting === undefined)
    return isTold ? NOTHING : { ...transition(null, aside), isRemoved: false };
  const displaced =
    found !== null && state !== undefined ? withAside(aside, { basis: madeUnder, ...found }, move) : aside;
  return {
    ...(found !== null && state === undefined ? { damaged: found.bytes } : {}),
    ...transition(fitting?.bytes ?? null, displaced),
    ...put,
    isRemoved: found !== null && fitting === undefined,
  };
}

/** Of the config that the file was written with; undefined where that cannot be said. */
function writtenUnder({ found, known, presentBasis, wanted }: StateFileMove, state: ManagerState): string | undefined {
  const isAgain = known?.to === wanted.basis;
  // It is the second time: what is as it was left was found good, or was put there for this config.
  if (isAgain && digestOf(found?.bytes ?? null) === known.left) return wanted.basis;
  // Otherwise it may still come from the kubelet that ran before; or from one that has the new config already.
  return [isAgain ? known.from : presentBasis, wanted.basis].find(
    (basis) => basis !== undefined && managerPolicyOf(basis) === state['policyName'],
  );
}

function fits({ bytes, basis }: SavedStateFile, wanted: StateRequirement): boolean {
  const state = parseState(bytes);
  return state !== undefined && wanted.accepts(state, basis);
}

/** One for each basis: the newest, but in a move that is repeated the first. */
function withAside(
  aside: readonly SavedStateFile[],
  one: SavedStateFile,
  { known, wanted }: StateFileMove,
): readonly SavedStateFile[] {
  const isThere = one.basis !== undefined && aside.some(({ basis }) => basis === one.basis);
  if (!isThere) return [...aside, one];
  if (known?.to === wanted.basis) return aside;
  return aside.map((other) => (other.basis === one.basis ? one : other));
}

const isSame = (one: StateFileTransition, other: StateFileTransition): boolean =>
  one.to === other.to && one.from === other.from && one.left === other.left && one.aside === other.aside;
