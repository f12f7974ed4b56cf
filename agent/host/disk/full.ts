import { codeOf } from '#shared/runtime/errors.ts';

/** No space, or no more of it for this user. */
const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

const MOST_CAUSES = 5;

/** Whether a call failed, at bottom, because there was no room: what has to change then is the disk, and nothing else. */
export function isDiskFull(thrown: unknown): boolean {
  let current = thrown;
  for (let depth = 0; depth < MOST_CAUSES && current instanceof Error; depth += 1) {
    if (FULL.has(codeOf(current))) return true;
    current = current.cause;
  }
  return false;
}
