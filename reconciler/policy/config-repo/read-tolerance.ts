import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { TOLERABLE_CODES, type TolerableCode } from '#shared/contract/kubelet-config/tolerance.ts';
import type { FileReport } from './file-report.ts';

/** `tolerate: [unknown-field]` of a pool or a cluster. What is wrong is in the report. */
export function readTolerance(value: unknown, path: Path, report: FileReport): readonly TolerableCode[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    report.error('wrong-type', path, 'tolerate has to be a list of codes', 'write it as [unknown-field]');
    return [];
  }
  const codes = value.flatMap((item, index) => {
    const code = TOLERABLE_CODES.find((each) => each === item);
    if (code !== undefined) return [code];
    const meant = typeof item === 'string' ? didYouMean(item, TOLERABLE_CODES) : undefined;
    const suggestion = meant === undefined ? `known are ${TOLERABLE_CODES.join(', ')}` : `did you mean ${meant}?`;
    report.error(
      'unknown-value',
      [...path, index],
      `${abbreviateJson(item)} is nothing that can be tolerated`,
      suggestion,
    );
    return [];
  });
  return [...new Set(codes)];
}
