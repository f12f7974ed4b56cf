import { decide } from '#agent/decide/decide.ts';
import { DEFAULT_TIMING } from '#agent/decide/timing.ts';
import { afterFailedSave } from '#agent/decide/save-failed.ts';
import type { Decision } from '#agent/decide/decision.ts';
import { emptyMemory, dropOutdated, type MutableMemory } from '#agent/execute/mutable-memory.ts';
import type { Intent, Observation } from '#agent/decide/observation.ts';
import { sameConfig, type State, type Target } from '#agent/decide/state.ts';
import { nodeReportOf } from '#agent/report/kubelet-node-status.ts';
import { restartNeeded } from '#agent/decide/restart-turn.ts';
import type { TurnRequest } from '#shared/contract/api/kubelet-node.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { checkpointOf, createModelExecute } from './execute.ts';
import { createModelFiles, type ModelFiles } from './files.ts';
import { createModelGuard, type ModelGuard } from './guard.ts';
import { createHost, type Fate, type Happening, type Host } from './host.ts';
import { createModelKubelet, type ModelKubelet } from './kubelet.ts';
import { createModelObserve } from './observe.ts';
import { createModelRecords, type ModelRecords } from './records.ts';

/** The policy under test; replaced by a broken one where the invariants themselves are tested. */
export interface Machine {
  readonly decide: typeof decide;
  readonly whenUnsaved: typeof afterFailedSave;
  /** What is said of the node. */
  readonly account: typeof nodeReportOf;
}

export const MACHINE: Machine = { decide, whenUnsaved: afterFailedSave, account: nodeReportOf };

/** One look of the agent and what it decided, before anything of it was carried out. */
export interface Turn {
  readonly before: State;
  readonly seen: Observation;
  /** What was decided, as far as it may be carried out. */
  readonly decision: Decision;
  readonly isSaved: boolean;
}

/** When the agent's process is to end. `save`: after so many files of a state; `act`: after so many actions. */
export interface Death {
  readonly during: 'save' | 'act';
  readonly after: number;
  readonly awayMs: Millis;
}

export interface World {
  readonly host: Host;
  readonly kubelet: ModelKubelet;
  readonly guard: ModelGuard;
  readonly files: ModelFiles;
  readonly records: ModelRecords;
  readonly checkpoints: Set<string>;
  readonly fateOf: (target: Target) => Fate;
  readonly isGuarded: boolean;
  readonly account: Machine['account'];
  readonly state: () => State;
  readonly intent: () => Intent;
  readonly isUninstalled: () => boolean;
  /** Looks of the agent so far. */
  readonly turns: () => number;
  want(intent: Intent): void;
  /** The reconciler gives the node the turn that it asked for. */
  grant(): void;
  /** The node waits for a turn, and nobody can give it one: there is no assignment that could be read. */
  readonly waitsInVain: () => boolean;
  /** The kubelet's run that may be ended by the turn that was granted last; null where none was. */
  readonly grantedRun: () => string | null | undefined;
  /** The API server is away, or back. */
  loseApi(away: boolean): void;
  /** The agent begins again, and is to give the node up, or no longer. */
  uninstall(asked: boolean): void;
  readonly isUninstalling: () => boolean;
  readonly isAgentAlive: () => boolean;
  /** The agent's process ends at once, and another begins after a while. */
  kill(awayMs: Millis): void;
  /** It ends when it is in the middle of that. */
  doom(death: Death | undefined): void;
  reboot(awayMs: Millis): void;
  /** Whatever lets the agent look at once. */
  poke(): void;
  pass(ms: Millis): void;
}

export interface WorldOptions {
  readonly fateOf: (target: Target) => Fate;
  readonly isGuarded: boolean;
  readonly isSupervised: boolean;
  readonly startLimit: number;
  readonly count: (what: Happening) => void;
  readonly machine?: Machine;
  readonly onLook: (seen: Observation) => void;
  readonly onTurn: (turn: Turn, world: World) => void;
  readonly onActed: (turn: Turn, world: World) => void;
  /** Before time moves on: nothing changes until then. */
  readonly onPass: (until: Millis, world: World) => void;
}

const EPOCH = Date.UTC(2026, 0, 1);
const RETRY_MS = 1_000;
const MOST_TURNS_AT_ONCE = 60;

interface Process {
  readonly memory: MutableMemory;
  readonly look: (state: State) => Observation;
  readonly act: ReturnType<typeof createModelExecute>;
  state: State;
  nextAt: Millis;
}

/** What the status has to say. */
interface Told {
  readonly good: Target;
  readonly awaits: TurnRequest | null;
}

/** As `intentOf` reads it from the KubeletNode. */
function withTold(intent: Intent, told: Told | null): Intent {
  if (intent.intent !== 'config' || told === null) return intent;
  const { awaits, good } = told;
  const isAwaited = awaits?.reason === 'StateLost' && awaits.config === intent.config.source.sha256;
  return isAwaited || sameConfig(good, intent.config) ? { ...intent, isSpent: true } : intent;
}

export function createWorld(options: WorldOptions): World {
  const {
    fateOf,
    isGuarded,
    isSupervised,
    startLimit,
    count,
    machine = MACHINE,
    onLook,
    onTurn,
    onActed,
    onPass,
  } = options;
  const host = createHost(count);
  const files = createModelFiles();
  const records = createModelRecords();
  const checkpoints = new Set<string>();
  const at = (): string => toTimestamp(EPOCH + host.now + host.wallShiftMs);
  const guard = createModelGuard({
    host,
    files,
    isThere: isGuarded,
    isKubeletDown: () => kubelet.status().state === 'failed',
    restartKubelet() {
      if (kubelet.status().state !== 'stopped' && !kubelet.isWaiting()) kubelet.start('order');
    },
    at,
  });
  const kubelet: ModelKubelet = createModelKubelet({
    host,
    fateOf,
    files: files.now,
    beforeStart: () => guard.beforeStart(),
    isSupervised,
    startLimit,
  });
  let wanted: Intent = { intent: 'unknown' };
  /** What this process, or the one before the API server went away, has heard. */
  let heard: Intent = wanted;
  /** What the KubeletNode says of its present spec, and the turn in that spec. */
  let told: Told | null = null;
  let granted: { readonly seen: string; readonly run: string | null } | undefined;
  let isUninstalling = false;
  let death: Death | undefined;
  let turns = 0;
  let process: Process | undefined;
  let startsAt: Millis = Infinity;
  let last: State = records.load(at());

  const start = (): void => {
    const memory = emptyMemory();
    startsAt = Infinity;
    const state = records.load(at());
    if (records.isDamaged() && save(state) === undefined) return;
    if (host.isApiAway) heard = { intent: 'unknown' };
    const hasCheckpoint = (target: Target): boolean => target === null || checkpoints.has(checkpointOf(target));
    const parts = { host, kubelet, guard, files, records, checkpoints, fateOf, memory };
    process = {
      memory,
      look: createModelObserve({ ...parts, hasCheckpoint, intent: () => withTold(heard, told), isUninstalling, at }),
      act: createModelExecute(parts),
      state,
      nextAt: host.now,
    };
  };
  const kill = (awayMs: Millis): void => {
    host.deaths += 1;
    process = undefined;
    startsAt = host.now + awayMs;
  };
  /** @returns undefined where the process did not outlive it */
  const save = (state: State): { readonly written: number; readonly isWhole: boolean } | undefined => {
    const dies = death?.during === 'save' ? death : undefined;
    let isDead = false;
    const saved = records.save(state, (soFar) => {
      isDead = dies !== undefined && soFar >= dies.after;
      if (isDead || host.isDiskFull()) return false;
      host.room -= 1;
      return true;
    });
    if (!isDead || dies === undefined) return saved;
    count('agent killed in mid-save');
    death = undefined;
    kill(dies.awayMs);
    return undefined;
  };
  /** @returns undefined where the process did not outlive it */
  const keep = (own: Process, before: State, seen: Observation, decision: Decision): Turn | undefined => {
    // Nothing is written any more once all is gone.
    const saved = own.memory.left ? { written: 0, isWhole: true } : save(decision.next);
    if (saved === undefined) return undefined;
    const { written, isWhole } = saved;
    if (!isWhole) count(written === 0 ? 'save that failed' : 'save that failed half-way');
    const kept = isWhole ? decision : machine.whenUnsaved(before, decision, DEFAULT_TIMING);
    own.state = kept.next;
    last = kept.next;
    const done: Turn = { before, seen, decision: kept, isSaved: isWhole };
    if (!host.isApiAway) told = { good: kept.next.lastKnownGood, awaits: restartNeeded(kept.next, seen) };
    onTurn(done, world);
    return done;
  };
  const turn = (own: Process): void => {
    turns += 1;
    const before = own.state;
    const seen = own.look(before);
    onLook(seen);
    const decided = machine.decide(before, seen, DEFAULT_TIMING);
    dropOutdated(own.memory, decided.next, seen);
    const done = keep(own, before, seen, decided);
    if (done === undefined) return;
    const { actions, recheckAfterMs } = done.decision;
    own.nextAt = host.now + recheckAfterMs;
    const dies = death?.during === 'act' && actions.length > death.after ? death : undefined;
    for (const [index, action] of actions.entries()) {
      if (dies !== undefined && index === dies.after) {
        count('agent killed between two actions');
        if (action.do.endsWith('arm-guard')) guard.leaveHalf();
        death = undefined;
        return kill(dies.awayMs);
      }
      if (own.act(action, own.state)) continue;
      own.nextAt = Math.max(own.nextAt, host.now + RETRY_MS);
      break;
    }
    onActed(done, world);
  };

  const moveTo = (until: Millis): void => {
    if (until === host.now) return;
    onPass(until, world);
    kubelet.pass(until);
    host.now = until;
  };
  let atOnce = { at: -1, count: 0 };
  const runAgent = (own: Process): void => {
    atOnce = atOnce.at === host.now ? { at: host.now, count: atOnce.count + 1 } : { at: host.now, count: 1 };
    if (atOnce.count > MOST_TURNS_AT_ONCE)
      throw new Error('neverSpins: the agent looks again and again without a pause');
    turn(own);
  };

  const world: World = {
    host,
    kubelet,
    guard,
    files,
    records,
    checkpoints,
    fateOf,
    isGuarded,
    account: machine.account,
    state: () => last,
    intent: () => wanted,
    isUninstalled: () => process?.memory.left === true,
    turns: () => turns,
    want(intent) {
      wanted = intent;
      [told, granted] = [null, undefined];
      if (!host.isApiAway) heard = intent;
      world.poke();
    },
    grant() {
      const request = told?.awaits ?? null;
      if (host.isApiAway || request === null || wanted.intent !== 'config' || request.seen === granted?.seen) return;
      granted = { seen: request.seen, run: kubelet.status().run };
      host.count('turn granted');
      wanted = { ...wanted, turn: request.seen };
      heard = wanted;
      world.poke();
    },
    grantedRun: () => granted?.run,
    waitsInVain: () => (told?.awaits ?? null) !== null && wanted.intent !== 'config',
    loseApi(away) {
      host.isApiAway = away;
      if (!away) {
        heard = wanted;
        kubelet.serverIsBack();
      }
      world.poke();
    },
    isUninstalling: () => isUninstalling,
    isAgentAlive: () => process !== undefined,
    uninstall(asked) {
      isUninstalling = asked;
      kill(0);
    },
    kill,
    doom: (next) => {
      death = next;
    },
    reboot(awayMs) {
      host.boots += 1;
      host.bootedAt = host.now;
      guard.reboot();
      kill(awayMs);
      kubelet.start('machine');
    },
    poke() {
      if (process !== undefined) process.nextAt = host.now;
    },
    pass(ms) {
      const until = host.now + ms;
      for (;;) {
        const next = Math.min(kubelet.dueAt(), guard.dueAt(), process?.nextAt ?? startsAt);
        if (next > until) break;
        moveTo(Math.max(next, host.now));
        if (kubelet.dueAt() <= host.now) {
          const run = kubelet.status().run;
          kubelet.run();
          // The service manager's news.
          if (kubelet.status().run !== run) world.poke();
        }
        if (guard.dueAt() <= host.now) guard.tick();
        if (process === undefined && startsAt <= host.now) start();
        if (process !== undefined && process.nextAt <= host.now) runAgent(process);
      }
      moveTo(until);
    },
  };
  start();
  return world;
}
