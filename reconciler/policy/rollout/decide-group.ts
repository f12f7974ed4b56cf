import type { RebootOrder } from '#shared/contract/api/kubelet-node.ts';
import type { Halt } from '#shared/contract/api/kubelet-pool.ts';
import type { Aimed } from './aims.ts';
import type { Budgets } from './budget.ts';
import type { Gates } from './gates.ts';
import { type Hold, hold } from './hold.ts';
import type { Group, Member } from './membership.ts';
import { inOrder } from './order.ts';
import { readiness } from './readiness.ts';
import type { WaveProgress } from './wave-progress.ts';

/** What is done about one node now. `rest` where it needs nothing. */
export type Verdict =
  | { readonly verdict: 'rest' }
  /** `reboot`: a restart of its kubelet is not enough. */
  | { readonly verdict: 'change'; readonly because: string; readonly reboot?: RebootOrder }
  /** Its pods have to leave before it is changed. */
  | { readonly verdict: 'drain'; readonly stage: 'count' | 'cordon' | 'evict'; readonly because: string }
  /** `gaveUp`: its pods did not leave in time, or somebody let them back on. */
  | ({ readonly verdict: 'hold'; readonly gaveUp?: boolean } & Hold);

export interface MemberDecision {
  readonly member: Member;
  readonly aimed: Aimed;
  readonly verdict: Verdict;
}

/** Everything that deciding about the nodes of a group needs. */
export interface GroupQuestion {
  readonly group: Group;
  readonly aims: readonly Aimed[];
  readonly halt: Halt | null;
  readonly gates: Gates;
  /** null where nothing goes in waves: nodes that leave their pool. */
  readonly waves: WaveProgress | null;
  readonly finishesWaves: boolean;
  /** Whether the bytes of this config source are in the cluster, so that a node could fetch them. */
  readonly isAvailable: (configName: string) => boolean;
  /** What the change takes besides a plain restart of this node's kubelet: a hold, a drain that comes first, a reboot in it. */
  readonly disruption: (aimed: Aimed) => Verdict | null;
}

/**
 * Who is changed now, within the budgets, and for everybody else why not. A node that we ourselves left in the middle of a
 * change is told the newest target without a place in the budget of its own, because it has one already.
 */
export function decideGroup(question: GroupQuestion, budgets: Budgets): readonly MemberDecision[] {
  let room = question.waves?.room ?? Number.POSITIVE_INFINITY;

  return inOrder(question.aims).map((aimed): MemberDecision => {
    const { verdict, entersWave } = decide(aimed, question, room, budgets);
    if (entersWave) room -= 1;
    return { member: aimed.member, aimed, verdict };
  });
}

interface Decided {
  readonly verdict: Verdict;
  readonly entersWave: boolean;
}

function decide(aimed: Aimed, question: GroupQuestion, room: number, budgets: Budgets): Decided {
  const { member, aim } = aimed;
  if (member.standing === 'no-agent') {
    return held(hold('no-agent', 'no agent has reported from this node lately: is the DaemonSet running there?'));
  }
  if (member.standing !== 'outdated') return { verdict: { verdict: 'rest' }, entersWave: false };
  const obstacle = obstacleOf(aimed, question);
  if (obstacle !== null) return held(obstacle);

  const inWaves = aim === 'config' && question.waves !== null && !member.wasTold;
  if (member.runsTarget) return changed('it runs this already', false);
  if (aimed.joining && aim === 'settled') return changed('it is new, and gets what its pool settled on', false);
  const wave = inWaves ? waveHold(member, question, room) : null;
  if (member.changing) {
    const first = gate(aimed, question) ?? wave;
    if (first !== null) return held(first);
    const more = question.disruption(aimed);
    if (more === null) return changed('it is in the middle of a change that is out of date', inWaves);
    // To count its pods is only to look: a node that is broken would finish nothing by itself while nobody does.
    return isCount(more) ? { verdict: more, entersWave: false } : held(FINISHES_FIRST);
  }
  const waits = readiness(member, question.group.pool?.spec.rollout) ?? gate(aimed, question) ?? wave;
  if (waits !== null) return held(waits);
  const first = question.disruption(aimed);
  if (first?.verdict === 'hold') return { verdict: first, entersWave: false };
  // A node that we cordoned has its place already.
  const full = member.node.drain === undefined ? budgets.take(question.group, member) : null;
  if (full !== null) return held(full);
  const because = member.node.ready
    ? 'its turn has come'
    : 'its turn has come, and its pool has nodes changed that are not Ready';
  return { verdict: first ?? { verdict: 'change', because }, entersWave: inWaves };
}

const isCount = (verdict: Verdict): boolean => verdict.verdict === 'drain' && verdict.stage === 'count';

const FINISHES_FIRST = hold(
  'disruption',
  'it finishes the change that it is in the middle of: what comes next needs more than a restart of its kubelet',
);

const LOST =
  'somebody deleted or changed the ConfigMap of what the pool settled on before, and its bytes are nowhere else: commit a payload';

/** What nothing can be done against. */
function obstacleOf({ aim, configName }: Aimed, { halt, isAvailable }: GroupQuestion): Hold | null {
  if (aim === 'config' && halt !== null) return hold('halted', `the pool is halted: ${halt.message}`);
  if (configName !== null && !isAvailable(configName)) {
    return hold('no-config-source', aim === 'settled' ? LOST : 'the config source is not in the cluster yet');
  }
  return null;
}

/** Taking a payload back waits for nobody but a person: it ends harm. */
function gate({ aim, member }: Aimed, { gates, halt, waves, finishesWaves }: GroupQuestion): Hold | null {
  if (gates.suspended !== null) return gates.suspended;
  if (halt?.action === 'revert' && aim !== 'config') return null;
  const window = finishesWaves && isUnderWay(waves) ? null : gates.window;
  return window ?? gates.blocked ?? busy(member, gates);
}

const isUnderWay = (waves: WaveProgress | null): boolean =>
  waves?.waves.some(({ state, startedAt }) => state === 'rolling' && startedAt !== undefined) === true;

function busy({ node }: Member, gates: Gates): Hold | null {
  const because = gates.busy.get(node.name);
  return because === undefined ? null : hold('blocked', because);
}

function waveHold(member: Member, { waves }: GroupQuestion, room: number): Hold | null {
  if (waves === null || waves.current === null) return null;
  const isOut = waves.current.only?.(member) === false;
  return isOut || room <= 0 ? hold('wave', waves.because) : null;
}

const held = (why: Hold): Decided => ({ verdict: { verdict: 'hold', ...why }, entersWave: false });
const changed = (because: string, entersWave: boolean): Decided => ({
  verdict: { verdict: 'change', because },
  entersWave,
});
