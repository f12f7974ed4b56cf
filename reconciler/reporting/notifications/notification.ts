import type { CommitReference } from '#shared/contract/api/kubelet-pool.ts';
import { MAX_POOL_NAME_LENGTH } from '#shared/contract/config-map-hash.ts';
import { plainLine } from '../../git/plain-text.ts';

/** What is told of. `waits`: for a person. `follows`: what becomes of a commit that other clusters have first. `test`: of nothing. */
export type NotificationKind = 'halted' | 'reverted' | 'refused' | 'waits' | 'settled' | 'follows' | 'test';

/** The mildest first. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const rankOf = (severity: Severity): number => SEVERITIES.indexOf(severity);

/** How severe each kind ever is: who asks for more gets none of it. */
export const MOST_SEVERE: Readonly<Record<NotificationKind, Severity>> = {
  halted: 'critical',
  reverted: 'critical',
  refused: 'warning',
  waits: 'warning',
  settled: 'info',
  follows: 'warning',
  test: 'info',
};

const ANSWERS = ['yes', 'no', 'unknown'] as const;

/** Whether a halt can wait, and why: as the impact of the halt says, never a fixed text. */
export interface CanWait {
  readonly answer: (typeof ANSWERS)[number];
  readonly because: string;
}

/** One message to a receiver, before it is put into a receiver's words. All text is plain, of one line each, and short. */
export interface Notification {
  readonly kind: NotificationKind;
  readonly severity: Severity;
  /** A few of the pools that it is about; none where it is about the repository. */
  readonly pools: readonly string[];
  /** How many pools there are besides. */
  readonly morePools: number;
  readonly title: string;
  /** What is known of it, a clause each. */
  readonly lines: readonly string[];
  /** Of halts. */
  readonly canWait?: CanWait;
  /** Whose commit brought it; absent where nobody knows. */
  readonly commit?: CommitReference;
  /** Path of the page that says what to do, from the root of this software's repository; absent where nothing is to be done. */
  readonly runbook?: string;
  /** RFC 3339. */
  readonly at: string;
}

/** Something that holds now, and the marks by which it is known whether it was told. */
export interface Occurrence {
  readonly notification: Notification;
  /**
   * By place, `<pool>/<what>`, which of the occurrences at that place this is. It is news as long as one of them is not the last that was
   * told at its place: a halt is told again when it turns out to put pods at risk, and when it has come to rest.
   */
  readonly marks: Readonly<Record<string, string>>;
}

const LONGEST_TITLE = 200;
const LONGEST_LINE = 400;
const MOST_LINES = 8;
export const MOST_POOLS = 20;

/** The same, as short as the record has room for: text of strangers may have any length. */
export function fitNotification(told: Notification): Notification {
  const { canWait, commit, pools, morePools, runbook } = told;
  return {
    ...told,
    pools: pools.slice(0, MOST_POOLS).map((name) => plainLine(name, MAX_POOL_NAME_LENGTH)),
    morePools: morePools + Math.max(0, pools.length - MOST_POOLS),
    title: plainLine(told.title, LONGEST_TITLE),
    lines: told.lines.slice(0, MOST_LINES).map((line) => plainLine(line, LONGEST_LINE)),
    ...(canWait === undefined ? {} : { canWait: fitCanWait(canWait) }),
    ...(commit === undefined ? {} : { commit: fitCommit(commit) }),
    ...(runbook === undefined ? {} : { runbook: plainLine(runbook, 200) }),
  };
}

const fitCanWait = ({ answer, because }: CanWait): CanWait => ({
  answer: ANSWERS.find((known) => known === answer) ?? 'unknown',
  because: plainLine(because, 2 * LONGEST_LINE),
});

const fitCommit = ({ commit, subject = '', author = '' }: CommitReference): CommitReference => ({
  commit: plainLine(commit, 64),
  ...(subject === '' ? {} : { subject: plainLine(subject, 100) }),
  ...(author === '' ? {} : { author: plainLine(author, 100) }),
});
