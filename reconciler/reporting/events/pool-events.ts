import { approvalValue, awaitedApprovals } from '#shared/contract/api/approval.ts';
import { BY_ANNOTATION, RELEASE_ANNOTATION, SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { type Claim, readClaim } from '#shared/contract/claim.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { annotatedSuspension, suspensionAt } from '../../policy/suspension.ts';
import { approvalLine } from '../../policy/rollout/pause.ts';
import { haltLines } from '../../policy/pool-status/halt-lines.ts';
import { formatClass, hasNoConfig } from '../pool-status/class-summary.ts';
import type { ClusterEvent, EventSubject } from './cluster-event.ts';

/** Further classes without a config are in the pool's status. */
const MOST_HELD = 5;

/** All events of a pool as it is now, reported before or not. Pure. */
export function eventsOfPool({ metadata, status = {} }: KubeletPool): readonly ClusterEvent[] {
  const { name, uid = '' } = metadata;
  const about: EventSubject = { kind: 'KubeletPool', name, uid };
  const { halt, configName: config = '', sha256 = '' } = status;
  const base = { about, pool: name, config };
  const all: ClusterEvent[] = [];
  if (halt !== undefined) {
    const happening = halt.action === 'revert' ? 'RolloutReverting' : 'RolloutHalted';
    const identity = `halted ${halt.sha256} ${halt.at}`;
    all.push({ ...base, reason: happening, type: 'Warning', note: haltNote(status), at: halt.at, identity });
  }
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  if (status.phase === 'Settled' && ready?.status === 'True' && config !== '') {
    const identity = `settled ${sha256} ${ready.lastTransitionTime}`;
    all.push({
      ...base,
      reason: 'RolloutSettled',
      type: 'Normal',
      note: settledSentence(status),
      at: ready.lastTransitionTime,
      identity,
    });
  }
  const invalid = status.conditions?.find(({ type, status: is }) => type === 'ConfigValid' && is === 'False');
  if (invalid !== undefined) {
    const { message, lastTransitionTime: at } = invalid;
    const note = `The pool keeps what it has, because the commit says: ${message}`;
    all.push({ ...base, reason: 'ConfigRefused', type: 'Warning', note, at, identity: `errors ${at} ${message}` });
  }
  for (const each of (status.classes ?? []).filter(hasNoConfig).slice(0, MOST_HELD)) {
    const identity = `class held ${sha256} ${each.name} ${each.message ?? ''}`;
    all.push({ ...base, reason: 'ClassHeld', type: 'Warning', note: `Machines with ${formatClass(each)}`, identity });
  }
  all.push(...byPeople({ metadata, status }, base), ...ofPauses(name, status, base));
  const waiting = status.holds?.find(({ reason }) => BUDGETS.includes(reason));
  if (waiting !== undefined) {
    const who = waiting.nodes === 1 ? '1 node waits for its turn' : `${waiting.nodes} nodes wait for their turn`;
    const note = `${who}: ${waiting.message}`;
    all.push({ ...base, reason: 'RateLimited', type: 'Normal', note, identity: `rate-limited ${sha256}` });
  }
  return all;
}

/** What a settled pool has to show. */
export function settledSentence({ configName = '', counts, classes }: KubeletPoolStatus): string {
  const nodes = counts?.nodes ?? 0;
  const what = classes === undefined ? configName : 'the config of their class of machines';
  return nodes === 1
    ? `The one node runs ${classes?.[0]?.configName ?? configName} and has proven it`
    : `All ${nodes} nodes run ${what} and have proven it`;
}

/** One Event says all of it: what failed, what changed and whose it is, and what is safe. */
const haltNote = (status: KubeletPoolStatus): string => [status.halt?.message ?? '', ...haltLines(status)].join('. ');

type Base = Pick<ClusterEvent, 'about' | 'pool' | 'config'>;

/** What a person did, and the name, as far as the annotations say. */
function byPeople({ metadata: { annotations = {} }, status = {} }: KubeletPool, base: Base): readonly ClusterEvent[] {
  const suspended = annotations[SUSPEND_ANNOTATION];
  const by = annotations[BY_ANNOTATION];
  const all: ClusterEvent[] = [];
  if (suspended !== undefined) {
    const claim = readClaim(by, 'suspend', suspended);
    const note = `Suspended: ${suspended === '' ? 'nobody says why' : suspended}. ${sayWho(claim)}`;
    all.push({ ...base, reason: 'Suspended', type: 'Normal', note, ...datedBy(claim, `suspended ${suspended}`) });
  }
  const resumed = suspended === undefined ? readClaim(by, 'resume', '') : undefined;
  if (resumed !== undefined) all.push({ ...resumption(base, resumed), ...datedBy(resumed, 'resumed') });
  if (status.released !== undefined) {
    const { haltedAt } = status.released;
    const claim = readClaim(by, 'release', annotations[RELEASE_ANNOTATION] ?? '');
    const note = `Released: it goes on after the halt of ${haltedAt}. ${sayWho(claim)}`;
    all.push({ ...base, reason: 'Released', type: 'Normal', note, ...datedBy(claim, `released ${haltedAt}`) });
  }
  return all;
}

/** That a person is asked, and that one approved. */
function ofPauses(pool: string, status: KubeletPoolStatus, base: Base): readonly ClusterEvent[] {
  const { sha256 = '', waves = [] } = status.rollout ?? {};
  const asked = awaitedApprovals(status).map((each): ClusterEvent => ({
    ...base,
    reason: 'WaitsForApproval',
    type: 'Normal',
    note: approvalLine(pool, each),
    at: each.since,
    identity: `waits ${approvalValue(each)}`,
  }));
  const approved = waves.flatMap(({ name, approvedAt: at, approvedBy: who }): readonly ClusterEvent[] => {
    if (at === undefined) return [];
    const note = `Approved: it goes on after wave ${name}. ${sayWho(who === undefined ? undefined : { who })}`;
    return [{ ...base, reason: 'Approved', type: 'Normal', note, at, identity: `approved ${sha256} ${name} ${at}` }];
  });
  return [...asked, ...approved];
}

const resumption = (base: Base, claim: Claim | undefined): Omit<ClusterEvent, 'identity'> => ({
  ...base,
  reason: 'Resumed',
  type: 'Normal',
  note: `Resumed. ${sayWho(claim)}`,
});

/**
 * A suspension that ended by itself, or was removed without a name: only a process that saw it before can report that.
 *
 * @param at when it was seen, RFC 3339
 */
export function silentResumption(pool: KubeletPool, at: string): ClusterEvent {
  const { name, uid = '' } = pool.metadata;
  const base: Base = { about: { kind: 'KubeletPool', name, uid }, pool: name, config: '' };
  const over = annotatedSuspension(pool);
  const note = over === null ? {} : { note: `Resumed: it was suspended ${over.says}. That time is over` };
  return { ...resumption(base, undefined), ...note, identity: `resumed ${at}` };
}

/** Whether the pool was suspended and is not, and no annotation says who did it. */
export const isSilentlyResumed = (wasSuspended: boolean, pool: KubeletPool, at: Millis): boolean =>
  wasSuspended &&
  suspensionAt(pool, at) === null &&
  readClaim(pool.metadata.annotations?.[BY_ANNOTATION], 'resume', '') === undefined;

const sayWho = (claim: Pick<Claim, 'who'> | undefined): string =>
  claim === undefined ? 'The object does not say who did it' : `By ${claim.who}, according to their command line`;

/** Between what happened and its stated time: an event whose statement goes away is not news. */
export const SINCE = '\n';

const datedBy = (claim: Claim | undefined, what: string): Pick<ClusterEvent, 'at' | 'identity'> =>
  claim === undefined ? { identity: what } : { at: claim.at, identity: `${what}${SINCE}${claim.at}` };

/** Of the pool, of a zone in it, of the whole cluster. */
const BUDGETS: readonly string[] = ['budget', 'zone-budget', 'overall-budget'];
