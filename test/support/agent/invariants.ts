import type { Failure } from '#agent/decide/failure.ts';
import { DEFAULT_TIMING } from '#agent/decide/timing.ts';
import { targetIdOf, trialIdOf } from '#agent/decide/trial-guard.ts';
import { activeOf, nameOf, rejectionOf, sameConfig, type Target } from '#agent/decide/state.ts';
import { restartNeeded } from '#agent/decide/restart-turn.ts';
import { checkpointOf } from './model/execute.ts';
import { sameFiles } from './model/files.ts';
import type { Fate } from './model/host.ts';
import type { Ledger } from './model/ledger.ts';
import type { Turn, World } from './model/world.ts';

/** @returns in words what is wrong; undefined where it holds */
type Invariant = (turn: Turn, world: World, ledger: Ledger) => string | undefined;
type RestInvariant = (world: World, ledger: Ledger) => string | undefined;

const BAD: readonly Fate[] = ['dies', 'hangs', 'shadowed', 'refused'];

/** The kubelet is never restarted while it is healthy with the very files that it is restarted for. */
const noRestartWithoutReason: Invariant = ({ decision: { actions } }, world, ledger) => {
  const { kubelet, files } = world;
  const order = actions.find((action) => action.do === 'restart-kubelet');
  if (order === undefined || !kubelet.isHealthy() || ledger.isUnsettled(world)) return undefined;
  const isPointless = sameFiles(kubelet.read(), files.asFor(order.target));
  return isPointless
    ? `it is restarted for ${nameOf(order.target)}, which it runs already: ${order.because}`
    : undefined;
};

/**
 * A node that is up to date and at rest, with a healthy kubelet, is left at rest: unless the reconciler granted a turn, and the kubelet
 * still is in the run that it was granted for.
 */
const noRestartWithoutTurn: Invariant = ({ before, seen: { intent, service }, decision: { next } }, world) => {
  const { kubelet, isUninstalling, grantedRun } = world;
  const isBegun = before.doing.phase === 'idle' && next.doing.phase !== 'idle';
  if (!isBegun || !kubelet.isHealthy() || isUninstalling() || intent.intent === 'local') return undefined;
  const isNew = intent.intent === 'config' && !sameConfig(intent.config, before.lastKnownGood);
  if (isNew || (grantedRun() !== undefined && grantedRun() === service.run)) return undefined;
  return `its kubelet is to be restarted without a turn: ${next.doing.phase}`;
};

/** Each event may cost so many restarts, and no more. */
const boundedRestarts: Invariant = (_turn, _world, ledger) =>
  ledger.orders() <= ledger.allowance()
    ? undefined
    : `${ledger.orders()} restarts were ordered, more than ${ledger.allowance()}`;

/** What failed on this node is not tried again, until something else was assigned. */
const rejectedIsNotTriedAgain: Invariant = ({ before, decision: { next } }, _world, ledger) => {
  const { doing } = next;
  if (doing.phase !== 'trial') return undefined;
  const isSame = before.doing.phase === 'trial' && trialIdOf(before.doing) === trialIdOf(doing);
  // What was good has to prove itself again over another base.
  if (sameConfig(before.lastKnownGood, doing.config)) return undefined;
  return !isSame && ledger.isRejected(doing.config) ? `${nameOf(doing.config)} is on trial again` : undefined;
};

/** The node's own config is in its place or put aside, at any time. */
const localIsNeverLost: Invariant = (_turn, { files }) =>
  files.isLocalSafe() ? undefined : 'there is no copy of the local config, and ours is in its place';

/** Only a kubelet that really was healthy for so long, in one run and one boot, makes its config the last known good one. */
const healthyTimeOnlyPromotes: Invariant = ({ before, decision: { next } }, _world, ledger) => {
  const good = next.lastKnownGood;
  if (good === null || before.doing.phase !== 'trial' || sameConfig(good, before.lastKnownGood)) return undefined;
  const trial = ledger.trial();
  const [healthyMs, durationMs] = [trial?.healthyMs ?? 0, good.trial.durationMs];
  return healthyMs >= durationMs ? undefined : `${nameOf(good)} was healthy for ${healthyMs} of ${durationMs} ms`;
};

const badIsNeverKnownGood: Invariant = ({ decision: { next } }, { fateOf }, ledger) => {
  if (ledger.hasLostTrack()) return undefined;
  const fate = fateOf(next.lastKnownGood);
  return BAD.includes(fate) ? `${nameOf(next.lastKnownGood)} is lastKnownGood, and ${fate}` : undefined;
};

/** A crash loop is made of crashes: boots and restarts by hand are none. */
const rebootIsNoCrash: Invariant = ({ before, seen, decision: { next } }, { kubelet }, ledger) => {
  const trial = ledger.trial();
  if (before.doing.phase !== 'trial' || trial === undefined || seen.guard.guard === 'fired') return undefined;
  const { config } = before.doing;
  const isNew = rejectionOf(next, config) !== rejectionOf(before, config);
  if (!isNew || rejectionOf(next, config)?.reason !== 'CrashLoop') return undefined;
  return kubelet.crashes() > trial.crashesBefore ? undefined : `${nameOf(config)} is a crash loop without a crash`;
};

/** A good config fails of what happens to it only: not of a reboot or two, wall clocks, the API server, or an agent that is back soon. */
const goodIsNotBlamed: Invariant = ({ before, decision: { next } }, { fateOf, kubelet }, ledger) => {
  const trial = ledger.trial();
  if (before.doing.phase !== 'trial' || trial === undefined) return undefined;
  const { config } = before.doing;
  const entry = rejectionOf(next, config);
  if (entry === undefined || entry === rejectionOf(before, config) || fateOf(config) !== 'good') return undefined;
  // A third time that nobody watches is one too many, and so is a third boot.
  const isTooMany = entry.reason === 'AgentSilent' || (entry.reason === 'MachineRebooted' && trial.boots > 2);
  const isExcused = trial.isDisturbed || isTooMany || (entry.reason === 'UnhealthyBefore' && kubelet.isWaiting());
  return isExcused ? undefined : `${nameOf(config)} is rejected for nothing: ${entry.reason}, ${entry.message}`;
};

/** The config is given up for silence only when it was tried again, twice. */
const silenceIsNoVerdict: Invariant = ({ before, decision: { next } }) => {
  if (before.doing.phase !== 'trial') return undefined;
  const { config, unwatched = 0 } = before.doing;
  const entry = rejectionOf(next, config);
  if (entry === undefined || entry === rejectionOf(before, config) || entry.reason !== 'AgentSilent') return undefined;
  return unwatched >= 2 ? undefined : `${nameOf(config)} is rejected after ${unwatched + 1} trials that nobody watched`;
};

/** Whoever stopped the kubelet starts it again, and nobody else does. */
const stoppedStaysStopped: Invariant = ({ decision: { actions } }, { kubelet }) =>
  kubelet.status().wasStopped === true && actions.some((action) => action.do === 'restart-kubelet')
    ? 'a kubelet that a person stopped is to be started'
    : undefined;

/** What waits for a server has read no config: nothing is to be had from starting it again, and nothing proven is given up meanwhile. */
const waitingIsLeftAlone: Invariant = ({ before, decision: { next, actions } }, { kubelet }) => {
  if (!kubelet.isWaiting()) return undefined;
  if (actions.some((action) => action.do === 'restart-kubelet'))
    return 'the program that waits for its server is restarted';
  const isGivenUp =
    before.doing.phase === 'falling-back' && before.error !== next.error && next.error?.reason === 'FallbackFailed';
  return isGivenUp ? 'what was proven is given up while no kubelet has begun' : undefined;
};

/** No kubelet is restarted for a trial that nobody would take back without the agent. */
const trialIsGuarded: Invariant = ({ decision: { next, actions } }, { guard, isGuarded }, ledger) => {
  const { doing } = next;
  const isOrdered = actions.some((action) => action.do === 'restart-kubelet');
  if (!isGuarded || !isOrdered || doing.phase !== 'trial') return undefined;
  const now = guard.look();
  if (now.guard !== 'armed' || now.trial !== trialIdOf(doing)) return `the guard is ${now.guard} for this trial`;
  // Where lastKnownGood is lost meanwhile, it leads to what was good before.
  return ledger.wasGood(now.to) && now.to !== targetIdOf(doing.config) ? undefined : `the guard leads to ${now.to}`;
};

/** At rest, what is wanted runs, was rejected, or is on its way; nothing is silently forgotten. */
const restIsAccountedFor: Invariant = ({ isSaved, seen, decision: { next, actions } }) => {
  const { intent } = seen;
  if (next.doing.phase !== 'idle' || intent.intent !== 'config' || sameConfig(intent.config, next.lastKnownGood))
    return undefined;
  const isOnItsWay = actions.length > 0 || next.error !== null || restartNeeded(next, seen) !== null;
  const isSaid = rejectionOf(next, intent.config) !== undefined || isOnItsWay || !isSaved;
  return isSaid ? undefined : `${nameOf(intent.config)} is wanted and forgotten`;
};

/** What is assigned and neither runs nor was rejected is not called Ready, whatever keeps it from being taken up. */
const readyIsTakenUp: Invariant = ({ seen, decision: { next, actions }, isSaved }, { account }) => {
  const { intent } = seen;
  if (intent.intent !== 'config' || sameConfig(intent.config, activeOf(next))) return undefined;
  const unsaved: Failure | null = isSaved ? null : { reason: 'CheckpointFailed', message: 'there is no room' };
  const told = { state: next, seen, actions, agentVersion: 'model', fault: null, diskProblems: [], unsaved };
  const ready = account(told).conditions.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? `${nameOf(intent.config)} is wanted, and it is Ready: ${ready.message}` : undefined;
};

/** A trial that cannot be installed, or whose kubelet cannot be restarted, ends: unless that is for want of room. */
const stepsEnd: Invariant = ({ decision: { next } }, _world, ledger) => {
  const { doing } = next;
  if (doing.phase !== 'trial') return undefined;
  const mostMs = doing.config.trial.startTimeoutMs + 3 * DEFAULT_TIMING.restartRetryMs + SLOW_MS;
  return ledger.stuckMs() > mostMs ? `its ${doing.change.step} goes on for ${ledger.stuckMs()} ms` : undefined;
};

/** Arming takes a dozen tries, and an order that failed for want of room is given again only after a while. */
const SLOW_MS = 120_000;

/** Without a turn only a kubelet is started that does not run, and that nobody is about to start. */
const onlyWhatIsDownIsStarted: Invariant = ({ decision: { actions } }, { kubelet }) => {
  const isStarted = actions.some((action) => action.do === 'start-kubelet');
  const { state } = kubelet.status();
  return isStarted && state !== 'failed' && state !== 'stopped'
    ? `a kubelet is to be started that is ${state}`
    : undefined;
};

/** Held to whenever the agent has decided, before anything of it is done. */
export const AT_EVERY_DECISION = {
  noRestartWithoutReason,
  noRestartWithoutTurn,
  boundedRestarts,
  rejectedIsNotTriedAgain,
  localIsNeverLost,
  healthyTimeOnlyPromotes,
  badIsNeverKnownGood,
  rebootIsNoCrash,
  goodIsNotBlamed,
  silenceIsNoVerdict,
  stoppedStaysStopped,
  waitingIsLeftAlone,
  trialIsGuarded,
  restIsAccountedFor,
  readyIsTakenUp,
  stepsEnd,
  onlyWhatIsDownIsStarted,
} as const;

const guardArmedOnlyInTrial: Invariant = ({ isSaved, decision: { next } }, { guard }) => {
  if (!isSaved) return undefined;
  const isChanging = next.doing.phase === 'trial' || next.doing.phase === 'falling-back';
  const now = guard.look().guard;
  return isChanging || now === 'none' || now === 'disarmed' ? undefined : `the guard is ${now}, and nothing on trial`;
};

/** Held to when the agent has done what it decided. */
export const AFTER_EVERY_TURN = { guardArmedOnlyInTrial, localIsNeverLost } as const;

/** Whatever happened: once it is quiet, the node comes to rest, and does nothing any more. */
const comesToRest: RestInvariant = ({ state }) =>
  state().doing.phase === 'idle' ? undefined : `it is ${state().doing.phase} still`;

/** Somebody else changed the files, and all that can or may be done is to say so. */
const isOnlyReported = ({ state, files, kubelet, checkpoints, waitsInVain }: World): boolean => {
  const active = activeOf(state());
  if (waitsInVain()) return true;
  // Nobody knows any more what the files would have to be; the status says so.
  if (active !== null && !checkpoints.has(checkpointOf(active))) return true;
  if (active?.drift !== 'report') return false;
  return !files.isInstalled(active) || !sameFiles(kubelet.read(), files.now());
};

const assignedOrLastKnownGoodRuns: RestInvariant = (world, ledger) => {
  const { state, kubelet, fateOf } = world;
  // Then it is for the files to be right.
  if (isOnlyReported(world) || ledger.hasLostTrack()) return undefined;
  const { ours } = kubelet.read();
  const { assigned, lastKnownGood } = state();
  const isEither = [assigned, lastKnownGood].some((target) => sameConfig(target, ours));
  if (!isEither || !sameConfig(ours, activeOf(state()))) return `${nameOf(ours)} runs`;
  return kubelet.isHealthy() || fateOf(ours) === 'flaps' ? undefined : `${nameOf(ours)} runs, and is not healthy`;
};

const assignedIsTriedOrRejected: RestInvariant = (world, ledger) => {
  const { state, intent, isUninstalling, kubelet, fateOf } = world;
  if (isOnlyReported(world) || ledger.hasLostTrack()) return undefined;
  const wanted = intent();
  if (wanted.intent !== 'config' || isUninstalling()) return undefined;
  const { config } = wanted;
  const runs = sameConfig(kubelet.read().ours, config);
  if (runs) return BAD.includes(fateOf(config)) ? `${nameOf(config)} runs, and ${fateOf(config)}` : undefined;
  const isSaid = rejectionOf(state(), config) !== undefined && state().error !== null;
  return isSaid ? undefined : `${nameOf(config)} does not run, and nobody says why`;
};

const unassignEndsInLocal: RestInvariant = ({ state, intent, isUninstalling, kubelet, files }, ledger) => {
  if (intent().intent !== 'local' && !isUninstalling()) return undefined;
  const places: readonly Target[] = ledger.hasLostTrack() ? [] : [files.now().ours, kubelet.read().ours];
  const targets: readonly Target[] = [state().assigned, state().lastKnownGood, ...places];
  const left = targets.find((target) => target !== null);
  return left === undefined ? undefined : `${nameOf(left)} is still there`;
};

const uninstallLeavesNothing: RestInvariant = ({ isUninstalling, isUninstalled, checkpoints, records, guard }) => {
  if (!isUninstalling()) return undefined;
  if (!isUninstalled()) return 'it is not done';
  const left = [
    ...(checkpoints.size > 0 ? ['checkpoints'] : []),
    ...(records.isEmpty() ? [] : ['records']),
    ...(guard.look().guard === 'disarmed' || guard.look().guard === 'none' ? [] : ['the guard']),
  ];
  return left.length === 0 ? undefined : `${left.join(' and ')} were left behind`;
};

const filesAreAsMeant: RestInvariant = (world, ledger) => {
  const { state, files } = world;
  const active = activeOf(state());
  if (files.isInstalled(active) || isOnlyReported(world) || ledger.hasLostTrack()) return undefined;
  return `the files are not those of ${nameOf(active)}`;
};

/** A kubelet that is down for good is started with what it proved. */
const downIsStarted: RestInvariant = (world, ledger) => {
  const { state, kubelet, files, isUninstalling } = world;
  const { doing, lastKnownGood } = state();
  if (isOnlyReported(world) || ledger.hasLostTrack() || isUninstalling()) return undefined;
  const isOurs = doing.phase === 'idle' && lastKnownGood !== null && files.isInstalled(lastKnownGood);
  return isOurs && kubelet.status().state === 'failed' ? 'the kubelet is down, and nobody starts it' : undefined;
};

/** Held to when nothing has happened for long. */
export const AT_REST = {
  // Before what follows from it.
  downIsStarted,
  comesToRest,
  assignedOrLastKnownGoodRuns,
  assignedIsTriedOrRejected,
  unassignEndsInLocal,
  uninstallLeavesNothing,
  filesAreAsMeant,
} as const;

/** What the model itself, and the test of the wall clock, hold to. */
const OTHERS = ['neverSpins', 'clockJumpsChangeNothing'] as const;
export type InvariantName =
  | keyof typeof AT_EVERY_DECISION
  | keyof typeof AFTER_EVERY_TURN
  | keyof typeof AT_REST
  | (typeof OTHERS)[number];
