import type { Millis } from '#shared/runtime/clock.ts';
import type { ReducedBound } from '#shared/contract/api/kubelet-pool.ts';
import { allowedOnTrial } from '../rollout/on-trial.ts';
import { isFull, occupy, type Places } from '../rollout/places.ts';
import { type SimulatedClock, createSimulatedClock } from './simulated-clock.ts';
import { type ForecastNode, type WaitingNodes, waitingNodes } from './waiting.ts';

/** A wave of a rollout, with the nodes that have yet to begin in it, in order. */
export interface Stage {
  readonly nodes: readonly ForecastNode[];
  /** No other node begins in it. Otherwise it is a number: who has to wait for its zone is overtaken by nodes of later waves. */
  readonly isFixed?: boolean;
  /** Of the first stage: all who may begin in it instead, in the order in which canaries are chosen. Absent: those of later waves, in theirs. */
  readonly candidates?: readonly ForecastNode[];
  /** They begin in that order only until a node has promoted the payload. */
  readonly isUntilProven?: boolean;
  /** How long its nodes have to be healthy with the payload before the next one begins. */
  readonly soakMs: Millis;
}

/** A node that has begun, with what is to come of it. Times count from now; what is past is negative. */
export interface Underway {
  readonly node: ForecastNode;
  /** When it gives its place among the unavailable back. */
  readonly passesMs: Millis;
  readonly promotesMs: Millis;
  /** When it has soaked, and is on trial no more. */
  readonly releasesMs: Millis;
}

/** What bounds a rollout, and how long a node takes. */
export interface ForecastTerms {
  /** How many may become unavailable, without those that are for other reasons; and how many may be in change that are not Ready. */
  readonly places: Readonly<Places>;
  readonly placesIn: (zone: string) => Readonly<Places>;
  /** The bound of what is on trial at its widest, and the canaries that it begins with. */
  readonly mostOnTrial: number;
  readonly canaries: number;
  /** Nothing bounds who tries it: the pool has had it before. */
  readonly isProven: boolean;
  /** From the assignment until the kubelet is up. */
  readonly restartMs: Millis;
  readonly trialMs: { readonly full: Millis; readonly afterCanary: Millis };
  /** null where a node keeps its place until it has soaked. */
  readonly probationMs: Millis | null;
  readonly soakMs: Millis;
  /** Nodes that have the payload behind them: settled, and taken back. Both 0 before it begins. */
  readonly settled: number;
  readonly failed: number;
  /** What the failures have made of the bound; absent for nothing. */
  readonly reduced?: ReducedBound | undefined;
  /** So many failures stop it. */
  readonly threshold: number;
  /** Names of nodes that run the payload already: no trial, no soak. */
  readonly takenOver: ReadonlySet<string>;
  /** Names of those that refuse the payload as soon as they are told of it; absent for none. */
  readonly refuses?: ReadonlySet<string>;
}

/** After how much healthy time a node takes the payload back; null for never. */
export type FailsAfter = (node: string) => Millis | null;

/** What comes of a rollout. */
export interface Forecast {
  /** Who begins in the same moment, in order. */
  readonly turns: readonly (readonly ForecastNode[])[];
  /** From now until the last node has promoted, or failures stop it; null if no more nodes can begin. */
  readonly endMs: Millis | null;
  /** And until the last node has soaked. */
  readonly soakedMs: Millis | null;
  /** Failures stopped it. */
  readonly isStopped: boolean;
}

/** A rollout to foretell. */
export interface Rollout {
  readonly terms: ForecastTerms;
  readonly stages: readonly Stage[];
  /** Nodes that have begun. */
  readonly underway?: readonly Underway[];
  /** When the last of the nodes that have the payload behind them promoted it, from now. */
  readonly lastPromotedMs?: Millis;
  readonly failsAfter?: FailsAfter;
}

/** What decides whose turn it is to take a place that rollouts share (`rollout/pool-turns.ts`). */
interface Turn {
  held: number;
  last: Millis;
}

/**
 * When nodes begin, are past their probation, and promote, as `reconciler/policy/rollout` decides it: where restarts take what they
 * usually do, no window closes, nothing is blocked, and no node fails but by `failsAfter`. Pure.
 *
 * @param most how many more nodes of all these rollouts together may begin; they take places in turn
 */
export function forecastTogether(rollouts: readonly Rollout[], most: Readonly<Places>): readonly Forecast[] {
  const agenda = createSimulatedClock();
  const shared = { ...most };
  const ways = rollouts.map((rollout) => {
    const turn: Turn = { held: 0, last: -Infinity };
    return { turn, way: wayOf(rollout, agenda, shared, turn) };
  });
  const found = new Map<(typeof ways)[number], Forecast>();
  for (let goesOn = true; found.size < ways.length; goesOn = agenda.advanceToNext()) {
    const inTurn = ways.toSorted(({ turn: a }, { turn: b }) => a.held - b.held || a.last - b.last);
    for (const each of inTurn) {
      const step = found.has(each) ? undefined : each.way.next(goesOn);
      if (step?.done === true) found.set(each, step.value);
    }
  }
  return ways.flatMap((each) => found.get(each) ?? []);
}

/** The same of a single rollout. */
export function forecast(rollout: Rollout): Forecast {
  const agenda = createSimulatedClock();
  const way = wayOf(rollout, agenda, { free: Infinity, forNotReady: Infinity }, { held: 0, last: 0 });
  let step = way.next(true);
  while (step.done !== true) step = way.next(agenda.advanceToNext());
  return step.value;
}

/** Yields whenever it has to wait until something comes, and receives whether something did. */
function* wayOf(
  { terms, stages, underway = [], lastPromotedMs = -Infinity, failsAfter = () => null }: Rollout,
  agenda: SimulatedClock,
  shared: Places,
  turn: Turn,
): Generator<undefined, Forecast, boolean> {
  const { placesIn, restartMs, soakMs, probationMs, takenOver } = terms;
  const places = { ...terms.places };
  const zones = new Map<string, Places>();
  /** By when. */
  const turns = new Map<Millis, ForecastNode[]>();
  const started = new Set<string>();
  let [onTrial, masters, failures] = [0, 0, terms.failed];
  let reduced: ReducedBound | undefined = terms.reduced;
  let begun = 0;
  let [passed, promoted, ended, lastPromoted, lastReleased] = [terms.settled, terms.settled, 0, lastPromotedMs, 0];

  const boundsOf = ({ zone }: ForecastNode): readonly Places[] => {
    const own = zones.get(zone) ?? { ...placesIn(zone) };
    zones.set(zone, own);
    return [places, own, shared];
  };
  const hold = (node: ForecastNode, by: 1 | -1): void => {
    for (const each of boundsOf(node)) occupy(each, node, by);
    turn.held += by;
  };

  function follow({ node, passesMs, promotesMs, releasesMs }: Underway, failsMs: Millis): void {
    hold(node, 1);
    begun += 1;
    onTrial += 1;
    if (node.isControlPlane) masters += 1;
    const passes = probationMs === null || !node.ready ? releasesMs : Math.min(passesMs, promotesMs);
    const upTo = (time: Millis, come: () => void): void => {
      if (time <= failsMs) agenda.at(time, come);
    };
    upTo(passes, () => {
      hold(node, -1);
      if (node.ready) passed += 1;
    });
    upTo(promotesMs, () => {
      promoted += 1;
      turn.last = promotesMs;
      if (!node.ready) {
        passed += 1;
        return;
      }
      ended += 1;
      lastPromoted = Math.max(lastPromoted, promotesMs);
    });
    upTo(releasesMs, () => {
      onTrial -= 1;
      if (node.isControlPlane) masters -= 1;
    });
    if (failsMs >= promotesMs) {
      lastReleased = Math.max(lastReleased, releasesMs);
      return;
    }
    agenda.at(failsMs, () => {
      if (passes <= failsMs) {
        hold(node, 1);
        passed -= 1;
      }
      if (probationMs !== null) onTrial -= 1;
      failures += 1;
      ended += 1;
    });
  }

  function start(node: ForecastNode, trialMs: Millis): void {
    const up = agenda.now() + restartMs;
    if (takenOver.has(node.name)) {
      follow({ node, passesMs: up, promotesMs: up, releasesMs: up }, Infinity);
      return;
    }
    const failsMs = failsAfter(node.name) ?? Infinity;
    const promotesMs = up + trialMs;
    const isRefused = terms.refuses?.has(node.name) === true;
    const fails = isRefused ? agenda.now() : failsMs < trialMs ? up + failsMs : Infinity;
    follow({ node, passesMs: up + (probationMs ?? 0), promotesMs, releasesMs: promotesMs + soakMs }, fails);
  }

  for (const each of underway) follow(each, Infinity);
  agenda.advanceTo(0);
  let until = underway.length;
  const all = stages.reduce((sum, { nodes }) => sum + nodes.length, until);
  // The last wave goes on until they have begun, and nobody waits for it.
  const unprovable = stages.flatMap(({ nodes }) => nodes.filter(({ ready }) => !ready));
  const others = stages.flatMap(({ nodes, isFixed = false }) => (isFixed ? [] : nodes));
  let anybody: WaitingNodes | undefined;
  for (const [index, stage] of stages.entries()) {
    const { nodes, isFixed = false, candidates, isUntilProven = false, soakMs: stageSoakMs } = stage;
    until += nodes.length;
    const isLast = index === stages.length - 1;
    const late = isLast ? unprovable : [];
    const asked = until - late.length;
    const chosen = isFixed ? nodes : candidates;
    const own = chosen && waitingNodes(chosen);
    const canaries = candidates !== undefined && !isUntilProven ? chosen : undefined;
    const waiting = (): WaitingNodes =>
      own !== undefined && !(isUntilProven && promoted > 0) ? own : (anybody ??= waitingNodes(others.filter(isLeft)));
    while (isUnderwayUpTo(asked, isFixed) || late.some(isLeft)) {
      const { allowed, isProven } = boundNow();
      const trialMs = isProven ? terms.trialMs.afterCanary : terms.trialMs.full;
      while (begun < until + tolerated() && mayTry(allowed)) {
        const mayBegin = (node: ForecastNode): boolean =>
          hasPlace(node) &&
          !(node.isControlPlane && masters > 0) &&
          !(canaries !== undefined && isBehind(node, canaries));
        const next = waiting().take(mayBegin);
        if (next === undefined) break;
        start(next, trialMs);
        started.add(next.name);
        beginNow(next);
      }
      const goesOn = yield;
      if (!goesOn && !isUnderwayUpTo(asked, isFixed)) break;
      if (!goesOn) return { turns: begunTogether(), endMs: null, soakedMs: null, isStopped: failures > terms.failed };
      if (failures >= terms.threshold) {
        const endMs = agenda.now();
        return { turns: begunTogether(), endMs, soakedMs: endMs, isStopped: true };
      }
    }
    if (isLast) break;
    const soakedMs = lastPromoted + stageSoakMs;
    agenda.at(soakedMs, () => {});
    while (agenda.now() < soakedMs) yield;
  }
  const endMs = Math.max(0, lastPromoted);
  return { turns: begunTogether(), endMs, soakedMs: Math.max(agenda.now(), lastReleased), isStopped: false };

  function beginNow(node: ForecastNode): void {
    const turn = turns.get(agenda.now());
    if (turn === undefined) turns.set(agenda.now(), [node]);
    else turn.push(node);
  }

  function begunTogether(): Forecast['turns'] {
    return [...turns.values()];
  }

  function isLeft({ name }: ForecastNode): boolean {
    return !started.has(name);
  }

  /** Failures that the pool puts up with: another node begins in the place of each. */
  function tolerated(): number {
    return Math.max(0, Math.min(failures, terms.threshold - 1) - terms.failed);
  }

  /** A wave is over by nodes that have proven the payload; where nobody is left to try in the place of a failure, it does without. */
  function isUnderwayUpTo(nodes: number, isFixed: boolean): boolean {
    const left = (isFixed ? nodes : all) - tolerated();
    return ended - (failures - terms.failed) < Math.min(nodes, Math.max(1, left));
  }

  function mayTry(allowed: number): boolean {
    return onTrial < allowed;
  }

  function hasPlace(node: ForecastNode): boolean {
    return !boundsOf(node).some((each) => isFull(each, node));
  }

  /** A Ready node of its class is the canary as soon as one in change gives its place back (`decide-group.ts`). */
  function isBehind({ ready, className }: ForecastNode, canaries: readonly ForecastNode[]): boolean {
    const isReadyFirst = (each: ForecastNode): boolean => each.ready && each.className === className && isLeft(each);
    return !ready && turn.held > 0 && canaries.some(isReadyFirst);
  }

  function boundNow(): { readonly allowed: number; readonly isProven: boolean } {
    if (terms.isProven) return { allowed: Infinity, isProven: true };
    if (probationMs === null) return { allowed: Infinity, isProven: false };
    const counts = { promoted, passed, begun: terms.settled + begun - failures + terms.failed, failed: failures };
    const bound = allowedOnTrial(terms.mostOnTrial, terms.canaries, counts, reduced);
    ({ reduced } = bound);
    return bound;
  }
}
