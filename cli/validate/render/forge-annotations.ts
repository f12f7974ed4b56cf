import { createHash } from 'node:crypto';
import { type Finding, sentenceOf } from '#shared/contract/finding.ts';
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
  const seen = new Map<string, number>();
  const report = findingsOf(validation).map((finding) => ({
    description: sentenceOf(finding),
    check_name: finding.code,
    fingerprint: fingerprintOf(finding, seen),
    severity: finding.severity === 'error' ? 'major' : 'minor',
    location: { path: finding.file ?? '.', lines: { begin: finding.line ?? 1 } },
  }));
  return `${JSON.stringify(report, null, 2)}\n`;
}

/**
 * The place is left out: a finding that only moves is no new one. Of several that are alike the first, second … differ.
 *
 * @param seen how often each was there before; this one is added
 */
function fingerprintOf({ file, code, field, message }: Finding, seen: Map<string, number>): string {
  const subject = `${file} ${code} ${field} ${message}`;
  const before = seen.get(subject) ?? 0;
  seen.set(subject, before + 1);
  return createHash('sha256')
    .update(before === 0 ? subject : `${subject} ${before}`)
    .digest('hex');
}
