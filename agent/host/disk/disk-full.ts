import { codeOf } from '#shared/runtime/errors.ts';

/** No space, or no more of it for this user. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

const MOST_CAUSES = 5;

/** Whether a call failed, at bottom, because there was no room: what has to change then is the disk, and nothing else. */
export const isDiskFull = (thrown: unknown): boolean => errorCodesOf(thrown).some((code) => FULL.has(code));

/** The codes of an error and of what caused it. */
export function errorCodesOf(thrown: unknown): readonly string[] {
  const codes: string[] = [];
  let current = thrown;
  for (let depth = 0; depth < MOST_CAUSES && current instanceof Error; depth += 1) {
    codes.push(codeOf(current) ?? '');
    current = current.cause;
  }
  return codes;
}
