import { type ConfigIdentity, identityIn, sameIdentity, writtenKeep } from '#shared/contract/api/config-identity.ts';
import type {
  ApplyMode,
  ConfigSource,
  DriftPolicy,
  NodeError,
  RebootBy,
  RefusedBase,
  RejectedConfig,
} from '#shared/contract/api/kubelet-node.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { PodEvictions } from '../ports/kubelet-probe.ts';
import type { FailureReason } from './failure.ts';

/** Signs that a machine is short of something. `null` is what could not be seen. */
export interface NodePressure {
  /** Of the Node's conditions those that are True: `MemoryPressure`, `DiskPressure`, `PIDPressure`. */
  readonly pressures: readonly string[] | null;
  /** How often since the boot the kernel found no memory in a cgroup because of that cgroup's own limit. */
  readonly outOfMemory: Readonly<Record<string, number>> | null;
  /** How often this run of the kubelet evicted or refused a pod, see `PodEvictions`. */
  readonly pods: PodEvictions | null;
  /** The boot that is counted from. */
  readonly bootId: string;
}

/** How a config has to prove itself; `TrialSpec` in milliseconds. */
export interface TrialTerms {
  readonly durationMs: Millis;
  readonly startTimeoutMs: Millis;
  readonly maxRestarts: number;
}

/** `RebootOrder` with its timeout in milliseconds. */
export interface Reboot {
  readonly by: RebootBy;
  /** The boot that is to end. */
  readonly boot: string;
  readonly timeoutMs: Millis;
}

/** An assignment with all that is needed to run it while the API server is away. */
export interface Config {
  readonly source: ConfigSource;
  readonly apply: ApplyMode;
  readonly trial: TrialTerms;
  readonly drift: DriftPolicy;
  /** Fields that it may set although they are denied by default. */
  readonly allowFields: readonly string[];
  /** See `ConfigIdentity`. */
  readonly keepFields: readonly string[];
  /** Codes of what this kubelet may silently drop of it. */
  readonly tolerate: readonly string[];
  /** Absent where a restart of the kubelet is enough. */
  readonly reboot?: Reboot;
  /** Hex SHA-256 of the node's own config under the overlay. Absent for a config without one. */
  readonly base?: string;
  /** For people: never compared. */
  readonly pool?: string;
  readonly commit?: string;
}

/** What a node can run: a config source's payload, or (null) nothing but its own local config. */
export type Target = Config | null;

/**
 * Where this node stands. This is exactly what is on its disk, so every value must make sense to an agent that reads
 * it after a reboot. While nothing is being changed (`idle`), the kubelet runs `lastKnownGood`, and `assigned` is
 * either the same or rejected.
 */
export interface State {
  /** What is wanted, and whose checkpoint is on disk. */
  readonly assigned: Target;
  readonly lastKnownGood: Target;
  readonly doing: Doing;
  /** Newest last. An entry counts only while its config is the assigned one; the others are history. */
  readonly rejected: readonly RejectedConfig[];
  readonly error: NodeError | null;
  /** When `lastKnownGood` became that, RFC 3339; null for local, and for what was taken over without a trial. */
  readonly promotedAt: string | null;
  /** The node's own config with which lastKnownGood failed; null where that is over. */
  readonly refusedBase: RefusedBase | null;
  /** Absent where the guard has nothing to watch the next boot for. */
  readonly unproved?: Unproven;
  /** The last order that was followed. Absent where none had a number. */
  readonly obeyed?: Obeyed;
}

/** An order that was taken up or refused: what is not above it is none. */
export interface Obeyed {
  /** Of the KubeletNode. */
  readonly uid: string;
  /** The highest `spec.order`, whatever KubeletNode it was of. */
  readonly order: number;
}

/** A config that was promoted, and under which no agent has come up after a boot yet: the guard watches the next one. */
export interface Unproven {
  /** Hex SHA-256 of its payload. */
  readonly sha256: string;
  /** What an agent came up under last, and so where the guard leads. */
  readonly to: Target;
  /** The boot that it was promoted in, or that the guard last took it back in, with what that was after; see `fallBackAfterAbsence`. */
  readonly bootId: string;
  /** How often the guard took it back, after boots or starts of the kubelet, because no agent came. */
  readonly absences: number;
}

export type Doing =
  | { readonly phase: 'idle' }
  | Trial
  | FallingBack
  /** Local is installed and the kubelet is not healthy with it. `waitedMs`: since it was last started by us. */
  | { readonly phase: 'broken'; readonly judged: Judged; readonly waitedMs: Millis };

export interface Trial {
  readonly phase: 'trial';
  readonly config: Config;
  /** RFC 3339, for display. */
  readonly since: string;
  /** The Node was Ready when the trial began, and so has to stay it. If it was not Ready before, the config is not to blame. */
  readonly wasReady: boolean;
  /** So was the kubelet. A kubelet that was not healthy before cannot be held against the config. */
  readonly wasHealthy: boolean;
  /** The kubelet's minor version that the files were made for. Absent where that was not known: an upgrade in mid-trial goes unnoticed. */
  readonly minor?: number;
  /** The kubelet's run then. While it lasts, the kubelet has not heard of the config. */
  readonly before: KubeletRun | null;
  /** What the machine suffered before. */
  readonly strain: NodePressure;
  /** Boots since its files were put in place that nobody ordered; absent for none. */
  readonly boots?: number;
  /** How often the guard took it back without a verdict (no agent watched, or its note is lost), and it began again; absent for never. */
  readonly unwatched?: number;
  /** What preflight found that does not speak against it, in sentences. */
  readonly warnings: readonly string[];
  readonly change: Change;
}

export interface FallingBack {
  readonly phase: 'falling-back';
  readonly to: Target;
  /**
   * `superseded`: the assignment itself went back to lastKnownGood in mid-trial. `drifted`: the kubelet ran something else
   * than lastKnownGood, and this is its turn.
   */
  readonly because: 'failed' | 'unassigned' | 'superseded' | 'drifted';
  /** Of the config that failed, or of the one that is left. */
  readonly terms: TrialTerms;
  readonly change: Change;
}

/** One run of the kubelet's process. */
export interface KubeletRun {
  readonly run: string;
  readonly bootId: string;
}

/** How far the kubelet is on its way to another config. Each step can be done again after a crash. */
export type Change =
  /**
   * `running`: a run that already has what is to be installed. While it lasts, no restart is needed. `spentMs`, here and
   * below: how long the step has been at work in vain; absent for not at all.
   */
  | { readonly step: 'install'; readonly running?: KubeletRun; readonly spentMs?: Millis }
  /** The files are in place. A run or a boot other than these shows that the kubelet was started since. */
  | {
      readonly step: 'restart';
      readonly runBefore: string | null;
      readonly bootId: string;
      /** How often the restart was ordered (0: a person who stopped the kubelet starts it), and how long ago the last time was. */
      readonly orders: number;
      readonly waitedMs: Millis;
      readonly spentMs?: Millis;
    }
  /** The files are in place, and the machine is to reboot. Another boot than this shows that it did. */
  | { readonly step: 'reboot'; readonly bootId: string; readonly orders: number; readonly waitedMs: Millis }
  | { readonly step: 'judge'; readonly judged: Judged };

/** What was seen of the kubelet since it was restarted. Spans count only while the agent looks. */
export interface Judged {
  readonly bootId: string;
  /** Null until a run was seen. */
  readonly run: string | null;
  /** The service manager's counter at the last look. */
  readonly automaticRestarts: number | null;
  /** Unplanned restarts; those of the machine do not count. */
  readonly restarts: number;
  /** Sum of the spans between two looks at one run that both found it healthy. */
  readonly healthyMs: Millis;
  /** Since it was last healthy, or since the restart. */
  readonly unhealthyMs: Millis;
  /** At the last look, another program had yet to start the kubelet; absent for no. */
  readonly isStarting?: true;
  /** How long that program has waited for a server elsewhere in this run; absent for not at all. */
  readonly outageMs?: Millis;
  /** Whether the last look found it healthy, or stopped by a person. */
  readonly healthy: boolean;
  /** Whether any look found it healthy since it was started last. */
  readonly everHealthy: boolean;
  /** How often it was not healthy for a while, and then was again without having been restarted. */
  readonly lapses: number;
}

export const IDLE: Doing = { phase: 'idle' };

/** A node that was never assigned anything. */
export const INITIAL_STATE: State = {
  assigned: null,
  lastKnownGood: null,
  doing: IDLE,
  rejected: [],
  error: null,
  promotedAt: null,
  refusedBase: null,
};

/** How many rejected configs a node remembers. */
export const MAX_REJECTED = 20;

/** Where a config's bytes are (uid, resourceVersion, name) says nothing about what it is. */
export function sameConfig(one: Target, other: Target): boolean {
  if (one === null || other === null) return one === other;
  return sameIdentity(identityOf(one), identityOf(other));
}

const identityOf = ({ source: { sha256 }, apply, keepFields }: Config): ConfigIdentity => ({
  sha256,
  apply,
  keepFields,
});

/** The same config over the same config of the node's own: what was proven with the one is proven with the other. */
export const sameConfigAndBase = (one: Target, other: Target): boolean =>
  sameConfig(one, other) && one?.base === other?.base;

/** What is installed for the kubelet's next start, once the actions that led to this state are done. */
export function activeOf({ doing, lastKnownGood }: State): Target {
  switch (doing.phase) {
    case 'idle':
      return lastKnownGood;
    case 'trial':
      return doing.config;
    case 'falling-back':
      return doing.to;
    case 'broken':
      return null;
  }
}

/** Configs whose checkpoints the node still needs. `staged`: fetched, but not on trial yet. */
export function neededConfigs(state: State, staged: Target): readonly Config[] {
  const targets = [state.assigned, state.lastKnownGood, activeOf(state), state.unproved?.to ?? null, staged];
  return targets.filter((target) => target !== null);
}

/** Hex SHA-256 of the node's own configs that the state still needs. */
export const neededBases = (state: State): readonly string[] =>
  [state.lastKnownGood, activeOf(state), state.unproved?.to].flatMap((target) => target?.base ?? []);

export const nameOf = (target: Target): string => target?.source.name ?? 'local';

/** The config's entry among the rejected ones, whether or not it counts now. */
export function rejectionOf(state: State, config: Config): RejectedConfig | undefined {
  return state.rejected.find((entry) => sameIdentity(identityIn(entry), identityOf(config)));
}

/** The rejection as the node's error. */
export function errorOf({ reason, message, at, name }: RejectedConfig): NodeError {
  return { reason, message, at, config: name };
}

/** With this config as the newest of the rejected ones; the oldest are forgotten. */
export function withRejected(state: State, config: Config, { reason, message, at }: NodeError): State {
  const { name, sha256 } = config.source;
  const entry: RejectedConfig = { name, sha256, apply: config.apply, ...writtenKeep(config), reason, message, at };
  return { ...state, rejected: [...withoutRejected(state, config).rejected, entry].slice(-MAX_REJECTED) };
}

/**
 * A node that is at rest from now on. What failed on a kubelet that was not healthy anyway gets another chance: its error stays, and
 * says until then what is waited for.
 */
export function becomeIdle(state: State, runs: Target): State {
  const rejected = state.rejected.filter(({ reason }) => reason !== UNHEALTHY_BEFORE);
  const isBlamed = rejected.length === state.rejected.length;
  return { ...state, doing: IDLE, lastKnownGood: runs, ...(isBlamed ? {} : { rejected }) };
}

/** Whether the node came to rest after this config failed on a kubelet that was not healthy anyway. */
export const hasAnotherChance = ({ doing, error }: State, config: Config): boolean =>
  doing.phase === 'idle' && error?.reason === UNHEALTHY_BEFORE && error.config === nameOf(config);

export const UNHEALTHY_BEFORE: FailureReason = 'UnhealthyBefore';

/** As if this config had never been rejected. */
export function withoutRejected(state: State, config: Config): State {
  const entry = rejectionOf(state, config);
  return entry === undefined ? state : { ...state, rejected: state.rejected.filter((other) => other !== entry) };
}
