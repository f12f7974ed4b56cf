import { formatPath, type Path, type PositionOf } from '#shared/contract/kubelet-config/position.ts';
import { didYouMean, sameButCase } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { isMap } from '#shared/contract/kubelet-config/written-fields.ts';
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

/** @param positionOf where a path of the file stands in it */
export function fileReport(file: string, positionOf: PositionOf): FileReport {
  const findings: Finding[] = [];
  const add = (about: Pick<Finding, 'code' | 'severity' | 'kind' | 'message'>, path: Path, advice?: string): void => {
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

/** A map of which the keys are known, or undefined; unknown keys and other types are reported. Null counts as absent. */
export function readMap<Key extends string>(
  value: unknown,
  path: Path,
  keys: readonly Key[],
  report: FileReport,
): Readonly<Partial<Record<Key, unknown>>> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isMap(value)) {
    report.error('wrong-type', path, `${placeName(path)} has to be a map`);
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if ((keys as readonly string[]).includes(key)) continue;
    const otherCase = sameButCase(key, keys);
    const meant = otherCase ?? didYouMean(key, keys);
    const suggestion = meant === undefined ? `known are ${keys.join(', ')}` : `did you mean ${meant}?`;
    const code = otherCase === undefined ? 'unknown-field' : 'wrong-case';
    report.error(code, [...path, key], `${formatPath([...path, key])} is not a field`, suggestion);
  }
  const known = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(known) as Partial<Record<Key, unknown>>;
}

/** `apiVersion`, `kind` and `metadata.name`, which every file of ours has or may have. */
export function checkHeader(
  document: Readonly<Partial<Record<'apiVersion' | 'kind' | 'metadata', unknown>>>,
  expected: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  report: FileReport,
): void {
  for (const key of ['apiVersion', 'kind'] as const) {
    if (document[key] === expected[key]) continue;
    const found = document[key] === undefined ? 'is missing' : `is ${JSON.stringify(document[key])}`;
    report.error('wrong-kind', [key], `${key} ${found}`, `write ${key}: ${expected[key]}`);
  }
  const metadata = readMap(document.metadata, ['metadata'], ['name'], report);
  const name = metadata?.name;
  if (name === undefined || name === expected.name) return;
  const message = `metadata.name is ${JSON.stringify(name)}, and the path of the file says ${expected.name}`;
  report.error('wrong-name', ['metadata', 'name'], message, `write ${expected.name}, or leave it out`);
}

export const placeName = (path: Path): string => (path.length === 0 ? 'the file' : formatPath(path));
