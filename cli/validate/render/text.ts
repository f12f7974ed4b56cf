import { formatFinding } from '#shared/contract/finding.ts';
import type { Paint } from '../../paint.ts';
import { findingsOf, type Validation } from '../validation.ts';

/** One line for each finding, in the form that editors jump to, and one that sums up. */
export function asText(validation: Validation, paint: Paint): string {
  const findings = findingsOf(validation);
  const lines = findings.map((finding) => paint(finding.severity === 'error' ? 'bad' : 'busy', formatFinding(finding)));
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  const count = `${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`;
  const sum = findings.length === 0 ? paint('good', 'nothing found') : count;
  return `${[...lines, `${validation.about}: ${sum}`].join('\n')}\n`;
}
