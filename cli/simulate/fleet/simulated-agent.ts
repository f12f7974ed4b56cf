import { identityIn, sameIdentity, saysWhatStays, writtenKeep } from '#shared/contract/api/config-identity.ts';
import {
  type ConfigReference,
  DEFAULT_TRIAL,
  type KubeletNode,
  type KubeletNodeSpec,
  type KubeletNodeStatus,
  LOCAL,
  type NodeError,
} from '#shared/contract/api/kubelet-node.ts';
import { parseDuration } from '#shared/runtime/duration.ts';

/** What an agent reports next. */
export interface NextReport {
  readonly status: KubeletNodeStatus;
  /** The kubelet was restarted for it, and now runs what `status.active` names. */
  readonly restarted: boolean;
  /** It heard of a config that its preflight refuses, and its kubelet runs on. */
  readonly refused?: true;
}

/** Why no kubelet survives a config, or a config file of the node's own under it; null if it does. */
export type FailureOf = (config: ConfigReference, base?: string) => Pick<NodeError, 'reason' | 'message'> | null;

const FIRST_BOOT = 'boot-1';

/**
 * Plays the agent of one node, a step at a time: it hears of an assignment, starts the kubelet with it where that is not
 * what runs, and a step later promotes the config or takes it back. As the real agent does, it knows configs by their
 * content, keeps to a rejection until another config is assigned or a person forgives it, and goes back to local and to
 * lastKnownGood without a trial. A config file of the node's own that changed is tried when the node was granted its turn.
 * Unlike it, it stages at once, takes a failed trial back in the step that sees it fail, and takes no config over that the
 * kubelet runs already: it knows no kubelets.
 *
 * Pure, and all that it knows is in the object: it may be stopped and carried on anywhere. It decides nothing that the
 * reconciler decides.
 *
 * @param at when it reports, RFC 3339
 * @param failureOf asked once, at the end of a trial
 * @param refusalOf asked as it hears of a config: what its preflight has against it
 * @returns null where there is nothing new to report
 */
export function nextReport(
  node: KubeletNode,
  at: string,
  failureOf: FailureOf = () => null,
  refusalOf: FailureOf = () => null,
): NextReport | null {
  const { metadata, spec, status = {} } = node;
  const generation = metadata.generation ?? 0;
  if (status.phase === undefined) {
    // A spec that is there already is heard of in the next step.
    const observed = spec === undefined ? { observedGeneration: generation } : {};
    return quiet({ bootID: FIRST_BOOT, ...status, ...observed, ...AT_REST, heartbeat: at });
  }
  if (spec === undefined) return null;
  if ((status.observedGeneration ?? 0) < generation) return hear(spec, status, generation, at, refusalOf);
  if (status.phase === 'Trial') return carryOn(spec, status, at, failureOf);
  return status.phase === 'FallingBack' ? quiet({ ...status, phase: 'Idle', heartbeat: at }) : null;
}

/** The machine boots, for any reason. */
export function rebooted(node: KubeletNode): KubeletNode {
  const boots = Number(/\d+$/.exec(node.status?.bootID ?? '')?.[0] ?? 1);
  return { ...node, status: { ...node.status, bootID: `boot-${boots + 1}` } };
}

/**
 * The agent says for how long the kubelet has been healthy with what is on trial.
 *
 * @returns null where nothing is
 */
export function healthyFor({ status = {} }: KubeletNode, healthySeconds: number, at: string): KubeletNodeStatus | null {
  const { trial, phase } = status;
  if (phase !== 'Trial' || !trial || trial.awaitsReboot !== undefined) return null;
  return { ...status, trial: { ...trial, healthySeconds }, heartbeat: at };
}

const AT_REST = {
  phase: 'Idle',
  assigned: { name: LOCAL },
  active: { name: LOCAL },
  lastKnownGood: { name: LOCAL },
} as const;

const UNREADABLE = { reason: 'InvalidAssignment', message: 'spec.keepFields is missing' };

function hear(
  spec: KubeletNodeSpec,
  before: KubeletNodeStatus,
  observedGeneration: number,
  at: string,
  refusalOf: FailureOf,
): NextReport {
  const wanted = wantedBy(spec);
  const number = spec.order === undefined ? {} : { obeyedOrder: Math.max(spec.order, before.obeyedOrder ?? 0) };
  const answered = {
    ...before,
    ...answerTo(spec, before, at, refusalOf),
    ...number,
    observedGeneration,
    heartbeat: at,
  };
  if (!saysWhatStays(spec)) return quiet({ ...answered, error: { ...UNREADABLE, at } });
  const { assigned, active, lastKnownGood, trial, rejected = [] } = before;
  const rejection = rejected.find((entry) => sameConfig(entry, wanted));
  if (rejection !== undefined && sameConfig(assigned, wanted) && rejection.at !== spec.forgive) return quiet(answered);

  const seen = before.awaitsTurn?.seen;
  if (seen !== undefined && spec.turn?.seen === seen && sameConfig(active, wanted)) {
    return onTrial({ ...answered, awaitsTurn: null }, wanted, spec, at);
  }

  const untried = { ...answered, error: null, rejected: rejected.filter((entry) => entry !== rejection) };
  const awaitsReboot = trial?.awaitsReboot !== undefined;
  const current = awaitsReboot ? assigned : active;
  if (current !== undefined && sameConfig(current, wanted)) return quiet({ ...untried, assigned: current });
  const status = { ...untried, assigned: wanted, trial: null, awaitsTurn: null, refusedBase: null };
  // What waited for its boot never ran.
  if (awaitsReboot && sameConfig(active, wanted)) return quiet({ ...status, phase: 'Idle' });
  if (wanted.name === LOCAL) {
    return restarted({ ...status, phase: 'FallingBack', active: wanted, lastKnownGood: wanted, promotedAt: null });
  }
  if (sameConfig(lastKnownGood, wanted)) return restarted({ ...status, phase: 'FallingBack', active: wanted });
  const refusal = refusalOf(wanted);
  if (refusal !== null) {
    const error = { ...refusal, at, config: wanted.name };
    const { name, sha256 = '', apply = 'overlay' } = wanted;
    const entry = { name, sha256, apply, ...writtenKeep(wanted), ...refusal, at };
    return { ...quiet({ ...untried, assigned: wanted, error, rejected: [...untried.rejected, entry] }), refused: true };
  }
  const { reboot } = spec;
  if (reboot === undefined || reboot.boot !== before.bootID) return onTrial(status, wanted, spec, at);
  return quiet({ ...status, phase: 'Trial', trial: { ...begun(wanted, spec, at), awaitsReboot: reboot.by } });
}

function carryOn(
  spec: KubeletNodeSpec,
  before: KubeletNodeStatus,
  at: string,
  failureOf: FailureOf,
): NextReport | null {
  const status = { ...before, trial: null, heartbeat: at };
  const { active = { name: LOCAL }, lastKnownGood = { name: LOCAL }, rejected = [] } = before;
  if (before.trial?.awaitsReboot !== undefined) {
    return spec.reboot?.boot === before.bootID ? null : onTrial(status, before.assigned ?? active, spec, at);
  }
  const { name, sha256 = '', apply = 'overlay' } = active;
  const config = { name, sha256, apply, ...writtenKeep(active) };
  const base = sameConfig(lastKnownGood, active) ? spec.turn?.seen : undefined;
  const failure = failureOf(active, base);
  if (failure === null) {
    return quiet({ ...status, phase: 'Idle', lastKnownGood: active, promotedAt: at, refusedBase: null });
  }
  const error = { ...failure, at };
  if (base !== undefined) {
    return restarted({ ...status, phase: 'Drifted', refusedBase: { sha256: base, message: failure.message, at } });
  }
  const back = { active: lastKnownGood, error, rejected: [...rejected, { ...config, ...error }] };
  return restarted({ ...status, ...back, phase: 'Idle' });
}

/** One that says that it can be asked says before it runs what it says as it hears of it. */
function answerTo(
  { preflight: order }: KubeletNodeSpec,
  { preflight: before }: KubeletNodeStatus,
  at: string,
  refusalOf: FailureOf,
): Pick<KubeletNodeStatus, 'preflight'> {
  if (before === undefined || before === null) return {};
  if (order === undefined || !saysWhatStays(order)) return { preflight: { outcome: 'ready' } };
  const { configSource, apply = 'overlay', retry } = order;
  const about = {
    sha256: configSource.sha256,
    apply,
    ...writtenKeep(order),
    ...(retry === undefined ? {} : { retry }),
  };
  const refusal = refusalOf({ name: configSource.name, sha256: configSource.sha256, apply, ...writtenKeep(order) });
  return { preflight: { outcome: refusal === null ? 'passed' : 'refused', ...about, ...refusal, at } };
}

const quiet = (status: KubeletNodeStatus): NextReport => ({ status, restarted: false });
const restarted = (status: KubeletNodeStatus): NextReport => ({ status, restarted: true });
const onTrial = (status: KubeletNodeStatus, active: ConfigReference, spec: KubeletNodeSpec, at: string): NextReport =>
  restarted({ ...status, phase: 'Trial', active, trial: begun(active, spec, at) });

function begun({ name }: ConfigReference, { trial = DEFAULT_TRIAL }: KubeletNodeSpec, at: string): Begun {
  const durationSeconds = Math.ceil((parseDuration(trial.duration) ?? 0) / 1000);
  return { config: name, since: at, healthySeconds: 0, durationSeconds, restarts: 0 };
}

type Begun = NonNullable<KubeletNodeStatus['trial']>;

function wantedBy({ configSource: source, apply = 'overlay', keepFields = [] }: KubeletNodeSpec): ConfigReference {
  if (source === undefined) return { name: LOCAL };
  const { name, sha256, uid, resourceVersion } = source;
  return { name, sha256, apply, ...writtenKeep({ keepFields }), uid, resourceVersion };
}

type Identity = Pick<ConfigReference, 'sha256' | 'apply' | 'keepFields'>;

function sameConfig({ sha256, ...a }: Identity = {}, { sha256: other, ...b }: Identity): boolean {
  if (sha256 === undefined || other === undefined) return sha256 === other;
  return sameIdentity(identityIn({ ...a, sha256 }), identityIn({ ...b, sha256: other }));
}
