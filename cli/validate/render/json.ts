import type { Finding } from '#shared/contract/finding.ts';
import type { Validation } from '../validation.ts';

/** For programs. Keys are added in later releases, never renamed. `path` of a finding is that of the field. */
export function asJson({ files }: Validation): string {
  const shown = files.map(({ path, verdicts, findings }) => ({ path, verdicts, findings: findings.map(shownFinding) }));
  return `${JSON.stringify({ files: shown }, null, 2)}\n`;
}

const shownFinding = ({ code, severity, message, suggestion, line, column, field, versions }: Finding) => ({
  code,
  severity,
  message,
  suggestion,
  line,
  column,
  path: field,
  versions,
});
