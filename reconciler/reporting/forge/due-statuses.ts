import type { Millis } from '#shared/runtime/clock.ts';
import type { CommitStatus } from './commit-status.ts';
import type { Forge } from './forges.ts';

/** A status that stands on the forge, as far as we know. */
export interface PublishedStatus {
  /** The forge's own word. */
  readonly state: string;
  readonly description: string;
  /** Monotonic; when we posted it, or -Infinity for one that was found there. */
  readonly at: Millis;
  /** How often only the description was posted again. */
  readonly reposts: number;
}

interface DueStatuses {
  /** To be posted now. */
  readonly now: readonly CommitStatus[];
  /** When the next one will be due, monotonic; Infinity for never. */
  readonly next: Millis;
}

/** A description that changes alone, how far a rollout is, is posted no more often than this. */
export const REPOST_EVERY_MS: Millis = 60_000;
/** GitHub takes 1,000 statuses of a commit and context; the last words must always find room. */
const MOST_RETOLD = 200;

/** What has to be said to the forge, and when: only what differs from what stands there. Pure. */
export function dueStatuses(
  wanted: readonly CommitStatus[],
  standing: ReadonlyMap<string, PublishedStatus>,
  forge: Pick<Forge, 'word' | 'describesAnew'>,
  now: Millis,
): DueStatuses {
  const due: CommitStatus[] = [];
  let next = Number.POSITIVE_INFINITY;
  for (const status of wanted) {
    const stands = standing.get(status.context);
    if (stands === undefined || stands.state !== forge.word(status.state)) due.push(status);
    else if (stands.description !== status.description && forge.describesAnew(status.state)) {
      // How it ended is said at once; how far it is may wait.
      const at = status.state === 'pending' ? stands.at + REPOST_EVERY_MS : now;
      if (stands.reposts >= MOST_RETOLD) continue;
      if (at <= now) due.push(status);
      else next = Math.min(next, at);
    }
  }
  return { now: due, next };
}
