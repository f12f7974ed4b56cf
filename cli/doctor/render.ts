import { type AuditSummary, sayAudit } from '#shared/contract/audit-summary.ts';
import { joinLines } from '../one-line.ts';
import type { Paint, Tone } from '../paint.ts';
import type { DiagnosisSeverity } from './diagnosis-codes.ts';
import type { Diagnosis } from './diagnosis.ts';

const TONES: Readonly<Record<DiagnosisSeverity, Tone>> = { error: 'bad', warning: 'busy', note: 'quiet' };

/**
 * For each what is wrong, what follows from it, and what to do.
 *
 * @param audit the last one that was published, null for none: it is not about the installation; undefined where that is not known
 */
export function doctorAsText(found: readonly Diagnosis[], paint: Paint, audit?: AuditSummary | null): string {
  const body = found.flatMap(({ code, severity, what, why, remedy, runbook }) => [
    `${paint(TONES[severity], severity)} ${paint('strong', code)}: ${what}`,
    `  ${why}`,
    `  ${paint('strong', 'What to do:')} ${remedy}`,
    ...(runbook === undefined ? [] : [`  ${paint('strong', 'Runbook:')} ${runbook}`]),
    '',
  ]);
  return `${joinLines([...body, summary(found, paint), ...auditLines(audit)])}\n`;
}

function auditLines(audit: AuditSummary | null | undefined): readonly string[] {
  if (audit === undefined) return [];
  const what =
    audit === null
      ? 'none was published. What kubelets run, and whether it is safe and fit for the next upgrades, says: kubelet-gitops audit'
      : `${sayAudit(audit)}. What fails now says: kubelet-gitops audit`;
  return [`audit: ${what}`];
}

function summary(found: readonly Diagnosis[], paint: Paint): string {
  const counts = (['error', 'warning', 'note'] as const).flatMap((severity) => {
    const { length } = found.filter((each) => each.severity === severity);
    return length === 0 ? [] : [paint(TONES[severity], `${length} ${severity}${length === 1 ? '' : 's'}`)];
  });
  return counts.length === 0 ? paint('good', 'nothing is wrong') : counts.join(', ');
}
