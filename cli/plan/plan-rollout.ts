import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { selectorMatches } from '#reconciler/policy/pool-selection/selector.ts';
import {
  type FailsAfter,
  forecast,
  type Forecast,
  type Rollout,
  type ForecastTerms,
} from '#reconciler/policy/forecast/forecast.ts';
import { RESTART_MS, spreadOf } from '#reconciler/policy/forecast/duration-range.ts';
import {
  divideIntoStages,
  type StageOf,
  type StageShape,
  withCanariesFirst,
} from '#reconciler/policy/forecast/stages.ts';
import type { ForecastNode } from '#reconciler/policy/forecast/waiting.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { limitOf, shareOf, thresholdOf } from '#reconciler/policy/rollout/amount.ts';
import { isControlPlane } from '#reconciler/policy/rollout/quorum.ts';
import { mostOnTrial } from '#reconciler/policy/rollout/on-trial.ts';
import { probationOf, trialTermsOf } from '#reconciler/policy/rollout/trial-terms.ts';
import { stepsFor } from '#reconciler/policy/rollout/waves.ts';
import { classFor } from '../class-of-node.ts';
import type { InventoryNode } from '../inventory/inventory-node.ts';
import type { RolloutPlan } from './merge-plan.ts';
import { blastRadiusOf } from './fault-reach.ts';
import { type Absent, inOrder, NOT_READY, type OverallBound, whoCanBegin, zoneIn } from './who-can-begin.ts';

/** A rollout as the files and the inventory say it. */
export interface PlannedRollout {
  readonly budget: number;
  readonly stages: readonly StageOf<InventoryNode>[];
  /** For restarts that take so long. */
  readonly rollout: (restartMs: Millis) => Rollout;
  readonly takenOver: ReadonlySet<string>;
  readonly refuses: ReadonlySet<string>;
  /** What keeps those that cannot begin now. */
  readonly absent: readonly Absent[];
  /** Of these, what nobody else begins without, from some stage on. */
  readonly waitsFor: readonly Absent[];
}

/** What is known of the nodes and of the config besides. */
interface RolloutFacts {
  /** Names of those that run their config already: they are not restarted, have no trial, and soak in nothing. */
  readonly takenOver?: ReadonlySet<string>;
  /** Names of those that keep what they have, because their kubelets would refuse the config. */
  readonly held?: ReadonlySet<string>;
  /** Names of those that would refuse it when they are told of it. */
  readonly refuses?: ReadonlySet<string>;
  /** Why the reconciler does not tell others of it, by name. */
  readonly kept?: ReadonlyMap<string, string>;
  /** The pool has the config already, and only nodes are new to it. */
  readonly isProven?: boolean;
}

/**
 * @param members all nodes of the pool
 * @param touched those of them that change
 * @param overall of all pools together; null for no bound
 */
export function plannedRollout(
  pool: ValidPool,
  members: readonly InventoryNode[],
  touched: readonly InventoryNode[],
  overall: OverallBound | null,
  { takenOver = new Set(), held = new Set(), refuses = new Set(), kept, isProven = false }: RolloutFacts = {},
): PlannedRollout {
  const { rollout } = pool.spec;
  const own = limitOf(rollout.maxUnavailable, members.length);
  const changes = touched.filter(({ name }) => !held.has(name));
  const able = members.filter(({ name }) => !held.has(name));
  const { able: ordered, places, placesIn, blocking, explain } = whoCanBegin(rollout, members, changes, overall, kept);
  const { stages, lacking, candidates } = stagesOf(pool, members, able, changes, ordered, isProven);
  const begins = new Set(ordered);
  const absent = changes.filter((node) => !begins.has(node));
  const isFirst = changes.length === able.length && !isProven;
  const classOf = isPerClass(pool) ? classNameIn(pool) : () => undefined;
  const asForecast = (node: InventoryNode): ForecastNode => ({
    name: node.name,
    zone: zoneIn(node),
    isControlPlane: isControlPlane(node.labels),
    ready: node.ready,
    className: classOf(node),
  });
  const waves = stages.map(({ name, items, isFixed, soakMs }, index) => ({
    nodes: items.map(asForecast),
    isFixed,
    // Who waits for its zone is overtaken by the next that would be a canary.
    ...((name === 'canary' || (index === 0 && isFirst)) && {
      candidates: candidates.map(asForecast),
      isUntilProven: name !== 'canary',
    }),
    soakMs: (items.length > 0 ? items : ordered).every(({ name }) => takenOver.has(name)) ? 0 : soakMs,
  }));
  const { full, afterCanary } = trialTermsOf(pool.spec);
  const terms = (restartMs: Millis): ForecastTerms => ({
    places,
    placesIn,
    mostOnTrial: mostOnTrial(rollout, members.length),
    canaries: canariesIn(pool, able),
    isProven,
    restartMs,
    trialMs: { full: parseDuration(full.duration) ?? 0, afterCanary: parseDuration(afterCanary.duration) ?? 0 },
    probationMs: probationOf(rollout),
    soakMs: parseDuration(rollout.soak) ?? 0,
    settled: 0,
    failed: 0,
    threshold: Math.min(thresholdOf(rollout.onFailure.threshold, members.length), Math.max(1, own)),
    takenOver,
    refuses,
  });
  return {
    budget: places.free,
    stages,
    rollout: (restartMs) => ({ terms: terms(restartMs), stages: waves }),
    takenOver,
    refuses,
    absent: explain(absent),
    waitsFor: ordered.length === 0 ? blocking : explain(lacking),
  };
}

/**
 * The order in which the reconciler starts on nodes, and how long that takes, where nothing is in the way: canaries and
 * steps first, within the budgets of the pool and of its zones, nodes of the control plane one at a time. Windows are not
 * looked at; `simulate` does that.
 */
export function planRollout(
  { budget, stages, rollout, takenOver, refuses, absent, waitsFor }: PlannedRollout,
  untimed: RolloutPlan['untimed'] = [],
): RolloutPlan {
  const usual = forecast(rollout(RESTART_MS));
  const times = spreadOf((restartMs) => (restartMs === RESTART_MS ? usual : forecast(rollout(restartMs))).soakedMs);
  const begun = usual.turns.flat().map(({ name }) => name);
  // Who is not Ready has begun, and its wave is never over.
  const unproven = usual.turns.flat().filter(({ ready }) => !ready);
  const stuck =
    usual.soakedMs === null && unproven.length > 0 ? [{ nodes: namesOf(unproven), because: NOT_READY }] : [];
  const awaited = [...waitsFor, ...stuck];
  const isTried = begun.some((name) => !takenOver.has(name));
  const withFault = (fails: FailsAfter): Forecast => forecast({ ...rollout(RESTART_MS), failsAfter: fails });
  return {
    budget,
    stages: begunIn(stages, begun),
    waves: usual.turns.map(namesOf),
    ...(times ?? { expectedMs: 0, quickMs: 0, slowMs: 0 }),
    untimed,
    ...(absent.length > 0 && { absent }),
    ...(awaited.length > 0 && { waitsFor: awaited }),
    ...(usual.isStopped && { stoppedBy: begun.filter((name) => refuses.has(name)) }),
    worth: isTried && times !== null && !usual.isStopped ? blastRadiusOf(begun, withFault) : [],
  };
}

/** Who begins in which stage; where not everybody does, who would if it could. Stages without nodes are left out. */
function begunIn(stages: readonly StageOf<InventoryNode>[], begun: readonly string[]): RolloutPlan['stages'] {
  let from = 0;
  return stages.flatMap(({ name, items }) => {
    const nodes = begun.slice(from, from + items.length);
    from += items.length;
    const all = nodes.length < items.length ? namesOf(items) : nodes;
    return all.length === 0 ? [] : [{ name, nodes: all }];
  });
}

/**
 * Each stage ends when so many of the pool's nodes run the config; those that run it already count. One that does not find enough nodes
 * is the last one.
 */
function stagesOf(
  pool: ValidPool,
  all: readonly InventoryNode[],
  members: readonly InventoryNode[],
  touched: readonly InventoryNode[],
  ordered: readonly InventoryNode[],
  isProven: boolean,
): {
  readonly stages: readonly StageOf<InventoryNode>[];
  readonly lacking: readonly InventoryNode[];
  readonly candidates: readonly InventoryNode[];
} {
  const { rollout } = pool.spec;
  const { canary } = rollout;
  const soakMs = (own: string | undefined): Millis => parseDuration(own ?? rollout.soak) ?? 0;
  const share = (amount: Amount): number => shareOf(amount, members.length);
  const canaries = ((): StageShape<InventoryNode>['who'] | undefined => {
    const selector = canary?.selector;
    const upTo = canary?.nodes === undefined ? undefined : share(canary.nodes);
    if (selector !== undefined)
      return { only: ({ labels }) => selectorMatches(selector, labels), ...(upTo === undefined ? {} : { upTo }) };
    if (canary?.nodes === undefined) return undefined;
    if (!isPerClass(pool)) return { upTo: share(canary.nodes) };
    return { ofClasses: roomOfClasses(pool, canary.nodes, members, touched), classOf: classNameIn(pool) };
  })();
  const first: readonly StageShape<InventoryNode>[] = [
    ...(canaries === undefined ? [] : [{ name: 'canary', soakMs: soakMs(canary?.soak), who: canaries }]),
    ...stepsFor(rollout, members.length).map(({ nodes, soak }, index) => ({
      name: `step ${index + 1}`,
      soakMs: soakMs(soak),
      who: { upTo: nodes },
    })),
  ];
  // What is proven goes in no wave.
  const shapes = [
    ...(isProven ? [] : first),
    { name: 'rest', soakMs: soakMs(undefined), who: { upTo: members.length } },
  ];
  const begun = members.length - touched.length;
  const classOf = pool.template === undefined ? (): string => '' : classNameIn(pool);
  // Who cannot begin now counts in the median age all the same.
  const begins = new Set(ordered);
  const able = inOrder(all, classOf).filter((node) => begins.has(node));
  const divide = (nodes: readonly InventoryNode[]): readonly StageOf<InventoryNode>[] => {
    const candidates = [...able, ...nodes.slice(ordered.length)];
    return divideIntoStages(shapes, begun, withCanariesFirst(shapes, begun, nodes, candidates));
  };
  const divided = divide(ordered);
  const whole = divide([...ordered, ...awaited(pool, members, touched, ordered)]);
  const isShort = (at: number): boolean => (whole[at]?.items.length ?? 0) > (divided[at]?.items.length ?? 0);
  const short = divided.findIndex(
    (_, at) => isShort(at) && divided.slice(at + 1).some(({ items }) => items.length > 0),
  );
  if (short < 0) return { stages: divided, lacking: [], candidates: able };
  const present = new Set(divided[short]?.items);
  return {
    stages: divided.slice(0, short + 1),
    lacking: (whole[short]?.items ?? []).filter((node) => !present.has(node)),
    candidates: able,
  };
}

/** Who changes and cannot begin now; a class of which nobody can is not waited for. */
function awaited(
  pool: ValidPool,
  members: readonly InventoryNode[],
  touched: readonly InventoryNode[],
  ordered: readonly InventoryNode[],
): readonly InventoryNode[] {
  const [begins, changes] = [new Set(ordered), new Set(touched)];
  const others = touched.filter((node) => !begins.has(node));
  if (!isPerClass(pool)) return others;
  const classOf = classNameIn(pool);
  const asked = new Set(members.filter((node) => begins.has(node) || !changes.has(node)).map(classOf));
  return others.filter((node) => asked.has(classOf(node)));
}

const isPerClass = ({ spec: { rollout }, template }: ValidPool): boolean =>
  rollout.canary?.perClass === true && template !== undefined;

const classNameIn =
  (pool: ValidPool) =>
  (node: InventoryNode): string =>
    classFor(pool, node).class.name;

/** So many of each class; those of it that run their config already count. */
function roomOfClasses(
  pool: ValidPool,
  nodes: Amount,
  members: readonly InventoryNode[],
  left: readonly InventoryNode[],
): ReadonlyMap<string, number> {
  const others = new Set(left);
  return new Map(
    [...Map.groupBy(members, classNameIn(pool))].map(([name, own]) => [
      name,
      shareOf(nodes, own.length) - own.filter((node) => !others.has(node)).length,
    ]),
  );
}

/** As many as there are canaries have to promote the config before the bound of what is on trial grows. */
function canariesIn(pool: ValidPool, members: readonly InventoryNode[]): number {
  const { nodes, selector } = pool.spec.rollout.canary ?? {};
  if (selector !== undefined) {
    const matching = members.filter(({ labels }) => selectorMatches(selector, labels)).length;
    return Math.max(1, nodes === undefined ? matching : Math.min(matching, shareOf(nodes, members.length)));
  }
  if (nodes === undefined) return 1;
  if (!isPerClass(pool)) return shareOf(nodes, members.length);
  const sizes = new Map<string, number>();
  for (const node of members) {
    const { class: each, pool: given } = classFor(pool, node);
    // A class without a config has no canaries.
    if (given !== undefined) sizes.set(each.name, (sizes.get(each.name) ?? 0) + 1);
  }
  const asked = [...sizes.values()].reduce((sum, size) => sum + shareOf(nodes, size), 0);
  return asked === 0 ? shareOf(nodes, members.length) : asked;
}

const namesOf = (nodes: readonly { readonly name: string }[]): readonly string[] => nodes.map(({ name }) => name);
