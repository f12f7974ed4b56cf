import type { RebootOrder, TurnRequest } from '#shared/contract/api/kubelet-node.ts';
import type { Targeted } from './targets.ts';
import type { Budgets } from './max-unavailable.ts';
import { type Hold, hold, type HoldReason } from './holds/hold.ts';
import { BEFORE_BEGINNING, firstHold, GATES, OBSTACLES } from './holds/holds.ts';
import type { GroupFacts, HoldQuestion } from './holds/hold-question.ts';
import { isInPlace, type Member } from './membership.ts';
import { canaryCandidates } from './canaries.ts';
import { inChangeOrder } from './node-order.ts';

/** What is done about one node now. `rest` where it needs nothing. */
export type NodeVerdict =
  | { readonly verdict: 'rest' }
  /** `reboot`: a restart of its kubelet is not enough. */
  | { readonly verdict: 'change'; readonly because: string; readonly reboot?: RebootOrder }
  /** Its pods have to leave before it is changed. */
  | { readonly verdict: 'drain'; readonly stage: 'count' | 'preflight' | 'cordon' | 'evict'; readonly because: string }
  /** `gaveUp`: its pods did not leave in time, or somebody let them back on. `counts`: its pods are to be counted again. */
  | ({ readonly verdict: 'hold'; readonly gaveUp?: boolean; readonly counts?: true } & Hold);

export interface MemberDecision {
  readonly member: Member;
  readonly aimed: Targeted;
  readonly verdict: NodeVerdict;
}

/** Everything that deciding about the nodes of a group needs. */
interface GroupQuestion extends GroupFacts {
  readonly targets: readonly Targeted[];
  /** What the change takes besides a plain restart of this node's kubelet: a hold, a drain that comes first, a reboot in it. */
  readonly disruption: (aimed: Targeted) => NodeVerdict | null;
  /** Whether the config leaves too little for pods that the node cannot do without: a hold, or a count that comes first. */
  readonly lockOut: (aimed: Targeted) => NodeVerdict | null;
}

/**
 * Who is changed now, within the budgets, and for everybody else why not. A node that we ourselves left in the middle of a
 * change is told the newest target without a place in the budget of its own, because it has one already, unless it is past its
 * probation.
 */
export function decideGroup(question: GroupQuestion, budgets: Budgets): readonly MemberDecision[] {
  let room = question.waves?.room ?? Number.POSITIVE_INFINITY;
  const classRooms = new Map(question.waves?.classes.map((each) => [each.payloadClass, each]));

  const isFirst = canaryCandidates(question.group.members, question.waves?.current?.name === 'canary');
  const ready = readyCanaries(question);
  return inChangeOrder(question.targets, question.now, isFirst).map((aimed): MemberDecision => {
    const { member } = aimed;
    const classRoom = member.payloadClass && classRooms.get(member.payloadClass);
    const rooms = { room, classLimit: classRoom, readyFirst: ready.before(member) };
    const verdict = decide(aimed, question, rooms, budgets);
    ready.saw(aimed, verdict);
    if (entersWave(aimed, verdict)) {
      room -= 1;
      if (classRoom !== undefined) classRooms.set(classRoom.payloadClass, { ...classRoom, room: classRoom.room - 1 });
    }
    return { member, aimed, verdict };
  });
}

type Rooms = Pick<HoldQuestion, 'room' | 'classLimit' | 'readyFirst'>;

/**
 * Which Ready nodes will be canaries once a place comes back: one that is not Ready proves nothing, and is not told in their stead.
 * Where no place comes back by itself, the config may be what helps it.
 */
function readyCanaries({ waves, group }: GroupQuestion): {
  /** The Ready node of its kind that waits; undefined for none. */
  readonly before: (member: Member) => string | undefined;
  readonly saw: (aimed: Targeted, verdict: NodeVerdict) => void;
} {
  const isCanaryWave = waves?.current?.name === 'canary';
  const isCandidate = canaryCandidates(group.members, isCanaryWave);
  const isOfPool = isCanaryWave && waves.classes.length === 0;
  const kindOf = ({ payloadClass }: Member): string => (isOfPool ? '' : (payloadClass?.name ?? ''));
  const waiting = new Map<string, string>();
  let comesBack = group.members.some((member) => isInPlace(member) && (member.node.ready || isUpdating(member)));
  return {
    before: (member) => (member.node.ready || !isCandidate(member) ? undefined : waiting.get(kindOf(member))),
    saw(aimed, verdict) {
      const { member } = aimed;
      if (entersWave(aimed, verdict)) comesBack = true;
      const isHeld = verdict.verdict === 'hold' && OF_PLACES.has(verdict.hold);
      if (isHeld && comesBack && member.node.ready && isCandidate(member))
        waiting.set(kindOf(member), member.node.name);
    },
  };
}

const isUpdating = ({ lifecycle }: Member): boolean => lifecycle.shown === 'updating';

const OF_PLACES: ReadonlySet<HoldReason> = new Set(['budget', 'zone-budget', 'overall-budget']);

/** What a node was told already, what it runs, and what it goes back to goes in no wave. */
const entersWave = ({ member, targetKind }: Targeted, { verdict }: NodeVerdict): boolean =>
  targetKind === 'config' && !member.isAssigned && !member.runsTarget && (verdict === 'change' || verdict === 'drain');

function decide(aimed: Targeted, question: GroupQuestion, rooms: Rooms, budgets: Budgets): NodeVerdict {
  const { member, targetKind } = aimed;
  const { shown, mayBeTold, inChange } = member.lifecycle;
  if (!mayBeTold && shown !== 'no-agent') return { verdict: 'rest' };
  if (member.turnRequest !== undefined) return decideTurn(aimed, member.turnRequest, question, budgets);
  const asked = { targeted: aimed, facts: question, ...rooms };
  const obstacle = firstHold(OBSTACLES, asked);
  if (obstacle !== null) return held(obstacle);

  if (member.runsTarget) return changed('it runs this already');
  if (member.joining && targetKind === 'settled') {
    const locked = question.lockOut(aimed);
    if (locked !== null) return locked;
    const crowded = budgets.admit(question.group, member);
    return crowded === null ? changed('it is new, and gets the config that its pool settled on') : held(crowded);
  }
  if (inChange) {
    const first = firstHold(GATES, asked);
    if (first !== null) return held(first);
    const locked = question.lockOut(aimed);
    if (locked !== null) return locked;
    const more = question.disruption(aimed);
    if (more === null) {
      const full = placeInChange(aimed, question, budgets);
      return full === null ? changed('it is in the middle of a change that is out of date') : held(full);
    }
    // To count its pods is only to look: a node that is broken would finish nothing by itself while nobody does.
    return isCount(more) ? more : held(FINISHES_FIRST);
  }
  const waits = firstHold(BEFORE_BEGINNING, asked);
  if (waits !== null) return held(waits);
  const [locked, more] = [question.lockOut(aimed), question.disruption(aimed)];
  // Nobody counts the pods of a node for a change that its pool does not allow.
  const first = locked?.verdict === 'drain' && more?.verdict === 'hold' ? more : (locked ?? more);
  if (first?.verdict === 'hold') return first;
  const full = placeFor(aimed, first, question, budgets);
  if (full !== null) return held(full);
  const because = member.node.ready
    ? 'its turn has come'
    : 'its turn has come, and its pool changes nodes that are not Ready';
  return first ?? changed(because);
}

/**
 * A node that we cordoned has its place already; but while its pods left others may have gone away or heard of the payload, or there is
 * another one by now.
 *
 * @param next what is done about it before it is told, or as it is told
 */
function placeFor(aimed: Targeted, next: NodeVerdict | null, { group }: GroupQuestion, budgets: Budgets): Hold | null {
  if (aimed.member.node.drain === undefined) return budgets.take(group, aimed);
  const isLeft = next?.verdict === 'drain' && next.stage === 'evict';
  return isLeft ? null : budgets.resume(group, aimed);
}

/** It has its place still, unless it gave it back after its probation. */
function placeInChange(aimed: Targeted, question: GroupQuestion, budgets: Budgets): Hold | null {
  if (!aimed.member.lifecycle.takesPlace) return placeFor(aimed, null, question, budgets);
  return aimed.targetKind === 'config' ? budgets.expose(question.group, aimed.member) : null;
}

/** A restart of what the node has already: no wave and no drain, and everything else that a change of its config waits for. */
function decideTurn(aimed: Targeted, asks: TurnRequest, question: GroupQuestion, budgets: Budgets): NodeVerdict {
  const asked = { targeted: aimed, facts: question, room: 0 };
  const waits = firstHold(OBSTACLES, asked) ?? firstHold(BEFORE_BEGINNING, asked);
  // Whatever it was cordoned for is over, so that place is no place for its restart.
  const full = waits ?? budgets.take(question.group, aimed);
  const what = asks.message.slice(0, LONGEST_MESSAGE);
  if (full === null) return changed(`its turn to restart its kubelet has come: ${what}`);
  return held(hold(full.hold, `${what}; its restart waits: ${full.because}`));
}

/** Of what an agent says, in characters. */
const LONGEST_MESSAGE = 400;

const isCount = (verdict: NodeVerdict): boolean => verdict.verdict === 'drain' && verdict.stage === 'count';

const FINISHES_FIRST = hold(
  'disruption',
  'it finishes its present change first: the next one needs more than a restart of its kubelet',
);

const held = (why: Hold): NodeVerdict => ({ verdict: 'hold', ...why });
const changed = (because: string): NodeVerdict => ({ verdict: 'change', because });
