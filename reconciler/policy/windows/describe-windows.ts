import type { Millis } from '#shared/runtime/clock.ts';
import type { WindowNow, WindowsView } from './windows-view.ts';
import type { Zone } from './zone.ts';

/** Why changes may begin now. */
export function describeOpen({ allow, deny }: WindowsView): string {
  const open = allow.flatMap((layer) => earliest(layer.filter(({ span }) => span.on)) ?? []);
  const next = earliest(deny);
  const soonest = earliest(open);
  if (soonest === undefined) {
    return next === undefined
      ? 'no window restricts it'
      : `${named(next)} denies changes only from ${untilOf(next)} on`;
  }
  const first = open.map((seen) => `${named(seen)} is open${endOf(seen)}`).join(', and ');
  const isSooner = next !== undefined && (next.span.until ?? Infinity) < (soonest.span.until ?? Infinity);
  return isSooner ? `${first}, and ${named(next)} denies changes from ${untilOf(next)} on` : first;
}

/** Why none may. */
export function describeClosed({ allow, deny }: WindowsView): string {
  const denying = [...deny].sort((a, b) => (b.span.until ?? Infinity) - (a.span.until ?? Infinity));
  const unreadable = [...deny, ...allow.flat()].find(({ window }) => window === undefined);
  const denies = denying.find(({ span }) => span.on);
  if (denies !== undefined) return `${named(denies)} denies changes${endOf(denies)}`;
  const shut = allow.find((layer) => layer.every(({ span }) => !span.on));
  const next = shut === undefined ? undefined : earliest(shut);
  if (unreadable !== undefined && (next === undefined || deny.includes(unreadable))) {
    return `${named(unreadable)} cannot be read here: correct its cron expression, duration and time zone`;
  }
  return next === undefined ? 'no window begins within 400 days' : `${named(next)} begins ${untilOf(next)}`;
}

/** The one that changes first. */
function earliest(all: readonly WindowNow[]): WindowNow | undefined {
  return all
    .filter(({ span }) => span.until !== null)
    .reduce<WindowNow | undefined>(
      (best, seen) => (best === undefined || until(seen) < until(best) ? seen : best),
      undefined,
    );
}

const until = ({ span }: WindowNow): Millis => span.until ?? Infinity;

const named = ({ spec }: WindowNow): string => `the window "${spec.cron}" (${spec.duration})`;

function endOf({ span, window }: WindowNow): string {
  return span.goesOn === true || span.until === null || window === undefined
    ? ' without an end in sight'
    : ` until ${saidTime(span.until, window.schedule.zone)}`;
}

const untilOf = ({ span, window }: WindowNow): string =>
  span.until === null || window === undefined ? 'some day' : saidTime(span.until, window.schedule.zone);

/** `2026-03-03 02:00 Europe/Berlin (2026-03-03 01:00 UTC)`. */
function saidTime(at: Millis, zone: Zone): string {
  const utc = `${minutes(at)} UTC`;
  return zone.name === 'UTC' ? utc : `${minutes(zone.wallAt(at))} ${zone.name} (${utc})`;
}

const minutes = (wall: Millis): string => new Date(wall).toISOString().slice(0, 16).replace('T', ' ');
