import { parseDuration } from '#shared/runtime/duration.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { Mistake } from '../command.ts';

/** `--since 2h` or `--since 2026-11-21T12:00:00Z`, as a moment. @throws Mistake */
export function sinceOf(written: string | undefined, now: Millis): Millis | undefined {
  if (written === undefined) return undefined;
  const days = /^(\d{1,4})d$/.exec(written)?.[1];
  const span = days === undefined ? parseDuration(written) : Number(days) * 86_400_000;
  if (span !== undefined) return now - span;
  const at = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))?$/.test(written)
    ? fromTimestamp(written)
    : undefined;
  if (at === undefined) throw new Mistake(`--since ${written}: write 30m, 2h, 3d or 2026-11-21T12:00:00Z`);
  return at;
}
