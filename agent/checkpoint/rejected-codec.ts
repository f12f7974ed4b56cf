import { writtenKeep } from '#shared/contract/api/config-identity.ts';
import type { NodeError, RefusedBase, RejectedConfig } from '#shared/contract/api/kubelet-node.ts';
import { CONFIG_SOURCE_PATTERNS } from '../decide/assignment/intent.ts';
import { MAX_REJECTED, sameConfig, type State, type Target, type Unproven } from '../decide/state.ts';
import { decodeTarget, encodeTarget } from './config-codec.ts';
import {
  amountIn,
  asRecord,
  checkStamp,
  damagedRecord,
  optionalText,
  parseRaw,
  type Raw,
  stampOf,
  textIn,
  textsIn,
  wordIn,
} from '../host/record-shape.ts';

/** What failed on this node, as `meta/rejected` holds it. */
export interface Failures {
  readonly rejected: readonly RejectedConfig[];
  readonly error: NodeError | null;
  readonly refusedBase: RefusedBase | null;
  /**
   * lastKnownGood once more, for a node that loses the record of its own: while what is assigned is rejected, nothing else
   * tells what the kubelet runs.
   */
  readonly insteadRuns: Target;
  readonly unproved?: Unproven;
}

/**
 * All of a state that the file has to say; null where there is no file, because nothing failed, and what is assigned is what
 * runs or what the node is in the middle of.
 */
export function failuresOf({
  assigned,
  lastKnownGood,
  doing,
  rejected,
  error,
  refusedBase,
  unproved,
}: State): Failures | null {
  const isPlain = doing.phase !== 'idle' || sameConfig(assigned, lastKnownGood);
  const hasNone = rejected.length === 0 && error === null && refusedBase === null && unproved === undefined;
  if (hasNone && isPlain) return null;
  return { rejected, error, refusedBase, insteadRuns: lastKnownGood, ...(unproved === undefined ? {} : { unproved }) };
}

/** @returns null for no file */
export function encodeFailures(failures: Failures | null, node: string): string | null {
  if (failures === null) return null;
  const { rejected, error, refusedBase, insteadRuns, unproved } = failures;
  const raw = {
    ...stampOf(node),
    rejected,
    error,
    ...(refusedBase === null ? {} : { refusedBase }),
    insteadRuns: encodeTarget(insteadRuns),
    ...(unproved === undefined ? {} : { unproved: { ...unproved, to: encodeTarget(unproved.to) } }),
  };
  return `${JSON.stringify(raw, null, 2)}\n`;
}

/** @throws CHECKPOINT_DAMAGED, STATE_UNREADABLE */
export function decodeFailures(text: string, node: string): Failures {
  const { rejected, error, refusedBase, insteadRuns, unproved } = checkStamp(parseRaw(text), node);
  if (!Array.isArray(rejected)) throw damagedRecord('rejected is not a list');
  return {
    rejected: rejected.slice(-MAX_REJECTED).map((entry) => rejectedIn(asRecord(entry, 'rejected'))),
    error: error === null ? null : errorIn(asRecord(error, 'error')),
    refusedBase: refusedBase === undefined ? null : refusedBaseIn(asRecord(refusedBase, 'refusedBase')),
    insteadRuns: decodeTarget(insteadRuns),
    ...(unproved === undefined ? {} : { unproved: unprovedIn(asRecord(unproved, 'unproved')) }),
  };
}

function rejectedIn(raw: Raw): RejectedConfig {
  return {
    name: textIn(raw, 'name'),
    sha256: textIn(raw, 'sha256', CONFIG_SOURCE_PATTERNS.sha256),
    apply: wordIn(raw, 'apply', ['overlay', 'replace']),
    ...writtenKeep({ keepFields: textsIn(raw, 'keepFields') }),
    reason: textIn(raw, 'reason'),
    message: textIn(raw, 'message'),
    at: textIn(raw, 'at'),
  };
}

const unprovedIn = (raw: Raw): Unproven => ({
  sha256: textIn(raw, 'sha256', CONFIG_SOURCE_PATTERNS.sha256),
  to: decodeTarget(raw['to']),
  bootId: textIn(raw, 'bootId'),
  absences: amountIn(raw, 'absences'),
});

const refusedBaseIn = (raw: Raw): RefusedBase => ({
  sha256: textIn(raw, 'sha256', CONFIG_SOURCE_PATTERNS.sha256),
  message: textIn(raw, 'message'),
  at: textIn(raw, 'at'),
});

function errorIn(raw: Raw): NodeError {
  const config = optionalText(raw, 'config');
  const error = { reason: textIn(raw, 'reason'), message: textIn(raw, 'message'), at: textIn(raw, 'at') };
  return config === undefined ? error : { ...error, config };
}
