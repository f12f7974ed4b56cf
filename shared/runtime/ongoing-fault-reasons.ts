import { reasonOf } from './errors.ts';

/** More are of no use to anybody: their words change with every try. */
const MOST_REASONS = 8;

/** The reported reasons of a fault that goes on: it may long have another reason when a person reads of it. */
interface OngoingFaultReasons {
  /** Whether this reason is to be reported. */
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
