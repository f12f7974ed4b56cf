import { createHash } from 'node:crypto';

/** What a person does to a pool from the command line. */
export type ClaimedVerb = 'suspend' | 'resume' | 'release' | 'approve';

/**
 * Who says to have done something to a pool, in the annotation beside it. Proved only where the admission policies hold: they refuse
 * the name of anybody else.
 */
export interface Claim {
  readonly verb: ClaimedVerb;
  /** RFC 3339 with whole seconds, by the clock of the claiming program. */
  readonly at: string;
  /** The user name that the API server knew them by. */
  readonly who: string;
}

const LONGEST_NAME = 200;

/**
 * The annotation's text: `2026-11-22T10:00:00Z suspend:0a1b2c3d ada`. The policies read the name from the second space on.
 *
 * @param value what the annotation says that was written; '' for a removal
 */
export const claimText = ({ verb, at, who }: Claim, value: string): string => `${at} ${verb}:${digest(value)} ${who}`;

/** The claim that is about this very value; undefined without one, and if another writer changed the value since. */
export function readClaim(text: string | undefined, verb: ClaimedVerb, value: string): Claim | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) (\w+):([0-9a-f]{8}) (.+)$/s.exec(text ?? '');
  const [, at = '', said = '', about = '', who = ''] = match ?? [];
  if (said !== verb || about !== digest(value)) return undefined;
  return { verb, at, who: who.slice(0, LONGEST_NAME) };
}

const digest = (value: string): string => createHash('sha256').update(value, 'utf8').digest('hex').slice(0, 8);
