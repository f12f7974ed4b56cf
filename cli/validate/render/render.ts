import type { Io } from '../../io.ts';
import { paintFor, type Paint } from '../../paint.ts';
import { wrapFor } from '../../wrap.ts';
import { asGithub, asGitlab } from './forge-annotations.ts';
import { asJunit } from './junit.ts';
import { asSarif } from './sarif.ts';
import { type Validation, findingsOf } from '../validation.ts';
import { formatFinding, type Finding } from '#shared/contract/finding.ts';

export const VALIDATION_FORMATS = ['text', 'json', 'github', 'gitlab', 'sarif', 'junit'] as const;

type ValidationFormat = (typeof VALIDATION_FORMATS)[number];

export function renderValidation(validation: Validation, format: ValidationFormat, io: Io): string {
  switch (format) {
    case 'text':
      return wrapFor(io.out)(asText(validation, paintFor(io.out, io.env)));
    case 'json':
      return asJson(validation);
    case 'github':
      return asGithub(validation);
    case 'gitlab':
      return asGitlab(validation);
    case 'sarif':
      return asSarif(validation);
    case 'junit':
      return asJunit(validation);
  }
}

/** One line for each finding, in the form that editors jump to, and one that sums up. */
function asText(validation: Validation, paint: Paint): string {
  const findings = findingsOf(validation);
  const lines = findings.map((finding) => paint(finding.severity === 'error' ? 'bad' : 'busy', formatFinding(finding)));
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  const count = `${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`;
  const sum = findings.length === 0 ? paint('good', 'nothing found') : count;
  return `${[...lines, `${validation.about}: ${sum}`].join('\n')}\n`;
}

/** For programs. Keys are added in later releases, never renamed. `path` of a finding is that of the field. */
function asJson({ files }: Validation): string {
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
