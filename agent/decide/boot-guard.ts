import { toNodeError } from './node-error.ts';
import type { Action, Decision, GuardedTrial } from './decision.ts';
import { startFallingBack } from './fall-back.ts';
import { guardLimitsOf, MAX_GUARD_TRIES, runStartedByGuard, trialIdOf } from './trial-guard.ts';
import type { GuardOrder, GuardSeen } from '../ports/guard.ts';
import type { Observation } from './observation.ts';
import {
  type Config,
  nameOf,
  sameConfig,
  sameConfigAndBase,
  type State,
  type TrialTerms,
  type Unproven,
  withRejected,
} from './state.ts';

/**
 * A trial shows that an agent lives on under a config, not that one comes up under it: after a boot, the kubelet may refuse
 * its pod. So what was promoted stays guarded until an agent is there after the next boot. Where none comes although the
 * kubelet has other pods, or a start of the kubelet before that boot ends the agent's pod and none comes back, or the machine
 * goes down in boot after boot, the guard takes the node back to what an agent came up under before.
 */

/**
 * What the guard took it back after, as the end of `Unproven.bootId`; nothing for one boot beside other pods. How often the config
 * is tried again without blame: an outage of the API server during one boot looks the same, but hardly during two. Power cuts take longer
 * to tell from a config that kills the machine.
 */
const ABSENCES = {
  boot: { mark: '', most: 1 },
  /** In the boot that it was promoted in, and so after a start of the kubelet alone. */
  start: { mark: ' start', most: 1 },
  /** The machine went down in several boots, before an agent was up. */
  boots: { mark: ' boots', most: 2 },
} as const;
type Absence = keyof typeof ABSENCES;

const absenceIn = ({ bootId }: Unproven): Absence =>
  bootId.endsWith(ABSENCES.start.mark) ? 'start' : bootId.endsWith(ABSENCES.boots.mark) ? 'boots' : 'boot';

/** After a boot everybody fetches something at once. */
const LEAST_SILENCE_SECONDS = 900;

/** The guard does not limit starts of the kubelet then. */
const ANY_STARTS = 999_999_999;

/** When the guard takes back what was promoted: counted from the kubelet's first pod in a boot. */
export const bootLimitsOf = (terms: TrialTerms): Pick<GuardOrder, 'maxStarts' | 'silenceSeconds'> => ({
  maxStarts: ANY_STARTS,
  silenceSeconds: Math.max(guardLimitsOf(terms).silenceSeconds, LEAST_SILENCE_SECONDS),
});

/** What the guard counted of boots; undefined without a watch on boots. */
const bootsOf = ({ guard }: Pick<Observation, 'guard'>): GuardSeen | undefined =>
  guard.guard === 'disarmed' || guard.guard === 'armed' ? guard.boots : undefined;

const watchOf = (config: Config): GuardedTrial => ({ config, since: 'boots' });

/** What the state is to remember of a promotion. */
export function unprovenAfterPromotion(state: State, config: Config, seen: Observation): Pick<State, 'unproved'> {
  if (bootsOf(seen) === undefined) return {};
  const { sha256 } = config.source;
  const before = unprovedOf(state) ?? (state.unproved?.sha256 === sha256 ? state.unproved : undefined);
  const to = before === undefined ? state.lastKnownGood : before.to;
  if (sameConfigAndBase(to, config)) return {};
  return { unproved: { sha256, to, bootId: seen.bootId, absences: before?.sha256 === sha256 ? before.absences : 0 } };
}

/** Whatever came to run otherwise says nothing of the boots of another config. */
function unprovedOf({ unproved, lastKnownGood: good }: State): Unproven | undefined {
  return unproved !== undefined && (isOf(unproved, good) || sameConfigAndBase(good, unproved.to))
    ? unproved
    : undefined;
}

const isOf = ({ sha256 }: Unproven, target: State['lastKnownGood']): boolean => target?.source.sha256 === sha256;

/** What the guard is to watch the next boot for; null for nothing. */
const watched = ({ doing, lastKnownGood: good, unproved }: State): Config | null =>
  doing.phase === 'idle' && good !== null && unproved !== undefined && isOf(unproved, good) ? good : null;

/** The agent is there after a boot, so it came up under what the kubelet started with. */
export function provenByBoot(state: State, seen: Observation): State {
  const { unproved, ...proved } = state;
  if (unproved === undefined || bootsOf(seen)?.guard === 'fired') return state;
  return watched(state) !== null && seen.bootId !== '' && seen.bootId !== unproved.bootId ? proved : state;
}

/** The way back that the guard began, because no agent came up after a boot; undefined for no such fallback. */
export function fallBackAfterAbsence(state: State, seen: Observation): Decision | undefined {
  const [config, boots, { unproved }] = [watched(state), bootsOf(seen), state];
  if (config === null || unproved === undefined || boots?.guard !== 'fired') return undefined;
  if (boots.trial !== trialIdOf(watchOf(config))) return undefined;
  const { to } = unproved;
  const absence = boots.cause === 'boots' ? 'boots' : boots.watch === seen.bootId ? 'start' : 'boot';
  const bootId = `${seen.bootId}${ABSENCES[absence].mark}`;
  // Its death before the rest was written down must not make two of one.
  const absences = unproved.absences + (bootId === unproved.bootId ? 0 : 1);
  const known: State = { ...state, unproved: { ...unproved, bootId, absences } };
  const running = runStartedByGuard(to, { ...seen, guard: boots });
  const back = (from: State): Decision =>
    startFallingBack({ ...from, lastKnownGood: to, promotedAt: null }, to, 'failed', config.trial, running);
  if (absences <= ABSENCES[absence].most) {
    // As if it had never been assigned: it is tried again in its turn.
    return back(sameConfig(state.assigned, config) ? { ...known, assigned: to } : known);
  }
  const when: Readonly<Record<Absence, string>> = {
    boot: `after ${absences} boots, although the kubelet ran other pods`,
    start: 'again after a start of the kubelet, which ended its pod',
    boots: `again in ${boots.starts} boots in a row, each of which ended soon`,
  };
  const message = `${absenceOf(config)} ${when[absence]}. The node goes back to ${nameOf(to)}`;
  const error = toNodeError({ reason: 'AgentSilent', message }, config, seen.at, state.error);
  return back(withRejected({ ...known, error }, config, error));
}

const absenceOf = (config: Config): string => `no agent came up under ${nameOf(config)}`;

/** Why what is wanted waits for a turn, in words: the guard took it back, and it is not to blame yet; undefined otherwise. */
export function whyTurnNeededAfterAbsence(
  { unproved, lastKnownGood, doing }: State,
  { intent }: Observation,
): string | undefined {
  if (unproved === undefined || doing.phase !== 'idle' || intent.intent !== 'config') return undefined;
  const [{ config }, { absences }, absence] = [intent, unproved, absenceIn(unproved)];
  // Once it was blamed, another assignment is its turn.
  if (absences === 0 || absences > ABSENCES[absence].most) return undefined;
  if (!isOf(unproved, config) || isOf(unproved, lastKnownGood)) return undefined;
  const after = { boot: 'after a boot', start: 'after a start of the kubelet', boots: 'in boots that ended soon' }[
    absence
  ];
  return `${absenceOf(config)} ${after}, so the guard took it back without a verdict: it is tried again in its turn`;
}

/**
 * The guard is to know in which pod the agent is, and, after a start of the kubelet, that the agent lives on. A kubelet that did
 * not hear from the API server yet may still refuse it.
 */
const isToBeTold = ({ asks }: Extract<GuardSeen, { guard: 'armed' }>, { first, nodeReady }: Observation): boolean =>
  first || (asks === true && nodeReady === 'yes');

/** Arms, renews or disarms the guard's watch over the next boot, while no config is on trial. */
export function withBootGuard(decision: Decision, seen: Observation): Decision {
  const { next, actions } = decision;
  const [config, boots, { guardFault: fault }] = [watched(next), bootsOf(seen), seen];
  if (boots === undefined || actions.some((action) => action.do === 'arm-guard' || action.do === 'leave'))
    return decision;
  const trial = config && watchOf(config);
  if (trial === null || next.unproved === undefined) {
    // The heartbeat keeps a guard quiet that cannot be disarmed.
    const away: readonly Action[] = [{ do: 'reassure-guard' }, { do: 'disarm-guard' }];
    return boots.guard === 'disarmed' ? decision : { ...decision, actions: [...away, ...actions] };
  }
  if (boots.guard === 'armed' && boots.trial === trialIdOf(trial)) {
    return isToBeTold(boots, seen) ? { ...decision, actions: [{ do: 'reassure-guard' }, ...actions] } : decision;
  }
  const isKnown = fault?.trial === trialIdOf(trial);
  if (isKnown && (fault.retryInMs > 0 || (fault.tries >= MAX_GUARD_TRIES && !fault.isFull))) return decision;
  const arm: Action = { do: 'arm-guard', trial, to: next.unproved.to, watch: next.unproved.bootId };
  // It takes the place of whatever there is.
  return { ...decision, actions: [...actions.filter((action) => action.do !== 'disarm-guard'), arm] };
}
