import { parseUnreadableNotes } from '#reconciler/reporting/notes/recorded-unreadable-notes.ts';
import { sayWorking } from '#reconciler/reporting/notes/writer-state.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { followingStanding, longSilences } from '#reconciler/policy/following/describe-following.ts';
import { readFollowing } from '#reconciler/policy/following/record.ts';
import type { SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { type Diagnosis, diagnosis } from '../diagnosis.ts';
import { type Facts, valueOr } from '../facts.ts';

/** A Lease that is older than this has no living holder, whatever it promised: a restart takes a few seconds. */
const STALE_MS: Millis = 60_000;
/** A longer wait for a push to be seen looks like a fault. */
const SLOW_POLL_MS: Millis = 5 * 60_000;

/** Who acts, what the repository says, and how it is heard of. */
export function diagnoseCommits(facts: Facts): readonly Diagnosis[] {
  return [...leader(facts), ...source(facts), ...triggers(facts)];
}

function leader({ lease: part, reconciler, now }: Facts): readonly Diagnosis[] {
  if (!part.read || valueOr(reconciler, null)?.wanted === 0) return [];
  const spec = part.value?.spec;
  if (spec === undefined)
    return [diagnosis('no-leader', 'no reconciler ever held the Lease kubelet-gitops-reconciler')];
  const holder = spec.holderIdentity ?? '';
  if (holder === '') return [diagnosis('no-leader', 'the last reconciler gave the Lease back, and no other took it')];
  const renewed = fromTimestamp(spec.renewTime);
  if (renewed !== undefined && now - renewed <= STALE_MS) return [];
  return [diagnosis('no-leader', `${holder} has not renewed the Lease since ${spec.renewTime ?? 'ever'}`, [holder])];
}

function source({ source: part, now }: Facts): readonly Diagnosis[] {
  if (!part.read) return [];
  const state = part.value;
  if (state === null || state.commit === '') {
    const failure = state?.failure ?? '';
    return [diagnosis('no-commit', `no commit was ever taken up${failure === '' ? '' : `: ${failure}`}`)];
  }
  const { failure, failingSince, refusedCommit, refusedBecause, findings, notes, statuses, notifications } = state;
  const lines = findings.split('\n').filter((line) => line !== '');
  const unwritten = parseUnreadableNotes(state.unreadableNotes);
  return [
    ...(failure === '' ? [] : [diagnosis('git-failing', `git fails since ${failingSince}: ${failure}`)]),
    ...(refusedCommit === ''
      ? []
      : [diagnosis('commit-refused', `${refusedCommit.slice(0, 12)}: ${refusedBecause}`, [refusedCommit])]),
    ...(lines.length === 0
      ? []
      : [diagnosis('commit-findings', `${lines.length} in ${state.commit.slice(0, 12)}: ${lines[0]}`)]),
    ...followed(state, now),
    ...(isOff(notes) ? [diagnosis('notes-off', `notes are ${sayWorking(notes)}`)] : []),
    ...(unwritten[0] === undefined
      ? []
      : [diagnosis('notes-unreadable', `${unwritten.length}, among them ${unwritten[0]}`)]),
    ...(isOff(statuses) ? [diagnosis('statuses-off', `statuses are ${sayWorking(statuses)}`)] : []),
    ...(isOff(notifications) ? [diagnosis('notifications-off', `notifications are ${sayWorking(notifications)}`)] : []),
  ];
}

/** What holds commits up, of a cluster that follows others: waiting for them alone is in order. */
function followed({ following }: SourceState, now: Millis): readonly Diagnosis[] {
  const record = readFollowing(following);
  if (!record) return [];
  const { reason, message } = followingStanding(record);
  const isWrong = reason === 'NotesUnreadable' || reason === 'NotesUntrusted';
  const silent = longSilences(record, now).map(
    ({ cluster, since }) => `${cluster} says nothing of newer commits since ${toTimestamp(since)}`,
  );
  return [...(isWrong ? [message] : []), ...silent].map((what) => diagnosis('followed-silent', what));
}

/** Off without an operator's intention. */
const isOff = (text: string): boolean => text.startsWith('off') && text !== 'off: switched off';

function triggers({ reconciler, webhookService }: Facts): readonly Diagnosis[] {
  const settings = valueOr(reconciler, null)?.settings;
  if (settings === undefined) return [];
  const secret = settings['WEBHOOK_SECRET_FILE'] ?? '';
  const hasWebhook = secret !== '';
  const half = webhookService.read && webhookService.value && !hasWebhook;
  const poll = settings['POLL_INTERVAL'] ?? '60s';
  const slow = !hasWebhook && (parseDuration(poll) ?? 0) > SLOW_POLL_MS;
  return [
    ...(half
      ? [diagnosis('webhook-half', 'there is a Service kubelet-gitops-webhook, and WEBHOOK_SECRET_FILE is not set')]
      : []),
    ...(slow ? [diagnosis('polling-slow', `POLL_INTERVAL is ${poll}, and there is no webhook`)] : []),
  ];
}
