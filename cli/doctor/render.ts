import { joinLines } from '../one-line.ts';
import type { Paint, Tone } from '../paint.ts';
import type { DiagnosisSeverity } from './diagnosis-codes.ts';
import type { Diagnosis } from './diagnosis.ts';

const TONES: Readonly<Record<DiagnosisSeverity, Tone>> = { error: 'bad', warning: 'busy', note: 'quiet' };

/** For each what is wrong, what follows from it, and what to do. */
export function doctorAsText(found: readonly Diagnosis[], paint: Paint): string {
  const body = found.flatMap(({ code, severity, what, why, remedy, runbook }) => [
    `${paint(TONES[severity], severity)} ${paint('strong', code)}: ${what}`,
    `  ${why}`,
    `  ${paint('strong', 'What to do:')} ${remedy}`,
    ...(runbook === undefined ? [] : [`  ${paint('strong', 'Runbook:')} ${runbook}`]),
    '',
  ]);
  return `${joinLines([...body, summary(found, paint)])}\n`;
}

function summary(found: readonly Diagnosis[], paint: Paint): string {
  const counts = (['error', 'warning', 'note'] as const).flatMap((severity) => {
    const { length } = found.filter((each) => each.severity === severity);
    return length === 0 ? [] : [paint(TONES[severity], `${length} ${severity}${length === 1 ? '' : 's'}`)];
  });
  return counts.length === 0 ? paint('good', 'nothing is wrong') : counts.join(', ');
}
