import type { MeasuredWindow, MeasureName, Measures } from '#shared/contract/api/measures.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { KubeletCounters } from '../ports/kubelet-probe.ts';

/** One reading of what the kubelet counts, and of what the machine says of it. */
export interface MeasureReading {
  readonly counters: KubeletCounters;
  /** How often pods were out of memory at a limit of the kubelet's; null if the count is unreadable. */
  readonly outOfMemory: number | null;
  /** See `NodeFacts`. */
  readonly reserved: number | null;
  /** Of the kubelet's version; undefined while it is unknown. */
  readonly minor: number | undefined;
}

/** What the kubelet is doing while it is measured. */
export interface Measured {
  /** Value of the annotation; undefined without one. */
  readonly mark: string | undefined;
  /** Hex SHA-256 of the payload that is active; undefined for local. */
  readonly sha256: string | undefined;
  /** The run of the kubelet; null where there is none. */
  readonly run: string | null;
  /** On the monotonic clock. */
  readonly at: Millis;
}

const EVERY_MS: Millis = 60_000;
const WINDOW_MS: Millis = 600_000;
/** A kubelet that starts looks at all of its pods: that says nothing of its config. */
const WARM_UP_MS: Millis = 60_000;

/**
 * Since 1.26 kubelets time the start of pods without image pulls, and later ones leave pods with volumes out of that
 * (kubernetes/kubernetes#131950). A window in which only such pods started says nothing: the other metric has image pulls in it.
 */
const SLI_SINCE = 26;

type Timed = MeasureReading & { readonly at: Millis };

/** Measures a kubelet while its pool asks for it, in memory alone: a restarted agent begins again. */
export function createKubeletMeasures() {
  let last: Measured | undefined;
  let runSince: Millis = 0;
  let lookedAt: Millis = Number.NEGATIVE_INFINITY;
  let readings: readonly Timed[] = [];
  let before: MeasuredWindow | undefined;
  let beforeUntil: Millis = 0;

  /** Not called more often than once in `EVERY_MS`. */
  return async (is: Measured, read: () => Promise<MeasureReading | null>): Promise<Measures | undefined> => {
    if (is.mark === undefined) {
      [last, readings, before] = [undefined, [], undefined];
      return undefined;
    }
    const isNews = last !== undefined && (last.mark !== is.mark || last.sha256 !== is.sha256);
    if (isNews) {
      const ended = windowOf(readings, last?.sha256);
      // A mark and the config that it announces come one after the other: the window before both of them says more than what is between.
      const isOfBoth = before?.sha256 === last?.sha256 && is.at - beforeUntil < WINDOW_MS;
      if (!isOfBoth || (ended?.seconds ?? 0) >= (before?.seconds ?? 0)) [before, beforeUntil] = [ended, is.at];
    }
    const isStarted = last?.run !== is.run;
    if (isStarted) runSince = is.at;
    // What is counted for another mark, another config or another run is another window.
    if (isNews || isStarted) [readings, lookedAt] = [isStarted ? [] : readings.slice(-1), Number.NEGATIVE_INFINITY];
    const isWarm = last === undefined || is.at - runSince >= WARM_UP_MS;
    last = { ...is };
    if (isWarm && is.at - lookedAt >= EVERY_MS) {
      lookedAt = is.at;
      const reading = await read();
      readings = [...readings, ...(reading === null ? [] : [{ ...reading, at: is.at }])];
      readings = readings.filter(({ at }) => is.at - at <= WINDOW_MS);
    }
    const now = windowOf(readings, is.sha256);
    return { mark: is.mark, ...(before === undefined ? {} : { before }), ...(now === undefined ? {} : { now }) };
  };
}

/** undefined before there are two readings to compare. */
function windowOf(readings: readonly Timed[], sha256: string | undefined): MeasuredWindow | undefined {
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined || first === last) return undefined;
  const seconds = Math.round((last.at - first.at) / 1000);
  return { ...(sha256 === undefined ? {} : { sha256 }), seconds, values: valuesOf(first, last) };
}

/** `MeasuredWindow.values` of what was counted between two readings. */
function valuesOf(first: Timed, last: Timed): MeasuredWindow['values'] {
  const seconds = (last.at - first.at) / 1000;
  // A counter without a sample has counted nothing yet.
  const counted = (name: string): number => (last.counters[name] ?? 0) - (first.counters[name] ?? 0);
  const mean = (name: string): number | null => {
    const count = counted(`kubelet_${name}_duration_seconds_count`);
    return count > 0 ? counted(`kubelet_${name}_duration_seconds_sum`) / count : null;
  };
  const inTenMinutes = (count: number): number => (count * 600) / seconds;
  const killed = first.outOfMemory === null ? null : last.outOfMemory && last.outOfMemory - first.outOfMemory;
  const values: Record<MeasureName, number | null> = {
    evictions: inTenMinutes(counted('kubelet_evictions')),
    oomKills: killed === null ? null : inTenMinutes(killed),
    runtimeErrors: inTenMinutes(counted('kubelet_runtime_operations_errors_total')),
    podStart: mean((last.minor ?? 0) < SLI_SINCE ? 'pod_start' : 'pod_start_sli'),
    relist: mean('pleg_relist'),
    cpu: counted('process_cpu_seconds_total') / seconds,
    reserved: last.reserved,
  };
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === null || !Number.isFinite(value) || value < 0 ? [] : [[name, Number(value.toPrecision(3))] as const],
    ),
  );
}
