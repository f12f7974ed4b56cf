import { type Approval, approvalValue } from '#shared/contract/api/approval.ts';
import type { RolloutSpec, RolloutStatus, WaveStatus } from '#shared/contract/api/kubelet-pool.ts';
import { type Claim, readClaim } from '#shared/contract/claim.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';

/** What lets a rollout go on after a wave with a pause. */
export interface ApprovalFacts {
  readonly pool: string;
  readonly configName: string;
  /** Of the payload, or the pool's template. */
  readonly sha256: string;
  /** The pool's annotations of an approval, and of who says to have given it; absent for none. */
  readonly value?: string | undefined;
  readonly by?: string | undefined;
  /** Nothing of the pool has to prove the payload any more: who goes back to what is proven waits for nobody. */
  readonly isProven: boolean;
  /** What the canaries show has been compared, where that is asked for: a person sees the verdict. */
  readonly isCompared: boolean;
}

/** What stands between a wave that is done and the next one. */
export interface Pause {
  /** Others may begin. */
  readonly isOver: boolean;
  /** It was approved in this pass. */
  readonly isApprovedNow: boolean;
  /** What the status is to remember of it. */
  readonly record: Pick<WaveStatus, 'pausedAt' | 'approvedAt' | 'approvedBy'>;
  /** What it waits for; '' where it is over. */
  readonly because: string;
}

const NO_PAUSE: Pause = { isOver: true, isApprovedNow: false, record: {}, because: '' };

/** What is remembered of an approval, whatever becomes of the wave. */
export const approvedIn = (known: WaveStatus | undefined): Pause['record'] => {
  const { pausedAt, approvedAt, approvedBy } = known ?? {};
  if (pausedAt === undefined || approvedAt === undefined) return {};
  return { pausedAt, approvedAt, ...(approvedBy === undefined ? {} : { approvedBy }) };
};

/** A wave that is done. */
interface DoneWave extends Pick<WaveStatus, 'name' | 'nodes'> {
  readonly pause: boolean;
  /** Nobody is left that would wait for it. */
  readonly isLast: boolean;
}

/**
 * Whether the rollout goes on after a wave that is done. A person is asked once the comparison is over; what they approve is bound to the
 * payload, the wave and this wait. Who has gone past the wave already is not called back.
 *
 * @param known  what is remembered of the wave
 * @param before the way of the same payload so far; undefined for a new one
 */
export function pauseAfter(
  wave: DoneWave,
  known: WaveStatus | undefined,
  before: RolloutStatus | undefined,
  facts: ApprovalFacts | undefined,
  now: Millis,
): Pause {
  const approved = approvedIn(known);
  if (approved.approvedAt !== undefined) return { ...NO_PAUSE, record: approved };
  if (!wave.pause || wave.isLast || facts === undefined || facts.isProven) return NO_PAUSE;
  if (isPast(Math.max(wave.nodes, known?.nodes ?? 0), before)) return NO_PAUSE;
  const since = known?.pausedAt;
  if (since === undefined && !facts.isCompared)
    return {
      ...NO_PAUSE,
      isOver: false,
      because: `wave ${wave.name} is done, and is compared before a person is asked`,
    };
  const asked: Approval = { sha256: facts.sha256, since: since ?? toTimestamp(now), wave: wave.name };
  const value = approvalValue(asked);
  if (since !== undefined && facts.value === value) {
    const claim = readClaim(facts.by, 'approve', value);
    return { ...NO_PAUSE, isApprovedNow: true, record: approval(since, claim, now) };
  }
  const because = approvalLine(facts.pool, { ...asked, configName: facts.configName });
  return { ...NO_PAUSE, isOver: false, record: { pausedAt: asked.since }, because };
}

/** By our own clock, whatever the claim says. */
const approval = (pausedAt: string, claim: Claim | undefined, now: Millis): Pause['record'] => ({
  pausedAt,
  approvedAt: toTimestamp(now),
  ...(claim === undefined ? {} : { approvedBy: claim.who }),
});

/** Nodes began after a wave of so many, as it was when they did: the pause came into the pool's file later. */
const isPast = (nodes: number, before: RolloutStatus | undefined): boolean =>
  before?.waves.some((each) => each.nodes > nodes && (each.startedAt ?? each.doneAt) !== undefined) === true;

/** For people: what waits, since when, and how it goes on. */
export const approvalLine = (
  pool: string,
  { since, wave, configName }: Pick<Approval, 'since' | 'wave'> & { readonly configName: string },
): string =>
  `${configName} waits${wave === undefined ? '' : ` after wave ${wave}`} for a person since ${since}: approve it with kubelet-gitops approve ${pool}`;

/** Waves of a pool's rollout that ask a person, by what `pool.yaml` says. */
export const asksAnybody = ({ canary, steps = [] }: RolloutSpec): boolean =>
  canary?.pause === true || steps.some(({ pause }) => pause === true);
