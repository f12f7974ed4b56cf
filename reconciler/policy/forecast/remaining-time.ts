import type { RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { ABSENCE_REASONS } from '../participation.ts';
import type { PayloadClass } from '../payload-classes.ts';
import { limitOf } from '../rollout/amount.ts';
import { isControlPlane } from '../rollout/quorum.ts';
import { haltThreshold } from '../rollout/halt.ts';
import { type HoldReason } from '../rollout/holds/hold.ts';
import { isConfigurable, isUnavailable, type Member, soakOf } from '../rollout/membership.ts';
import { canaryCount } from '../rollout/canaries.ts';
import { mostOnTrial, type OnTrial } from '../rollout/on-trial.ts';
import { inChangeOrder, zoneOf } from '../rollout/node-order.ts';
import type { Places } from '../rollout/places.ts';
import { probationOf, trialTermsOf } from '../rollout/trial-terms.ts';
import type { GroupPlan } from '../plan-nodes.ts';
import { canBeChanged } from '../rollout/readiness.ts';
import { healthySince, type Wave, wavesOf } from '../rollout/waves.ts';
import { cohortOf } from '../rollout/cohort.ts';
import { forecast, type Stage, type ForecastTerms, type Underway } from './forecast.ts';
import { type Spread, spreadOf } from './duration-range.ts';
import { divideIntoStages, type StageShape, withCanariesFirst } from './stages.ts';
import type { ForecastNode } from './waiting.ts';

/** How long a rollout will still take, if all goes well; or why that is unknown. */
export type RemainingTime =
  /** `until`: the wave after which it waits for a person; absent where it goes on to its end. */
  | ({ readonly is: 'time'; readonly until?: string } & Spread)
  /** All have promoted it, and the last ones soak for so long. */
  | { readonly is: 'soak'; readonly ms: Millis }
  /** `because` is a sentence without its full stop. */
  | { readonly is: 'unknown'; readonly because: string };

/** Holds that end by themselves as the rollout goes on, or that it does not wait for. */
const PASSING: ReadonlySet<HoldReason> = new Set([
  'budget',
  'zone-budget',
  'overall-budget',
  'control-plane',
  'wave',
  ...ABSENCE_REASONS,
]);

const IS_ABSENCE: ReadonlySet<HoldReason> = new Set(ABSENCE_REASONS);

/**
 * The time that is left of a rollout under way. Pure.
 *
 * @param onTrial   what is on trial in the group now
 * @param elsewhere how many nodes of this pool may be unavailable by the cluster's bound; Infinity for none
 * @returns null where no rollout is under way
 */
export function remainingTimeOf(
  { group, memory, decisions }: GroupPlan,
  onTrial: Pick<OnTrial, 'allowed'> | undefined,
  elsewhere: number,
  now: Millis,
): RemainingTime | null {
  const { pool } = group;
  const { rollout, halt } = memory;
  if (pool === null || rollout === null || rollout.finishedAt !== undefined) return null;
  if (halt !== null) return { is: 'unknown', because: 'the pool is halted' };
  const stop = decisions.flatMap(({ verdict }) =>
    verdict.verdict === 'hold' && !PASSING.has(verdict.hold) ? [verdict.because] : [],
  )[0];
  if (stop !== undefined) return { is: 'unknown', because: stop };
  const stopped = rollout.waves.find(({ state }) => state === 'stopped');
  if (stopped !== undefined) {
    return { is: 'unknown', because: `too many nodes of ${stopped.name} failed or are not Ready for it to end` };
  }

  const { spec } = pool;
  const targeted = group.members.filter(isConfigurable);
  const { members } = cohortOf(targeted, rollout, spec.rollout.canary);
  const able = members.filter((member) => isWaiting(member) && canBeChanged(member, spec.rollout));
  const inOrder = (first?: (member: Member) => boolean): readonly Member[] =>
    inChangeOrder(
      able.map((member) => ({ member })),
      now,
      first,
    ).map(({ member }) => member);
  const waiting = inOrder();
  const underway = members.filter(isUnderway);
  const done = members.filter((member) => member.lifecycle.updated && !isUnderway(member));
  const failed = members.filter(({ lifecycle }) => lifecycle.failed).length;
  const shutAmong = (nodes: readonly Member[]): number =>
    nodes.filter((member) => isUnavailable(member) && !isUnderway(member) && !isDraining(member)).length;
  const shut = shutAmong(group.members);
  const perZone = spec.rollout.maxUnavailablePerZone;
  const zones = [...Map.groupBy(group.members, zoneOf)];
  const limit = limitOf(spec.rollout.maxUnavailable, group.members.length);
  const placesIn = new Map(
    zones.map(([zone, nodes]): [string, Places] => {
      const most = perZone === undefined ? Infinity : limitOf(perZone, nodes.length);
      return [zone, { free: most - shutAmong(nodes), forNotReady: most }];
    }),
  );
  const trials = trialTermsOf(spec);
  const isProven = onTrial?.allowed === Infinity;
  const isOpen = ({ name }: Wave): boolean =>
    !rollout.waves.some((each) => each.name === name && each.state === 'done');
  const waves = wavesOf(spec.rollout, members).filter(isOpen);
  const terms = (restartMs: Millis): ForecastTerms => ({
    places: { free: Math.min(limit, elsewhere) - shut, forNotReady: limit },
    placesIn: (zone) => placesIn.get(zone) ?? NO_BOUND,
    mostOnTrial: mostOnTrial(spec.rollout, group.members.length),
    canaries: canaryCount(spec.rollout, targeted),
    isProven,
    restartMs,
    trialMs: {
      full: parseDuration(trials.full.duration) ?? 0,
      afterCanary: parseDuration(trials.afterCanary.duration) ?? 0,
    },
    probationMs: probationOf(spec.rollout),
    soakMs: isProven ? Math.max(soakOf(pool), ...waves.map(({ soakMs }) => soakMs)) : soakOf(pool),
    settled: done.length,
    failed,
    reduced: rollout.reduced,
    threshold: haltThreshold(group),
    takenOver: new Set(waiting.filter(({ runsTarget }) => runsTarget).map(({ node }) => node.name)),
  });
  // What is proven goes in no wave, and all of them soak at once.
  const stages = stagesLeft(isProven ? waves.slice(-1) : waves, [waiting, inOrder(() => true)], members, rollout);
  const last = Math.max(...done.map((member) => healthySince(member) ?? -Infinity)) - now;
  const ask = (restartMs: Millis): ReturnType<typeof forecast> =>
    forecast({
      terms: terms(restartMs),
      stages,
      underway: underway.map((member) => underwayOf(member, terms(restartMs), now)),
      lastPromotedMs: last,
    });
  if (waiting.length === 0 && underway.every(({ lifecycle }) => lifecycle.updated)) {
    const ms = Math.max(0, ask(0).soakedMs ?? 0);
    const absent = members.filter((member) => healthySince(member) === null && !member.lifecycle.failed);
    if (ms > 0 || absent.length === 0) return { is: 'soak', ms };
    const names = firstFew(absent.map(({ node }) => node.name));
    return { is: 'unknown', because: `it waits for nodes that cannot take part now: ${names}` };
  }
  const spread = spreadOf((restartMs) => ask(restartMs).soakedMs);
  const until = stages.find(({ isPaused }) => isPaused === true)?.name;
  if (spread !== null) return { is: 'time', ...spread, ...(until === undefined ? {} : { until }) };
  const holds = decisions.flatMap(({ verdict }) => (verdict.verdict === 'hold' ? [verdict] : []));
  // What keeps one node keeps no other: the reason that names those in the way comes first.
  const held = holds.find((each) => !IS_ABSENCE.has(each.hold)) ?? holds[0];
  return { is: 'unknown', because: held?.because ?? 'no node may begin as things stand' };
}

/** By a leader before this one, who saw its nodes prove it. */
const isApproved = ({ waves }: RolloutStatus, wave: string): boolean =>
  waves.some(({ name, approvedAt }) => name === wave && approvedAt !== undefined);

/** It was told the payload and is not done with it: on trial, or soaking. */
function isUnderway(member: Member): boolean {
  const { shown } = member.lifecycle;
  return shown === 'updating' || shown === 'soaking';
}

const isWaiting = (member: Member): boolean => member.lifecycle.mayBeTold && !member.lifecycle.updated;

/** Its place is its own already. */
const isDraining = (member: Member): boolean => member.node.drain !== undefined && member.lifecycle.mayBeTold;

const nodeOf = (member: Member): ForecastNode => ({
  name: member.node.name,
  zone: zoneOf(member),
  isControlPlane: isControlPlane(member.node.labels),
  // One that is on its way is not while its kubelet restarts.
  ready: member.node.ready || isUnderway(member),
});

const NO_BOUND: Places = { free: Infinity, forNotReady: Infinity };

/** What is left to do on an assigned node, by what its agent reports of its trial. */
function underwayOf(member: Member, { restartMs, trialMs, probationMs, soakMs }: ForecastTerms, now: Millis): Underway {
  const { kubeletNode, promotedAt = now } = member;
  const node = nodeOf(member);
  if (member.lifecycle.updated) {
    const promotesMs = promotedAt - now;
    return { node, passesMs: promotesMs, promotesMs, releasesMs: promotesMs + soakMs };
  }
  const { upMs, healthyMs, durationMs } = progressOf(kubeletNode, { restartMs, trialMs }, now);
  const promotesMs = upMs + Math.max(0, durationMs - healthyMs);
  const passesMs = upMs + Math.max(0, (probationMs ?? 0) - healthyMs);
  return { node, passesMs, promotesMs, releasesMs: promotesMs + soakMs };
}

/** How far an assigned node is with its trial. */
interface Progress {
  /** From now until its kubelet is up with the config. */
  readonly upMs: Millis;
  readonly healthyMs: Millis;
  /** How long it has to be healthy in all. */
  readonly durationMs: Millis;
}

function progressOf(
  kubeletNode: Member['kubeletNode'],
  { restartMs, trialMs }: Pick<ForecastTerms, 'restartMs' | 'trialMs'>,
  now: Millis,
): Progress {
  const { spec = {}, status: { trial } = {} } = kubeletNode ?? {};
  if (!trial || trial.awaitsReboot !== undefined) {
    const told = spec.trial && parseDuration(spec.trial.duration);
    return { upMs: restartMs, healthyMs: 0, durationMs: told ?? trialMs.full };
  }
  // Its agent does not say each second how long it has been healthy.
  const since = (trial.restarts === 0 ? fromTimestamp(trial.since) : undefined) ?? now;
  const startsMs = since + restartMs - now;
  const seenMs = trial.healthySeconds * 1000;
  return {
    upMs: seenMs > 0 ? 0 : Math.max(0, startsMs),
    healthyMs: Math.max(seenMs, -startsMs),
    durationMs: trial.durationSeconds * 1000,
  };
}

/** Waves that are not done, with the nodes that have yet to begin in each; the present one also without any. */
function stagesLeft(
  waves: readonly Wave[],
  [waiting, candidates]: readonly [waiting: readonly Member[], candidates: readonly Member[]],
  members: readonly Member[],
  rollout: RolloutStatus,
): readonly (Stage & Pick<Wave, 'name'>)[] {
  const classOf = ({ payloadClass }: Member): PayloadClass | undefined => payloadClass;
  const begun = Map.groupBy(
    members.filter((member) => !isWaiting(member)),
    classOf,
  );
  const shapes = waves.map(({ name, soakMs, pause = false, only, ofClasses, nodes }): StageShape<Member> => {
    const isPaused = pause && nodes < members.length && !isApproved(rollout, name);
    const shape = { name, soakMs, isPaused };
    if (only !== undefined) return { ...shape, who: { only } };
    if (ofClasses === undefined) return { ...shape, who: { upTo: nodes } };
    const room = new Map([...ofClasses].map(([of, most]) => [of, most - (begun.get(of)?.length ?? 0)]));
    return { ...shape, who: { ofClasses: room, classOf } };
  });
  const had = members.length - waiting.length;
  const ordered = withCanariesFirst(shapes, had, waiting, candidates);
  return divideIntoStages(shapes, had, ordered).map(({ items, ...stage }) => ({
    ...stage,
    nodes: items.map(nodeOf),
  }));
}
