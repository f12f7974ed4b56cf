import type { WindowSpec, WindowsSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { checkWindow } from '../windows/read-window.ts';
import { LONGEST_DURATION_TEXT, readList, readTextField, readWord } from './read-scalars.ts';
import { type FileReport, readMap } from './file-report.ts';

const LONGEST_TEXT = 256;

const longestOf = (key: string): number => (key === 'duration' ? LONGEST_DURATION_TEXT : LONGEST_TEXT);

/** When changes may begin and when not. Each window is judged by the code that opens and shuts it. */
export function readWindows(value: unknown, path: Path, report: FileReport): WindowsSpec | undefined {
  if (value === undefined) return undefined;
  const windows = readMap(value, path, ['allow', 'deny', 'overrun'], report) ?? {};
  const list = (key: 'allow' | 'deny'): readonly WindowSpec[] =>
    readList(windows[key], [...path, key], report).flatMap(([item, at]) => readWindow(item, at, report));
  return {
    allow: list('allow'),
    deny: list('deny'),
    overrun: readWord(windows.overrun, [...path, 'overrun'], ['stop', 'finish-wave'], report),
  };
}

function readWindow(value: unknown, path: Path, report: FileReport): readonly WindowSpec[] {
  const window = readMap(value, path, ['cron', 'duration', 'timeZone'], report);
  const text = (key: 'cron' | 'duration' | 'timeZone'): string | undefined =>
    readTextField(window?.[key], [...path, key], { longest: longestOf(key) }, report);
  if (window === undefined || window.cron === undefined || window.duration === undefined) {
    report.error(
      'missing-field',
      path,
      'a window needs cron and duration',
      'write {cron: "0 2 * * 1-5", duration: 4h}',
    );
    return [];
  }
  const [cron, duration, timeZone] = [text('cron'), text('duration'), text('timeZone')];
  if (cron === undefined || duration === undefined) return [];
  const spec: WindowSpec = timeZone === undefined ? { cron, duration } : { cron, duration, timeZone };
  for (const problem of checkWindow(spec)) {
    report.error(problem.code, [...path, problem.field], problem.message, problem.suggestion);
  }
  return [spec];
}
