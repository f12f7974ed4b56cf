import type { Finding } from '#shared/contract/finding.ts';
import type { ConfigVerdict } from '#shared/contract/kubelet-config/verdict.ts';

/** A file and all that was found in it. */
export interface ValidatedFile {
  /** As it was given, or from the root of the repository. */
  readonly path: string;
  /** By minor version; empty for files of our own kinds, which no kubelet reads. */
  readonly verdicts: Readonly<Record<string, ConfigVerdict>>;
  /** In the order of their places. */
  readonly findings: readonly Finding[];
}

/** What came of validating everything that was asked for. */
export interface Validation {
  readonly files: readonly ValidatedFile[];
  /** What was looked at, for people: `3 pools`, `12 files`. */
  readonly about: string;
  /** What is to be said of the question itself, a line or nothing. */
  readonly aside?: string;
}

export const findingsOf = ({ files }: Validation): readonly Finding[] => files.flatMap(({ findings }) => findings);

export const isError = ({ severity }: Finding): boolean => severity === 'error';

export function byPlace(a: Finding, b: Finding): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0) || a.code.localeCompare(b.code);
}
