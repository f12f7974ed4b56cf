import { reasonOf } from './errors.ts';

/** More are of no use to anybody: their words change with every try. */
const MOST_REASONS = 8;

/** What a fault that goes on was told for: the first reason may long be another one when a person reads of it. */
export interface OngoingFaultReasons {
  /** Whether this reason is to be told. */
  isNew(error: unknown): boolean;
  /** The fault is over. @returns whether there was one */
  over(): boolean;
}

export function createOngoingFaultReasons(): OngoingFaultReasons {
  const told = new Set<string>();
  return {
    isNew(error) {
      const reason = reasonOf(error);
      if (told.has(reason) || told.size === MOST_REASONS) return false;
      told.add(reason);
      return true;
    },
    over() {
      const was = told.size > 0;
      told.clear();
      return was;
    },
  };
}
