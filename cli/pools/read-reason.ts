import { type Given, UsageError } from '../command.ts';

/** It is shown in a status, on one line. */
const LONGEST_REASON = 500;

/** Why somebody does it, as `--because` says. @throws UsageError */
export function readReason(given: Given): string {
  const because = (given.text('because') ?? '').trim().replaceAll(/\s+/g, ' ');
  if (because === '') throw new UsageError('say why: --because TEXT');
  if (because.length > LONGEST_REASON)
    throw new UsageError(`--because has ${because.length} of at most ${LONGEST_REASON} characters`);
  return because;
}
