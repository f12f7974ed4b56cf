import type { WindowSpec } from '#shared/contract/api/kubelet-pool.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { readCron } from './cron.ts';
import { matchesAnyDay } from './days.ts';
import { memo } from './memo.ts';
import { createSchedule, type Schedule } from './schedule.ts';
import { type Zone, zoneNamed } from './zone.ts';

/** A window that can be asked. */
export interface Window {
  readonly spec: WindowSpec;
  readonly schedule: Schedule;
  readonly durationMs: Millis;
}

/** What is wrong with a window, and with which of its fields. */
export interface WindowProblem {
  readonly field: 'cron' | 'duration' | 'timeZone';
  /** A code of findings. */
  readonly code: 'bad-cron' | 'bad-duration' | 'bad-time-zone';
  readonly message: string;
  readonly suggestion: string;
}

/** A year, the longest that anything may last that a config repository gives a time: 366 days. */
export const LONGEST_SPAN_MS: Millis = 366 * 86_400_000;

const DEFAULT_ZONE = 'UTC';

/** There are a few hundred names; more are misspelt. */
const MOST_ZONES = 1024;

/** What is misspelt or impossible in a window; empty where nothing is. */
export function checkWindow(spec: WindowSpec): readonly WindowProblem[] {
  return [...cronProblems(spec.cron), ...spanProblems(spec.duration), ...zoneProblems(spec.timeZone)];
}

/** @returns undefined where `checkWindow` finds a problem, or where this Node lacks the time zone */
export function readWindow(spec: WindowSpec): Window | undefined {
  if (checkWindow(spec).length > 0) return undefined;
  const read = readCron(spec.cron);
  const durationMs = parseDuration(spec.duration);
  const zone = zoneOf(spec.timeZone ?? DEFAULT_ZONE);
  if (!read.ok || durationMs === undefined || zone === undefined) return undefined;
  return { spec, durationMs, schedule: createSchedule(read.cron, zone) };
}

export function cronProblems(text: string): readonly WindowProblem[] {
  const read = readCron(text);
  const problem = { field: 'cron', code: 'bad-cron' } as const;
  if (!read.ok) return [{ ...problem, message: read.problem, suggestion: read.suggestion }];
  if (matchesAnyDay(read.cron)) return [];
  const message = `"${text}" never begins: there is no such day in any year`;
  return [{ ...problem, message, suggestion: 'correct the day of month and the month' }];
}

export function spanProblems(text: string): readonly WindowProblem[] {
  const span = parseDuration(text);
  const problem = { field: 'duration', code: 'bad-duration', suggestion: 'write it as 90m, 4h or 1h30m' } as const;
  if (span === undefined) return [{ ...problem, message: `"${text}" is not a valid duration` }];
  if (span === 0) return [{ ...problem, message: 'a window has to last longer than 0s' }];
  if (span <= LONGEST_SPAN_MS) return [];
  return [{ ...problem, message: `"${text}" is longer than 366 days (8784h)`, suggestion: 'leave the window out' }];
}

const misspelt = new Map<string, readonly WindowProblem[]>();

/** Looked for once for each name: all the names there are have to be read for it. */
export const zoneProblems = (name: string = DEFAULT_ZONE): readonly WindowProblem[] =>
  memo(misspelt, MOST_ZONES, name, () => problemsOfZone(name));

function problemsOfZone(name: string): readonly WindowProblem[] {
  const problem = { field: 'timeZone', code: 'bad-time-zone' } as const;
  const zone = zoneOf(name);
  if (zone === undefined) {
    const meant = didYouMean(name, zoneNames());
    const suggestion = meant === undefined ? 'write it as Europe/Berlin or UTC' : `did you mean ${meant}?`;
    return [{ ...problem, message: `"${name}" is not a time zone of the IANA database`, suggestion }];
  }
  const spelt = zoneNames().find((known) => known !== name && known.toLowerCase() === name.toLowerCase());
  if (spelt === undefined) return [];
  return [
    { ...problem, message: `"${name}" is not how the time zone is written`, suggestion: `did you mean ${spelt}?` },
  ];
}

const zoneNames = (): readonly string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')];

const zones = new Map<string, Zone | undefined>();

/** Zones are kept: making one reads tables. */
const zoneOf = (name: string): Zone | undefined => memo(zones, MOST_ZONES, name, () => zoneNamed(name));
