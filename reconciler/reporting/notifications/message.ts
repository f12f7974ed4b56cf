import { commitText } from '../../policy/commit-reference.ts';
import type { CanWait, Notification } from './notification.ts';

/** What a message says besides what happened. */
export interface MessageContext {
  readonly cluster: string;
  /** Where runbooks are; absent where nobody says. */
  readonly runbooksUrl?: string | undefined;
}

const ANSWERS: Readonly<Record<CanWait['answer'], string>> = {
  yes: 'yes',
  no: 'no',
  unknown: 'not known yet',
};

/** Of a halt, in one line. */
export const canWaitLine = ({ answer, because }: CanWait): string => `can this wait? ${ANSWERS[answer]}: ${because}`;

/** Everything that is known besides the title, a line each: what changed, whose commit, whether it can wait. */
export function messageLines({ lines, commit, canWait }: Notification): readonly string[] {
  return [
    ...(canWait === undefined ? [] : [canWaitLine(canWait)]),
    ...lines,
    ...(commit === undefined ? [] : [`commit ${commitText(commit)}`]),
  ];
}

/** The page that says what to do: an address where one is known, or else its path in this software's repository. */
export function runbookPlace({ runbook }: Notification, { runbooksUrl }: MessageContext): string | undefined {
  if (runbook === undefined || runbooksUrl === undefined) return runbook;
  return `${runbooksUrl.replace(/\/+$/, '')}/${runbook.replace(/^.*\//, '')}`;
}
