import { hold } from './hold.ts';
import type { HoldCheck } from './hold-question.ts';

const ALL =
  'no commit is in force since the reconciler started, so every node keeps what it has: a commit that can be read and is not refused ends this';
const POOL =
  'its pool has errors in git, and only its KubeletPool, which others may have written, has the config from before: nodes keep what they have until the errors are fixed';

/** Nothing is begun on the word of an object that others may write. */
export const noCommit: HoldCheck = ({ facts: { unverified } }) =>
  unverified === undefined ? null : hold('no-commit', unverified === 'all' ? ALL : POOL);
