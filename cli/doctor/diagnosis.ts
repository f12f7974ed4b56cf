import { firstFew } from '#shared/runtime/first-few.ts';
import { type Code, CODES, type DiagnosisSeverity, RUNBOOKS } from './diagnosis-codes.ts';

/** Something that is wrong, and what to do about it. */
export interface Diagnosis {
  readonly code: Code;
  readonly severity: DiagnosisSeverity;
  /** What is wrong here: a sentence, with names. */
  readonly what: string;
  readonly why: string;
  readonly remedy: string;
  /** The page of its alert; absent where there is none. */
  readonly runbook?: string;
  /** Every object that it is about: names of pools, nodes, pods, CRDs. */
  readonly objects: readonly string[];
}

/** @param what what is wrong here, in a sentence; why that matters and how it is fixed follows from the code */
export function diagnosis(code: Code, what: string, objects: readonly string[] = []): Diagnosis {
  const { severity, why, remedy } = CODES[code];
  const runbook = RUNBOOKS[code];
  return { code, severity, what, why, remedy, ...(runbook === undefined ? {} : { runbook }), objects };
}

const MOST_NAMED = 5;

/** One diagnosis about all of them, or none where there are none. `what` goes behind the names. */
export function aboutAll(code: Code, kind: string, names: readonly string[], what: string): readonly Diagnosis[] {
  if (names.length === 0) return [];
  return [diagnosis(code, `${count(kind, names)}: ${what}`, names)];
}

/** `node a`, `3 nodes (a, b, c)`, `9 nodes (a, b, c, d, e and 4 more)`. */
export function count(kind: string, names: readonly string[]): string {
  const [only = ''] = names;
  if (names.length === 1) return `${kind} ${only}`;
  return `${names.length} ${kind}s (${firstFew(names, MOST_NAMED)})`;
}
