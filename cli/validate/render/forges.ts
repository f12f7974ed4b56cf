import { createHash } from 'node:crypto';
import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import { findingsOf, type Validation } from '../validation.ts';

/** GitHub's workflow commands: each finding becomes an annotation beside its line. */
export function asGithub(validation: Validation): string {
  return findingsOf(validation)
    .map((finding) => {
      const { file, line, column, severity, code } = finding;
      const place = { file, line, col: column, title: `kubelet-gitops: ${code}` };
      const properties = Object.entries(place)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
      return `::${severity} ${properties.join(',')}::${escapeMessage(sentenceOf(finding))}\n`;
    })
    .join('');
}

const escapeMessage = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapeProperty = (text: string): string => escapeMessage(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** GitLab's Code Quality report, for `artifacts:reports:codequality`. */
export function asGitlab(validation: Validation): string {
  const report = findingsOf(validation).map((finding) => ({
    description: sentenceOf(finding),
    check_name: finding.code,
    // The place is left out: a finding that only moves is no new one.
    fingerprint: createHash('sha256')
      .update(`${finding.file} ${finding.code} ${finding.field} ${finding.message}`)
      .digest('hex'),
    severity: finding.severity === 'error' ? 'major' : 'minor',
    location: { path: finding.file ?? '.', lines: { begin: finding.line ?? 1 } },
  }));
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** The finding without its place and code, which the forge shows by itself. */
export function sentenceOf(finding: Finding): string {
  const whole = formatFinding(finding);
  return whole.slice(whole.indexOf(`${finding.code}: `) + finding.code.length + 2);
}
