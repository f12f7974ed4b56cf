import type { RecordName } from '#agent/checkpoint/write-order.ts';
import { targetIdOf, trialIdOf } from '#agent/decide/trial-guard.ts';
import { type Config, rejectionOf, sameConfig, type Trial } from '#agent/decide/state.ts';
import type { Observation } from '#agent/decide/observation.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { checkpointOf } from './execute.ts';
import type { Event } from './events.ts';
import { isOverBadBase } from './files.ts';
import type { Turn, World } from './world.ts';

/** What really was, beside what the agent has seen of it: what the invariants are held against. */
export interface Ledger {
  /** The present trial, or the one before. */
  readonly trial: () => TrueTrial | undefined;
  /** Configs whose rejection is on disk, while nothing else was wanted since. */
  readonly isRejected: (config: Config) => boolean;
  /**
   * At rest the agent could not know what the kubelet runs; or since then the kubelet was started by others, a record was lost, one trial took the place of
   * another, or somebody changed the files that the guard had restored while no agent was there: then the run that there is may be
   * another than the agent knows.
   */
  readonly isUnsettled: (world: World) => boolean;
  /** It was lastKnownGood once, by the guard's name for it; local always is. */
  readonly wasGood: (targetId: string) => boolean;
  /**
   * Nobody could tell what the kubelet runs, because nothing on the disk says so any more. Either lastKnownGood and another
   * record were lost at once: each alone follows from the others. Or lastKnownGood was lost when the others had been written half-way.
   * Or somebody changed the files that the guard had restored while no agent was there, and the one that came then could not write
   * down what it saw, because the disk was full.
   */
  readonly hasLostTrack: () => boolean;
  /**
   * How long an agent has been at one step of a trial while there was room on the disk. A restart waits for whoever stopped
   * the kubelet, and that does not count.
   */
  readonly stuckMs: () => Millis;
  readonly orders: () => number;
  /** How many restarts all that happened so far may cost. */
  readonly allowance: () => number;
  happened(event: Event, world: World): void;
  /** Before it is decided what follows from it; the agent may not live to do that. */
  look(seen: Observation): void;
  turn(turn: Turn, world: World): void;
  pass(until: Millis, world: World): void;
}

export interface TrueTrial {
  readonly id: string;
  readonly config: Config;
  /** The present boot and run of the kubelet. */
  run: string;
  /** How long the kubelet has been healthy with it in that run while an agent was there. */
  healthyMs: Millis;
  /** Of the machine, since it began. */
  boots: number;
  readonly crashesBefore: number;
  /** Something happened meanwhile that a good config may fail of. */
  isDisturbed: boolean;
}

const FORGETS_REJECTIONS: readonly RecordName[] = ['rejected', 'assigned'];

/** A trial, a fallback, and local after that. */
const MOST_ORDERS_EACH = 3;
/** A node that is broken is started again so often. */
const BROKEN_MS = 600_000;

export function createLedger(): Ledger {
  let trial: TrueTrial | undefined;
  let rejected: readonly Config[] = [];
  const good = new Set([targetIdOf(null)]);
  let orders = 0;
  let allowance = MOST_ORDERS_EACH;
  let startedMs: Millis = 0;
  let isDoomed = false;
  let [hasLostCheckpoints, isUnseen, hasLostTrack] = [false, false, false];
  /** Records that no agent has written again yet. */
  const damaged = new Set<RecordName>();
  let [startsAtRest, isUnknownAtRest, trials] = [0, false, 0];
  let step = { id: '', isRestart: false, ms: 0 };

  const begin = (doing: Trial, { host, kubelet, checkpoints }: World): void => {
    const isAgain = trial?.isDisturbed === true && sameConfig(trial.config, doing.config);
    const isLost = hasLostCheckpoints && !checkpoints.has(checkpointOf(doing.config));
    const isFaulty =
      isOverBadBase(doing.config) ||
      isLost ||
      isDoomed ||
      host.isRuntimeDown ||
      host.isDiskFull() ||
      host.armFaults > 0 ||
      host.restartFaults > 0;
    const isDisturbed = isAgain || isFaulty;
    const id = trialIdOf(doing);
    trial = {
      id,
      config: doing.config,
      run: '',
      healthyMs: 0,
      boots: 0,
      crashesBefore: kubelet.crashes(),
      isDisturbed,
    };
  };
  return {
    trial: () => trial,
    isRejected: (config) => rejected.some((other) => sameConfig(other, config)),
    isUnsettled: (world) => isUnknownAtRest || isUnseen || trials > 1 || oddStarts(world) > startsAtRest,
    wasGood: (targetId) => good.has(targetId),
    hasLostTrack: () => hasLostTrack,
    stuckMs: () => step.ms,
    orders: () => orders,
    allowance: () => allowance,
    happened(event, { host, guard, records, isAgentAlive }) {
      if (event.event !== 'pass' && event.event !== 'clock') allowance += MOST_ORDERS_EACH;
      if (event.event === 'no-restart') allowance += event.times;
      if (host.now - startedMs > BROKEN_MS) [allowance, startedMs] = [allowance + 1, host.now];
      if (event.event === 'doom') isDoomed = isDisturbing(event);
      hasLostCheckpoints ||= event.event === 'lose-checkpoint';
      const isForeign = event.event === 'touch' || event.event === 'provision';
      isUnseen ||= isForeign && !isAgentAlive() && guard.look().guard === 'fired';
      if (event.event === 'damage') damaged.add(event.record);
      hasLostTrack ||= damaged.has('last-known-good') && (damaged.size > 1 || records.saved() === null);
      hasLostTrack ||= isUnseen && (host.isDiskFull() || (event.event === 'disk' && event.room !== null));
      // Whoever does not know what was rejected, or that it is still assigned, cannot but try it again.
      if (event.event === 'damage' && FORGETS_REJECTIONS.includes(event.record)) rejected = [];
      if (event.event === 'damage') startsAtRest = -1;
      if (trial !== undefined && isDisturbing(event)) trial.isDisturbed = true;
      if (trial !== undefined && event.event === 'reboot') trial.boots += event.times;
    },
    turn({ before, seen, decision: { next, actions }, isSaved }, world) {
      const { doing } = next;
      const isStep = doing.phase === 'trial' && doing.change.step !== 'judge';
      const id = isStep ? `${trialIdOf(doing)} ${doing.change.step}` : '';
      const isRestart = isStep && doing.change.step === 'restart';
      if (id !== step.id || !isStep) step = { id, isRestart, ms: 0 };
      const isNew = doing.phase === 'trial' && trialIdOf(doing) !== trial?.id;
      if (isNew || (doing.phase === 'trial' && before.doing.phase !== 'trial')) begin(doing, world);
      // Where its base could not be seen when it began, it is known once the files are in place.
      if (doing.phase === 'trial' && trial !== undefined && isOverBadBase(doing.config)) trial.isDisturbed = true;
      if (before.doing.phase === 'idle')
        [startsAtRest, isUnknownAtRest, trials] = [
          oddStarts(world),
          seen.service.run === null || seen.files.files !== 'installed' || !seen.startedAsInstalled || runsOther(seen),
          0,
        ];
      if (isNew) trials += 1;
      if (isSaved) damaged.clear();
      // Of what was not written down, the next agent knows nothing.
      if (!isSaved || before.doing.phase === 'broken') isUnknownAtRest = true;
      good.add(targetIdOf(next.lastKnownGood));
      orders += actions.filter((action) => action.do === 'restart-kubelet').length;
      const { assigned } = next;
      const entry = assigned === null ? undefined : rejectionOf(next, assigned);
      if (assigned === null || entry === undefined || rejectionOf(before, assigned) === entry) return;
      // What failed on a kubelet that was not healthy anyway proved nothing, and is meant to be tried again.
      if (!isSaved) return;
      // So is what was blamed for an outage that the way back did not end.
      if (entry.reason === 'UnhealthyBefore') rejected = rejected.filter((config) => !sameConfig(config, assigned));
      else rejected = [...rejected, assigned];
    },
    look({ intent }) {
      if (intent.intent === 'local') rejected = [];
      if (intent.intent === 'config') rejected = rejected.filter((config) => sameConfig(config, intent.config));
    },
    pass(until, { host, kubelet, isAgentAlive }) {
      const waitsForPerson = step.isRestart && kubelet.status().wasStopped === true;
      if (step.id !== '' && isAgentAlive() && !host.isDiskFull() && !waitsForPerson) step.ms += until - host.now;
      const run = `${host.boots} ${kubelet.status().run}`;
      if (trial !== undefined && trial.run !== run) [trial.run, trial.healthyMs] = [run, 0];
      if (trial === undefined || !isAgentAlive() || !kubelet.isHealthy()) return;
      if (sameConfig(kubelet.read().ours, trial.config)) trial.healthyMs += until - host.now;
    },
  };
}

/** While it waits for its turn to be restarted, it may run what comes next already. */
const runsOther = ({ running }: Observation): boolean => running.running === 'contradicts';

/** Starts that the agent did not order, those that it ordered in vain, and those that it may have died of ordering. */
const oddStarts = ({ kubelet, host }: World): number => kubelet.unorderedStarts() + host.refusedRestarts + host.deaths;

function isDisturbing(event: Event): boolean {
  switch (event.event) {
    case 'assign':
    case 'unassign':
    case 'unreadable':
    case 'api':
    case 'clock':
    case 'pass':
    case 'uninstall':
    case 'grant':
    case 'stop-by-hand':
    // Nobody watches then: no verdict comes of that.
    case 'kill':
    case 'reboot':
    case 'doom':
      return false;
    case 'crash':
    case 'restart-by-hand':
    case 'touch':
    case 'provision':
    case 'disk':
    case 'runtime':
    case 'no-guard':
    case 'no-restart':
    case 'lose-checkpoint':
    case 'damage':
      return true;
  }
}
