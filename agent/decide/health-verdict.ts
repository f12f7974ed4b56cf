import type { Millis } from '#shared/runtime/clock.ts';
import type { Failure, FailureReason } from './failure.ts';
import { pressureSince } from './node-pressure.ts';
import { firstPhrases } from './first-phrases.ts';
import type { ServiceStatus } from '../ports/kubelet-service.ts';
import type { Observation } from './observation.ts';
import type { Judged, Trial, TrialTerms } from './state.ts';
import type { AgentTiming } from './timing.ts';
import { mayRepair } from './repair-limit.ts';
import { awaitsServer, timeoutBeforeStart, whyNotStarted } from './kubelet-start.ts';
import { isStoppedByPerson, STOPPED_BY_PERSON } from './stopped-by-person.ts';

/** What one look says of the kubelet. `unclear` counts neither way. */
export type Verdict =
  | { readonly verdict: 'healthy' }
  /** `why`: where there is something to say. */
  | { readonly verdict: 'unclear'; readonly why?: string }
  | { readonly verdict: 'unhealthy'; readonly reason: FailureReason; readonly why: string };

const HEALTHY: Verdict = { verdict: 'healthy' };
const UNCLEAR: Verdict = { verdict: 'unclear' };
const unhealthy = (reason: FailureReason, why: string): Verdict => ({ verdict: 'unhealthy', reason, why });

/** Whether the kubelet is up, whatever it runs. */
export function verdictOf(seen: Observation): Verdict {
  const { service, health } = seen;
  if (isStoppedByPerson({ service })) return { verdict: 'unclear', why: STOPPED_BY_PERSON };
  if (service.state === 'stopped' || service.state === 'failed') {
    return unhealthy('NotHealthy', `the service manager has it as ${service.state}${lastExit(service)}`);
  }
  switch (health.health) {
    case 'ok':
      return HEALTHY;
    case 'off':
      return service.state === 'running' ? HEALTHY : UNCLEAR;
    case 'failing':
    case 'down':
      return unhealthy(
        'NotHealthy',
        whyNotStarted(seen) ?? `its health endpoint says: ${health.reason}${lastExit(service)}`,
      );
  }
}

/**
 * Whether the kubelet proves the config on trial: it is up, it runs what was meant, and its Node is Ready if it was so
 * before. An unreadable Node neither proves nor disproves a config; nor does a config whose checkpoint is lost, as
 * the node could not fall back to it.
 */
export function trialVerdictOf(seen: Observation, { wasReady, strain }: Trial): Verdict {
  const up = verdictOf(seen);
  if (up.verdict === 'unhealthy' && awaitsServer(seen)) return { verdict: 'unclear', why: up.why };
  if (up.verdict !== 'healthy') return up;
  if (seen.files.files === 'differ' && !shouldRestoreFiles(seen)) {
    return unhealthy('FilesChanged', 'somebody else changed the config files on the node');
  }
  if (seen.files.files === 'lost') return UNCLEAR;
  if (seen.running.running === 'contradicts') {
    return unhealthy('ConfigContradicted', `it runs ${firstPhrases(seen.running.differences)}`);
  }
  const harm = pressureSince(strain, seen.strain);
  if (harm.length > 0) return unhealthy('NodeHarmed', harm.join('; '));
  if (!wasReady || seen.nodeReady === 'yes') return HEALTHY;
  const why = seen.notReady === undefined ? '' : ` (${seen.notReady})`;
  return seen.nodeReady === 'no' ? unhealthy('NodeNotReady', `its Node is no longer Ready${why}`) : UNCLEAR;
}

/** Files that another writer changed in mid-trial are put back: the kubelet has not read the changed ones. */
export const shouldRestoreFiles = ({ files, repairAges }: Observation): boolean =>
  files.files === 'differ' && mayRepair(repairAges);

/** Nothing proved and nothing failed yet: from the first look after the kubelet was started. */
export function startHealthTally({ bootId, service }: Observation): Judged {
  return {
    bootId,
    run: service.run,
    automaticRestarts: service.automaticRestarts,
    restarts: 0,
    healthyMs: 0,
    unhealthyMs: 0,
    healthy: false,
    everHealthy: false,
    lapses: 0,
  };
}

/** Shorter ones are nothing to speak of: an answer that came late on a busy machine. */
const LAPSE_MS = 10_000;

/** Whether the kubelet is not in order now, and not just for a moment: then its healthy time before does not count. */
export const isUnhealthyLapse = ({ unhealthyMs }: Judged): boolean => unhealthyMs >= LAPSE_MS;

/** A Node is often called NotReady once, right after its kubelet was restarted. */
const USUAL_LAPSES = 1;

/**
 * Adds one look. Healthy time counts within one run of the kubelet and one boot. It is zero again as soon as the kubelet ends by itself,
 * and after any other start of the kubelet or the machine: a config that ends one of them every eight minutes never proves ten. Here, only
 * ends by itself count against the config; the trial counts boots.
 */
export function tallyHealth(before: Judged, verdict: Verdict, seen: Observation, maxStepMs: Millis): Judged {
  const healthy = verdict.verdict === 'healthy';
  // While a person keeps it stopped, no unhealthy time is counted, not even at the first look after it is started again.
  const isInOrder = healthy || isStoppedByPerson(seen);
  const isStarting = seen.starter !== undefined && !healthy;
  const { isStarting: wasStarting, outageMs: wasOut = 0, ...known } = before;
  const now = {
    ...known,
    bootId: seen.bootId,
    automaticRestarts: seen.service.automaticRestarts,
    healthy: isInOrder,
    ...(isStarting ? { isStarting } : {}),
  };
  if (seen.bootId !== before.bootId)
    return { ...now, run: seen.service.run, healthyMs: 0, unhealthyMs: 0, everHealthy: healthy };

  const restarts = unplannedRestarts(before, seen.service);
  const stepMs = Math.min(seen.elapsedMs, maxStepMs);
  const isOtherRun = seen.service.run !== null && before.run !== null && seen.service.run !== before.run;
  const sameRun = restarts === 0 && (seen.service.run === null || seen.service.run === before.run);
  const outageMs = (isOtherRun ? 0 : wasOut) + (isStarting && awaitsServer(seen) ? stepMs : 0);
  // The time that a kubelet has to be healthy begins with the kubelet.
  const wasUnhealthyMs = wasStarting === true && !isStarting ? 0 : before.unhealthyMs;
  return {
    ...now,
    ...(outageMs > 0 ? { outageMs } : {}),
    run: seen.service.run ?? before.run,
    automaticRestarts: seen.service.automaticRestarts ?? before.automaticRestarts,
    restarts: before.restarts + restarts,
    healthyMs:
      restarts > 0 || isOtherRun || hasEnded(before, seen.service)
        ? 0
        : before.healthyMs + (healthy && before.healthy && sameRun ? stepMs : 0),
    everHealthy: healthy || (sameRun && before.everHealthy),
    lapses: before.lapses + (healthy && sameRun && before.everHealthy && isUnhealthyLapse(before) ? 1 : 0),
    unhealthyMs: healthy ? 0 : wasUnhealthyMs + (before.healthy || verdict.verdict === 'unclear' ? 0 : stepMs),
  };
}

/**
 * As `tally`, but what was healthy before a restart proves nothing: for a config that has no trial before it. Lapses that a trial
 * ignores are ignored here, or what it promoted would never be called steady; if runs are indistinguishable, each lapse may be a
 * restart.
 */
export function tallySteadiness(before: Judged, verdict: Verdict, seen: Observation, maxStepMs: Millis): Judged {
  const judged = tallyHealth(before, verdict, seen, maxStepMs);
  const isOneRun = judged.run === before.run;
  const mayPass = seen.service.run !== null && !isUnhealthyLapse(judged);
  return isOneRun && (verdict.verdict === 'healthy' || mayPass) ? judged : { ...judged, healthyMs: 0 };
}

/**
 * The service manager's counter tells best: it leaves out what people start by hand, and begins again from 0 when they
 * do. Without one, another run is a restart.
 */
function unplannedRestarts(before: Judged, { automaticRestarts: now, run }: ServiceStatus): number {
  const then = before.automaticRestarts;
  // Within one run nothing sets it back: fewer of its ends are seen.
  if (now !== null && then !== null) return now >= then ? now - then : run !== null && run === before.run ? 0 : now;
  return before.run !== null && run !== null && run !== before.run ? 1 : 0;
}

/** No patience makes these any better. */
const LASTING: ReadonlySet<string> = new Set(['ConfigContradicted', 'FilesChanged', 'NodeHarmed']);

/** Why the observations so far are enough to give up; undefined if they are not. */
export function failureOf(
  judged: Judged,
  verdict: Verdict,
  seen: Observation,
  terms: TrialTerms,
  pace: AgentTiming,
): Failure | undefined {
  // An end by itself counts when it is seen, not when the pause after it is over: that pause is 10 s with kubeadm's unit.
  const ends = judged.restarts + (awaitsRestart(judged, seen.service) ? 1 : 0);
  const restarted = `the kubelet ended ${ends} times by itself`;
  if (ends > terms.maxRestarts) {
    return { reason: 'CrashLoop', message: `${restarted}${lastExit(seen.service)}` };
  }
  if (judged.lapses > terms.maxRestarts + USUAL_LAPSES) {
    const message = `the kubelet was not in order ${judged.lapses} times, and was again each time without a restart`;
    return { reason: 'Flapping', message };
  }
  if (verdict.verdict !== 'unhealthy') return undefined;
  const { reason, why } = verdict;
  // The service manager has given up, and nothing is queued that would start it.
  const neverMends = LASTING.has(reason) || seen.service.state === 'failed';
  const { startTimeoutMs } = terms;
  const usualMs = seen.starter === undefined ? startTimeoutMs : timeoutBeforeStart(seen.starter, startTimeoutMs);
  const patienceMs = neverMends ? Math.min(pace.contradictedMs, startTimeoutMs) : usualMs;
  if (judged.unhealthyMs < patienceMs) return undefined;
  if (reason === 'NodeHarmed') return { reason, message: `it did harm: ${why}` };
  const span = `not in order for ${Math.round(judged.unhealthyMs / 1000)} s: ${why}`;
  return reason === 'NotHealthy' && judged.restarts > 0
    ? { reason: 'CrashLoop', message: `${restarted} and was ${span}` }
    : { reason, message: `the kubelet was ${span}` };
}

/** Of a run that was seen: right after an order of ours, the service manager may still speak of the run before it. */
const awaitsRestart = ({ run }: Judged, service: ServiceStatus): boolean =>
  service.awaitsRestart === true && run !== null && service.run === null;

/** The same, whether or not the service manager is to start it again. */
const hasEnded = (judged: Judged, service: ServiceStatus): boolean =>
  awaitsRestart(judged, service) || (service.state === 'failed' && service.run === null);

function lastExit({ lastExit, reason }: ServiceStatus): string {
  const words = [
    ...(lastExit === undefined ? [] : [`last exit: ${lastExit}`]),
    ...(reason === undefined ? [] : [reason]),
  ];
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}
