import { emptyMemory, dropOutdated, type MutableMemory } from '#agent/execute/mutable-memory.ts';
import { decide } from '#agent/decide/decide.ts';
import type { Action } from '#agent/decide/decision.ts';
import { observationFromMemory, type TriedConfig } from '#agent/decide/process-memory.ts';
import type { Observation } from '#agent/decide/observation.ts';
import {
  activeOf,
  type Config,
  INITIAL_STATE,
  nameOf,
  sameConfig,
  type State,
  type Target,
} from '#agent/decide/state.ts';
import { QUIET } from './states.ts';

/** What a kubelet does with a config. `refused`: validation finds it out before the kubelet sees it. */
export type Behaviour = 'good' | 'dies' | 'hangs' | 'shadowed' | 'refused';

/** Only as much of a node as decisions can see, in steps: for laws that look at thousands of histories. */
export interface ModelNode {
  state: State;
  /** What the files say, and what the kubelet read at its last start. */
  readonly installed: () => Target;
  readonly running: () => Target;
  /** Restarts that the agent ordered. */
  readonly ordered: () => number;
  /** What the API server wants; `unknown` while it is away. */
  want(intent: Observation['intent']): void;
  reboot(): void;
  /** One look and what follows. `diesAfter`: the agent ends after saving and this many actions, and starts again. */
  step(diesAfter?: number): { readonly before: State; readonly actions: readonly Action[] };
}

const SHORT = { durationMs: 20_000, startTimeoutMs: 15_000, maxRestarts: 2 };

export function createModelNode(behaviourOf: (target: Target) => Behaviour): ModelNode {
  let installed: Target = null;
  let running: Target = null;
  let runs = 1;
  let boots = 1;
  let ordered = 0;
  let crashes = 0;
  let intent: Observation['intent'] = { intent: 'unknown' };
  let memory: MutableMemory = emptyMemory();
  let started = false;

  const start = (): void => {
    running = installed;
    runs += 1;
  };
  const look = (state: State): Observation => {
    const behaviour = behaviourOf(running);
    if (behaviour === 'dies') {
      crashes += 1;
      start();
    }
    const down = behaviour === 'dies' || behaviour === 'hangs';
    const active = state.doing.phase === 'trial' ? state.doing.config : null;
    return {
      ...QUIET,
      intent,
      ...observationFromMemory(memory, intent, false, 0),
      files: { files: sameConfig(installed, activeOf(state)) ? 'installed' : 'differ' },
      service: { state: 'running', run: `run-${runs}`, automaticRestarts: crashes },
      health: down ? { health: 'down', reason: 'nobody listens' } : { health: 'ok' },
      running:
        active !== null && (behaviour === 'shadowed' || !sameConfig(running, active))
          ? { running: 'contradicts', differences: ['maxPods=110 instead of 250'] }
          : { running: 'as-meant' },
      bootId: `boot-${boots}`,
      elapsedMs: started ? 5_000 : 0,
      first: !started,
    };
  };
  const tried = (config: Config): TriedConfig => ({
    config,
    result:
      behaviourOf(config) === 'refused'
        ? { outcome: 'refused', failure: { reason: 'ConfigInvalid', message: 'wrong' } }
        : { outcome: 'ready', warnings: [] },
    retryAt: 0,
    faults: 0,
  });
  const act = (action: Action): void => {
    if (action.do === 'install' || action.do === 'repair') installed = action.target;
    if (action.do === 'stage') memory.staged = tried(action.config);
    if (action.do === 'recheck') {
      memory.rechecked = { ...tried(action.config), remedy: action.remedy, isNew: true };
    }
    if (action.do === 'restart-kubelet') {
      ordered += 1;
      crashes = 0;
      start();
    }
  };

  const node: ModelNode = {
    state: INITIAL_STATE,
    installed: () => installed,
    running: () => running,
    ordered: () => ordered,
    want(next) {
      intent = next.intent === 'config' ? { ...next, config: { ...next.config, trial: SHORT } } : next;
    },
    reboot() {
      boots += 1;
      crashes = 0;
      started = false;
      memory = emptyMemory();
      start();
    },
    step(diesAfter = Infinity) {
      const before = node.state;
      const seen = look(before);
      const { next, actions } = decide(before, seen);
      dropOutdated(memory, next, seen);
      node.state = next;
      started = true;
      for (const action of actions.slice(0, diesAfter)) act(action);
      if (diesAfter < Infinity) {
        started = false;
        memory = emptyMemory();
      }
      return { before, actions };
    },
  };
  return node;
}

/** For messages of laws that do not hold. */
export const describeNode = ({ state, installed, running }: ModelNode): string =>
  JSON.stringify({ state, installed: nameOf(installed()), running: nameOf(running()) }, null, 1);
