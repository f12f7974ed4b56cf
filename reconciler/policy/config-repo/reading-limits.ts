import { type Finding, hasErrors } from '#shared/contract/finding.ts';

/** Bytes of a commit that are read as configuration, each file once. Files that no pool names do not count. */
export interface ReadingLimits {
  /** The cluster's file, and the `pool.yaml` of all pools. */
  readonly poolFiles: number;
  /** Every file that is a layer. */
  readonly layers: number;
  /** The configs of all pools, merged: one layer may be in a thousand of them. */
  readonly payloads: number;
}

const MIB = 1024 * 1024;

export const READING_LIMITS: ReadingLimits = { poolFiles: 1 * MIB, layers: 4 * MIB, payloads: 4 * MIB };

const NAMES: Readonly<Record<keyof ReadingLimits, string>> = {
  poolFiles: "the cluster's file and the pool.yaml of all pools",
  layers: 'the layers of all pools',
  payloads: 'the merged configs of all pools',
};

/** Ends the reading of a commit; the message is a clause. */
export class CommitTooLargeError extends Error {}

/** Counts what is read of one commit. */
export interface ReadingBudget {
  /**
   * @param path counts once
   * @throws CommitTooLargeError
   */
  spend(of: keyof ReadingLimits, path: string, bytes: number): void;
}

export function readingBudget(limits: ReadingLimits): ReadingBudget {
  const counted = new Set<string>();
  const left = { ...limits };
  return {
    spend(of, path, bytes) {
      if (counted.has(path)) return;
      counted.add(path);
      left[of] -= bytes;
      if (left[of] >= 0) return;
      const message = `${NAMES[of]} have more than ${limits[of] / 1024} KiB together, and no more are read`;
      throw new CommitTooLargeError(message);
    },
  };
}

/** The most findings of one pool. Fix these, and the rest is shown next. */
const MOST_FINDINGS = 100;
/** A message may quote a file. No more than this is ever shown. */
const LONGEST_TEXT = 1_500;

/** The first findings of a pool; an error is among them if there is any. */
export function firstFindings(findings: readonly Finding[], file: string): readonly Finding[] {
  if (findings.length <= MOST_FINDINGS) return findings.map(shortened);
  const first = findings.slice(0, MOST_FINDINGS);
  const error = hasErrors(first) ? undefined : findings.find(({ severity }) => severity === 'error');
  const message = `there are ${findings.length - first.length} more findings: fix these first`;
  const more: Finding = { code: 'more-findings', severity: 'warning', message, file };
  return [...first, ...(error === undefined ? [] : [error]), more].map(shortened);
}

function shortened(finding: Finding): Finding {
  const { message, suggestion = '', field = '' } = finding;
  if (Math.max(message.length, suggestion.length, field.length) <= LONGEST_TEXT) return finding;
  const cut = (text: string): string => text.slice(0, LONGEST_TEXT).toWellFormed();
  return {
    ...finding,
    message: cut(message),
    ...(suggestion === '' ? {} : { suggestion: cut(suggestion) }),
    ...(field === '' ? {} : { field: cut(field) }),
  };
}
