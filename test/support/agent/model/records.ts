import { isDeepStrictEqual } from 'node:util';
import { failuresOf } from '#agent/checkpoint/rejected-codec.ts';
import { writeOrder, type RecordName } from '#agent/checkpoint/write-order.ts';
import { type RecordFound, type Records, restoreState } from '#agent/checkpoint/restore.ts';
import { INITIAL_STATE, type State } from '#agent/decide/state.ts';

/** The agent's memory on disk, file by file, in the agent's own order and read by the agent's own rules. */
export interface ModelRecords {
  load(at: string): State;
  /**
   * Writes what differs.
   *
   * @param mayWrite asked before each file that differs; the first `false` ends it
   * @returns how many files were written, and whether that is all
   */
  save(state: State, mayWrite: (written: number) => boolean): { readonly written: number; readonly isWhole: boolean };
  /** @returns whether there is such a file */
  damage(name: RecordName): boolean;
  readonly isDamaged: () => boolean;
  /** Nothing is left. */
  forget(): void;
  readonly isEmpty: () => boolean;
  /** What is on disk is what was said to be saved last. */
  readonly saved: () => State | null;
}

type Value = unknown;

export function createModelRecords(): ModelRecords {
  const files = new Map<RecordName, Value>();
  const damaged = new Set<RecordName>();
  let saved: State | null = INITIAL_STATE;

  const valueNow = (name: RecordName): Value => (files.has(name) ? files.get(name) : valueOf(name, INITIAL_STATE));
  const found = (name: RecordName): RecordFound<never> =>
    damaged.has(name) ? { damaged: `${name} is torn` } : { found: valueNow(name) as never };
  return {
    load(at) {
      const records: Records = {
        assigned: found('assigned'),
        lastKnownGood: found('last-known-good'),
        doing: found('trial'),
        failures: found('rejected'),
        obeyed: found('order'),
      };
      return restoreState(records, at);
    },
    save(state, mayWrite) {
      let written = 0;
      for (const name of writeOrder(state)) {
        const value = valueOf(name, state);
        if (!damaged.has(name) && isDeepStrictEqual(valueNow(name), value)) continue;
        if (!mayWrite(written)) {
          saved = null;
          return { written, isWhole: false };
        }
        files.set(name, value);
        damaged.delete(name);
        written += 1;
      }
      saved = state;
      return { written, isWhole: true };
    },
    damage(name) {
      const isThere = !isDeepStrictEqual(valueNow(name), valueOf(name, INITIAL_STATE));
      if (isThere) damaged.add(name);
      return isThere;
    },
    isDamaged: () => damaged.size > 0,
    forget() {
      files.clear();
      damaged.clear();
      saved = INITIAL_STATE;
    },
    isEmpty: () => files.size === 0,
    saved: () => saved,
  };
}

function valueOf(name: RecordName, state: State): Value {
  const { assigned, lastKnownGood, promotedAt, doing } = state;
  switch (name) {
    case 'assigned':
      return { target: assigned, promotedAt: null };
    case 'last-known-good':
      return { target: lastKnownGood, promotedAt };
    case 'trial':
      return doing.phase === 'idle' ? null : doing;
    case 'rejected':
      return failuresOf(state);
    case 'order':
      return state.obeyed;
  }
}
