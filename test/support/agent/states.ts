import { payloadSha256 } from '#shared/contract/config-map-hash.ts';
import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import type { Observation } from '#agent/decide/observation.ts';
import {
  type Change,
  type Config,
  type FallingBack,
  IDLE,
  INITIAL_STATE,
  type Judged,
  type NodePressure,
  type State,
  type Target,
  type Trial,
} from '#agent/decide/state.ts';

export const AT = '2026-01-01T00:00:00Z';
export const TERMS = { durationMs: 600_000, startTimeoutMs: 120_000, maxRestarts: 2 };

/** A config that is told from others by a letter. */
export function config(letter: string, apply: ApplyMode = 'overlay'): Config {
  return {
    source: {
      namespace: 'kubelet-gitops',
      name: `general-${letter.repeat(10)}`,
      uid: `uid-${letter}`,
      resourceVersion: '41',
      key: 'kubelet',
      sha256: payloadSha256(letter),
    },
    apply,
    trial: TERMS,
    drift: 'repair',
    allowFields: [],
    keepFields: [],
    tolerate: [],
    pool: 'general',
    commit: 'c0ffee',
  };
}

export const A = config('a');
export const B = config('b');
export const C = config('c');

/** What everything looks like on a node where all is well and nothing is wanted. */
export const QUIET: Observation = {
  intent: { intent: 'unknown' },
  generation: 1,
  staged: null,
  candidate: null,
  files: { files: 'installed' },
  service: { state: 'running', run: 'run-1', automaticRestarts: 0 },
  health: { health: 'ok' },
  running: { running: 'as-meant' },
  sight: { sight: 'seen' },
  startedAsInstalled: true,
  startWasSeen: true,
  base: { under: null, newer: null },
  runsStaged: false,
  fingerprint: 'f00d',
  repairAges: [],
  rechecked: null,
  guard: { guard: 'none', why: 'there is none here' },
  guardFault: null,
  leaving: 'no',
  nodeReady: 'yes',
  strain: { pressures: [], outOfMemory: {}, pods: null, bootId: 'boot-1' },
  kubeletVersion: 'v1.34.2',
  restart: 'none',
  fault: null,
  downMs: 0,
  startAgeMs: null,
  bootId: 'boot-1',
  elapsedMs: 5_000,
  first: false,
  at: AT,
  pollMs: 5_000,
};

export const wanting = (target: Target): Pick<Observation, 'intent'> => ({
  intent: target === null ? { intent: 'local' } : { intent: 'config', config: target },
});

export const seen = (...parts: readonly Partial<Observation>[]): Observation =>
  Object.assign({}, QUIET, ...parts) as Observation;

export const DOWN: Partial<Observation> = { health: { health: 'down', reason: 'nobody listens' } };

export const JUDGED: Judged = {
  bootId: 'boot-1',
  run: 'run-1',
  automaticRestarts: 0,
  restarts: 0,
  healthyMs: 0,
  unhealthyMs: 0,
  healthy: true,
  everHealthy: true,
  lapses: 0,
};

export const INSTALLING: Change = { step: 'install' };
export const RESTARTING: Extract<Change, { step: 'restart' }> = {
  step: 'restart',
  runBefore: 'run-1',
  bootId: 'boot-1',
  orders: 1,
  waitedMs: 0,
};
export const judging = (judged: Partial<Judged> = {}): Change => ({ step: 'judge', judged: { ...JUDGED, ...judged } });

export const idle = (target: Target): State => ({
  ...INITIAL_STATE,
  assigned: target,
  lastKnownGood: target,
  promotedAt: target === null ? null : AT,
});

/** Nothing could be seen of what the machine suffers. */
export const UNSEEN: NodePressure = { pressures: null, outOfMemory: null, pods: null, bootId: 'boot-1' };

/** B is on trial over A, unless said otherwise. */
export function onTrial(change: Change, parts: Partial<Trial> = {}, over: Target = A): State {
  const doing: Trial = {
    phase: 'trial',
    config: B,
    since: AT,
    wasReady: true,
    wasHealthy: true,
    before: null,
    strain: UNSEEN,
    warnings: [],
    change,
    ...parts,
  };
  return { ...idle(over), assigned: doing.config, doing };
}

export function fallingBack(to: Target, change: Change, parts: Partial<FallingBack> = {}): State {
  const doing: FallingBack = { phase: 'falling-back', to, because: 'failed', terms: TERMS, change, ...parts };
  return { ...rejecting(to), doing };
}

export const ERROR_B = { reason: 'CrashLoop', message: 'B failed', at: AT, config: B.source.name };

/** A node that took B back and runs this. */
export function rejecting(active: Target): State {
  const { name, sha256 } = B.source;
  const { reason, message, at } = ERROR_B;
  const rejected = [{ name, sha256, apply: B.apply, reason, message, at }];
  return { ...idle(active), assigned: B, rejected, error: ERROR_B, doing: IDLE };
}

export function broken(judged: Partial<Judged> = {}, waitedMs = 0): State {
  return { ...rejecting(null), doing: { phase: 'broken', judged: { ...JUDGED, healthy: false, ...judged }, waitedMs } };
}
