import { isDeepStrictEqual as equal } from 'node:util';
import type {
  CanarySpec,
  KubeletPoolSpec,
  PoolTrialSpec,
  RolloutSpec,
  RolloutStep,
} from '#shared/contract/api/kubelet-pool.ts';
import { DEFAULT_MAX_ON_TRIAL, DEFAULT_PROBATION, FULL_PROBATION } from '#shared/contract/api/probation.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { leastAmount } from '../rollout/amount.ts';
import { probationOf, trialTermsOf } from '../rollout/trial-terms.ts';

/** What of a pool's spec bounds how far a config gets before it has proven itself. */
type Limits = Pick<KubeletPoolSpec, 'rollout' | 'trial' | 'drift'>;

/**
 * The spec with limits by which a config reaches no more nodes, in no less time, than by the limits of either spec. Pure.
 *
 * @returns `now` itself where it is as strict as `former` in everything
 */
export function stricter(former: Limits, now: KubeletPoolSpec): KubeletPoolSpec {
  const rollout = stricterRollout(former, now);
  const trial = stricterTrial(former, now, rollout);
  const drift = former.drift === 'repair' ? former.drift : now.drift;
  const isSame = drift === now.drift && isIn(now.trial, trial) && isIn(now.rollout, rollout);
  return isSame ? now : { ...now, rollout: { ...now.rollout, ...rollout }, trial: { ...now.trial, ...trial }, drift };
}

/** The same of how many nodes may be unavailable alone, which holds for what is proven as well. */
export function fewerUnavailable({ rollout: former }: Limits, now: KubeletPoolSpec): KubeletPoolSpec {
  const unavailable = unavailableIn(former, now.rollout);
  return isIn(now.rollout, unavailable) ? now : { ...now, rollout: { ...now.rollout, ...unavailable } };
}

/** Names of limits in which two specs differ, as `pool.yaml` has them. */
export function differingLimits(one: Limits, other: Limits): readonly string[] {
  const differing = (a: object, b: object): readonly string[] =>
    [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => !isIn(a, { [key]: valueIn(b, key) }));
  const drift = one.drift === other.drift ? [] : ['drift'];
  const trial = differing(one.trial, other.trial).map((key) => `trial.${key}`);
  return [...differing(one.rollout, other.rollout).map((key) => `rollout.${key}`), ...trial, ...drift];
}

const valueIn = (map: object, key: string): unknown => (map as Readonly<Record<string, unknown>>)[key];

/** Whether a map has all of these values. Compares by identity: a value that is as strict as before is passed on unchanged. */
const isIn = (map: object, some: object): boolean =>
  Object.entries(some).every(([key, value]) => valueIn(map, key) === value);

const msOf = (duration: string): number => parseDuration(duration) ?? 0;
const longer = (former: string, now: string): string => (msOf(former) > msOf(now) ? former : now);

/** Only what has a value. */
const some = <T extends object>(values: { readonly [K in keyof T]: T[K] | undefined }): Partial<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;

function stricterRollout({ rollout: former, trial }: Limits, { rollout: now, ...spec }: KubeletPoolSpec) {
  const soak = longer(former.soak, now.soak);
  const threshold = leastAmount(former.onFailure.threshold, now.onFailure.threshold);
  return some<RolloutSpec>({
    ...unavailableIn(former, now),
    ...onTrialIn(former, now, longer(trial.duration, spec.trial.duration)),
    soak,
    canary: canaryIn(former, now),
    steps: stepsIn(former, now, soak),
    // Two cannot be compared: the one that was in force holds.
    analysis: equal(former.analysis, now.analysis) ? now.analysis : (former.analysis ?? now.analysis),
    onFailure: threshold === now.onFailure.threshold ? now.onFailure : { ...now.onFailure, threshold },
  });
}

function unavailableIn(former: RolloutSpec, now: RolloutSpec) {
  const [was, is] = [former.maxUnavailablePerZone, now.maxUnavailablePerZone];
  return {
    maxUnavailable: leastAmount(former.maxUnavailable, now.maxUnavailable),
    ...some({ maxUnavailablePerZone: was === undefined ? is : is === undefined ? was : leastAmount(was, is) }),
  };
}

/**
 * With `full`, nodes hold their places to the end, and `maxUnavailable` alone bounds who tries a config: from the start. Where one of two
 * says so, nodes hold their places for the whole trial, and the bound begins with the canaries and ends with that `maxUnavailable`.
 */
function onTrialIn(
  former: RolloutSpec,
  now: RolloutSpec,
  trial: string,
): Pick<RolloutSpec, 'probation' | 'maxOnTrial'> {
  const [was, is] = [probationOf(former), probationOf(now)];
  const { probation, maxOnTrial } = now;
  const kept = { ...some({ probation, maxOnTrial }) };
  if (was === null && is === null) return kept;
  if (was !== null && is !== null) {
    const longest = was > is ? { probation: former.probation ?? DEFAULT_PROBATION } : {};
    if (former.maxOnTrial === undefined && maxOnTrial === undefined) return { ...kept, ...longest };
    return { ...kept, ...longest, ...some({ maxOnTrial: fewestOnTrial(former, now) }) };
  }
  const [full, other] = was === null ? [former, now] : [now, former];
  if (leastAmount(full.maxUnavailable, other.maxUnavailable) === 1) return { ...kept, probation: FULL_PROBATION };
  return { probation: trial, maxOnTrial: leastAmount(full.maxUnavailable, widestOnTrial(other)) };
}

/** The bound where it is not set is the larger of a share and of `maxUnavailable`. Undefined where it need not be set. */
function fewestOnTrial(former: RolloutSpec, now: RolloutSpec): RolloutSpec['maxOnTrial'] {
  const { maxOnTrial: was } = former;
  const { maxOnTrial: is, maxUnavailable } = now;
  if (was === undefined && is !== undefined && leastAmount(former.maxUnavailable, is) === is) return is;
  if (was !== undefined && is === undefined) {
    if (leastAmount(maxUnavailable, was) === was) return was;
    const isAbove = [maxUnavailable, DEFAULT_MAX_ON_TRIAL].every((each) => leastAmount(was, each) === each);
    if (isAbove) return undefined;
  }
  return leastAmount(widestOnTrial(former), widestOnTrial(now));
}

const widestOnTrial = ({ maxOnTrial, maxUnavailable }: RolloutSpec): RolloutSpec['maxUnavailable'] => {
  if (maxOnTrial !== undefined) return maxOnTrial;
  const isShare = typeof maxUnavailable === 'string' && !maxUnavailable.includes(',');
  return isShare && leastAmount(maxUnavailable, DEFAULT_MAX_ON_TRIAL) === DEFAULT_MAX_ON_TRIAL
    ? maxUnavailable
    : DEFAULT_MAX_ON_TRIAL;
};

/**
 * Canaries that are asked for by either. Those that the former names stay, and are as many as the fewer of both. Where only one asks for
 * them, they are no more than the first step of the other.
 */
function canaryIn(former: RolloutSpec, now: RolloutSpec): CanarySpec | undefined {
  const [was, is] = [former.canary, now.canary];
  if (was === undefined) return is && within(is, former.steps);
  if (is === undefined) return within(was, now.steps);
  const isOneOfClasses = (was.perClass === true) !== (is.perClass === true);
  const fewest = was.nodes === undefined ? is.nodes : is.nodes && leastAmount(was.nodes, is.nodes);
  const nodes = isOneOfClasses ? 1 : (fewest ?? was.nodes);
  const perClass = was.perClass === true && is.perClass === true ? true : undefined;
  const selector = was.selector === undefined || sameSelector(was, is) ? is.selector : was.selector;
  const soaks = [was.soak ?? former.soak, is.soak ?? now.soak] as const;
  const soak = msOf(soaks[0]) > msOf(soaks[1]) ? soaks[0] : is.soak;
  const pause = was.pause === true ? true : is.pause;
  const isSame = nodes === is.nodes && (perClass ?? false) === (is.perClass ?? false) && selector === is.selector;
  return isSame && soak === is.soak && pause === is.pause
    ? is
    : { ...some({ nodes, perClass, selector, soak, pause }) };
}

function within(canary: CanarySpec, steps: readonly RolloutStep[] = []): CanarySpec {
  const sizes = [canary, ...steps].flatMap(({ nodes }) => nodes ?? []);
  if (sizes.length === 0) return canary;
  const nodes = sizes.reduce((one, other) => leastAmount(one, other));
  return nodes === canary.nodes ? canary : { ...canary, nodes };
}

const sameSelector = (one: CanarySpec, other: CanarySpec): boolean =>
  JSON.stringify(one.selector) === JSON.stringify(other.selector);

/** Every step of both: after each, the next one of either is the nearer of theirs. */
function stepsIn(former: RolloutSpec, now: RolloutSpec, soak: string): readonly RolloutStep[] | undefined {
  const [was, is] = [former.steps ?? [], now.steps ?? []];
  const kept = is.map((step) => {
    const same = was.find(({ nodes }) => nodes === step.nodes);
    const asked = same === undefined ? '0s' : (same.soak ?? former.soak);
    return {
      ...step,
      ...(msOf(asked) > msOf(step.soak ?? soak) && { soak: asked }),
      ...(same?.pause === true && { pause: true }),
    };
  });
  const more = was.filter(({ nodes }) => !is.some((step) => step.nodes === nodes));
  return more.length === 0 && equal(kept, is) ? now.steps : [...kept, ...more];
}

/** Trials as long as the longer of both, also after the canaries, and no more patient. */
function stricterTrial(former: Limits, now: KubeletPoolSpec, rollout: Partial<RolloutSpec>): Partial<PoolTrialSpec> {
  const [was, is] = [former.trial, now.trial];
  const found: PoolTrialSpec = {
    ...is,
    duration: longer(was.duration, is.duration),
    startTimeout: msOf(was.startTimeout) < msOf(is.startTimeout) ? was.startTimeout : is.startTimeout,
    maxRestarts: Math.min(was.maxRestarts, is.maxRestarts),
  };
  const afterIn = (limits: Pick<Limits, 'rollout' | 'trial'>): string => trialTermsOf(limits).afterCanary.duration;
  const asked = longer(afterIn(former), afterIn(now));
  const has = afterIn({ rollout: { ...now.rollout, ...rollout }, trial: found });
  return msOf(asked) > msOf(has) ? { ...found, durationAfterCanary: asked } : found;
}
