import { formatPath, type Path, type PositionOf } from '#shared/contract/kubelet-config/position.ts';
import type { Finding } from '#shared/contract/finding.ts';

/** Collects what is wrong with one file of ours. */
export interface FileReport {
  readonly findings: Finding[];
  error(code: string, path: Path, message: string, suggestion?: string): void;
  /** Something that keeps nothing from being used, and that hardly anybody means. */
  doubt(path: Path, message: string, suggestion?: string): void;
  /** A finding that does not keep the file from being used: what an attacker who may commit gains. */
  security(code: string, path: Path, message: string, suggestion?: string): void;
}

/** Whoever has so many to fix looks again afterwards. */
const MOST_FINDINGS = 100;

/** @param positionOf where a path of the file stands in it */
export function fileReport(file: string, positionOf: PositionOf): FileReport {
  const findings: Finding[] = [];
  const add = (about: Pick<Finding, 'code' | 'severity' | 'kind' | 'message'>, path: Path, advice?: string): void => {
    if (findings.length >= MOST_FINDINGS) return;
    const field = path.length === 0 ? {} : { field: formatPath(path) };
    const extra = advice === undefined ? {} : { suggestion: advice };
    findings.push({ ...about, ...extra, file, ...positionOf(path), ...field });
  };
  return {
    findings,
    error: (code, path, message, suggestion) => add({ code, severity: 'error', message }, path, suggestion),
    doubt: (path, message, suggestion) =>
      add({ code: 'doubtful-value', severity: 'warning', message }, path, suggestion),
    security: (code, path, message, suggestion) =>
      add({ code, severity: 'warning', kind: 'security', message }, path, suggestion),
  };
}

/** `metadata.name`, which may be left out: the path of the file says it. */
export function checkName(
  file: { readonly metadata?: { readonly name?: unknown } },
  expected: string,
  report: FileReport,
): void {
  const name = file.metadata?.name;
  if (name === undefined || name === expected) return;
  const message = `metadata.name is ${JSON.stringify(name)}, and the path of the file says ${expected}`;
  report.error('wrong-name', ['metadata', 'name'], message, `write ${expected}, or leave it out`);
}

export const placeName = (path: Path): string => (path.length === 0 ? 'the file' : formatPath(path));
