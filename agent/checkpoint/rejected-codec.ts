import type { NodeError, RejectedConfig } from '#shared/contract/api/kubelet-node.ts';
import { SHAPES } from '../assignment.ts';
import { MAX_REJECTED } from '../state.ts';
import { asRecord, damaged, inOurVersion, optionalText, parseJson, type Raw, textIn, wordIn } from './shape.ts';

const VERSION = 1;

/** What failed on this node, as `meta/rejected` holds it. */
export interface Failures {
  readonly rejected: readonly RejectedConfig[];
  readonly error: NodeError | null;
}

export const NO_FAILURES: Failures = { rejected: [], error: null };

/** @returns null where nothing ever failed: then there is no file */
export function encodeFailures({ rejected, error }: Failures): string | null {
  if (rejected.length === 0 && error === null) return null;
  return `${JSON.stringify({ version: VERSION, rejected, error }, null, 2)}\n`;
}

/** @throws CHECKPOINT_DAMAGED, CHECKPOINT_TOO_NEW */
export function decodeFailures(text: string): Failures {
  const { rejected, error } = inOurVersion(parseJson(text));
  if (!Array.isArray(rejected)) throw damaged('rejected is no list');
  return {
    rejected: rejected.slice(-MAX_REJECTED).map((entry) => rejectedIn(asRecord(entry, 'rejected'))),
    error: error === null ? null : errorIn(asRecord(error, 'error')),
  };
}

function rejectedIn(raw: Raw): RejectedConfig {
  return {
    name: textIn(raw, 'name'),
    sha256: textIn(raw, 'sha256', SHAPES.sha256),
    apply: wordIn(raw, 'apply', ['overlay', 'replace']),
    reason: textIn(raw, 'reason'),
    message: textIn(raw, 'message'),
    at: textIn(raw, 'at'),
  };
}

function errorIn(raw: Raw): NodeError {
  const config = optionalText(raw, 'config');
  const error = { reason: textIn(raw, 'reason'), message: textIn(raw, 'message'), at: textIn(raw, 'at') };
  return config === undefined ? error : { ...error, config };
}
