import type { AnalysisSpec } from '#shared/contract/api/kubelet-pool.ts';
import { type MeasureName, MEASURES } from '#shared/contract/api/measures.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { readQueries } from './read-queries.ts';
import { readDuration, readInteger, readList, readNumber, readWord } from './read-scalars.ts';
import { type FileReport, readMap } from './file-report.ts';

const NAMES = MEASURES as readonly [MeasureName, ...MeasureName[]];

const MOST_MEASURES = 16;

/** How the measures of the canaries are compared; undefined if the pool asks for no analysis. */
export function readAnalysis(value: unknown, path: Path, report: FileReport): AnalysisSpec | undefined {
  const analysis = readMap(value, path, ['measures', 'thresholds', 'prometheus', 'timeout'], report);
  if (analysis === undefined) return undefined;
  const prometheus = readQueries(analysis.prometheus, [...path, 'prometheus'], report);
  const isNone = Array.isArray(analysis.measures) && analysis.measures.length === 0 && prometheus !== undefined;
  const measures = isNone
    ? []
    : readList(analysis.measures, [...path, 'measures'], report, MOST_MEASURES).map(([name, at]) =>
        readWord(name, at, NAMES, report),
      );
  const thresholds = readMap(analysis.thresholds, [...path, 'thresholds'], NAMES, report);
  return {
    ...(measures.length === 0 && !isNone ? {} : { measures }),
    ...(prometheus === undefined ? {} : { prometheus }),
    ...(thresholds === undefined ? {} : { thresholds: readThresholds(thresholds, [...path, 'thresholds'], report) }),
    timeout: readDuration(analysis.timeout, [...path, 'timeout'], { zero: 'allowed', default: '30m' }, report),
  };
}

function readThresholds(
  thresholds: Readonly<Record<string, unknown>>,
  path: Path,
  report: FileReport,
): NonNullable<AnalysisSpec['thresholds']> {
  return Object.fromEntries(
    NAMES.filter((name) => thresholds[name] !== undefined).map((name) => {
      const at = [...path, name];
      const { least, percent } = readMap(thresholds[name], at, ['least', 'percent'], report) ?? {};
      return [
        name,
        {
          ...(least === undefined ? {} : { least: readNumber(least, [...at, 'least'], report) }),
          ...(percent === undefined
            ? {}
            : { percent: readInteger(percent, [...at, 'percent'], { min: 0, max: 100_000, default: 0 }, report) }),
        },
      ];
    }),
  );
}
