import type { ServiceStatus } from '#agent/ports/kubelet-service.ts';
import type { Target } from '#agent/decide/state.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { type Files, isBadUnder } from './files.ts';
import type { Fate, Host } from './host.ts';

/** A kubelet under a service manager, in model time. It reads its files at its start only. */
export interface ModelKubelet {
  readonly status: () => ServiceStatus;
  readonly isHealthy: () => boolean;
  /** The program that starts it waits for an API server: no kubelet has begun in this run of the unit. */
  readonly isWaiting: () => boolean;
  /** Whether the Node would be called Ready, by the time since the kubelet was healthy last. */
  readonly unhealthyForMs: () => Millis;
  /** What the process read at its start. */
  readonly read: () => Files;
  /** Starts of every kind. */
  readonly starts: () => number;
  /** Starts that neither the agent nor the guard ordered. */
  readonly unorderedStarts: () => number;
  /** Ends that nobody ordered. */
  readonly crashes: () => number;
  start(by: 'order' | 'hand' | 'machine'): void;
  crash(): void;
  /** `systemctl stop`. The next start of any kind ends that. */
  stopByHand(): void;
  /** What waited for it starts the kubelet. */
  serverIsBack(): void;
  /** When something happens by itself next. */
  readonly dueAt: () => Millis;
  /** Lets happen what is due now. */
  run(): void;
  /** Told before time moves on: health is the same until then. */
  pass(until: Millis): void;
}

export interface KubeletOptions {
  readonly host: Host;
  readonly fateOf: (target: Target) => Fate;
  readonly files: () => Files;
  readonly beforeStart: () => void;
  /** Another program starts it, as soon as an API server answers. */
  readonly isSupervised: boolean;
  /** After so many restarts of its own the service manager gives up. */
  readonly startLimit: number;
}

const START_MS = 3_000;
const RESTART_MS = 10_000;
const [FLAP_WELL_MS, FLAP_MS] = [6_000, 20_000];

export function createModelKubelet(options: KubeletOptions): ModelKubelet {
  const { host, fateOf, files, beforeStart, isSupervised, startLimit } = options;
  let read = files();
  let runs = 1;
  let starts = 0;
  let orders = 0;
  let crashes = 0;
  let startedAt = host.now - START_MS;
  let isUp = true;
  let isBegun = true;
  let isStopped = false;
  let restartAt = Infinity;
  let automaticRestarts = 0;
  let lastHealthyAt = host.now;

  const fate = (): Fate => (read.isTouched ? 'good' : isBadUnder(read) ? 'dies' : fateOf(read.ours));
  const age = (): Millis => host.now - startedAt;
  const isHealthy = (): boolean => {
    if (!isUp || !isBegun || host.isRuntimeDown || age() < START_MS) return false;
    if (fate() === 'flaps') return (age() - START_MS) % FLAP_MS < FLAP_WELL_MS;
    return fate() !== 'dies' && fate() !== 'hangs';
  };
  const nextOfItself = (): Millis => {
    if (!isUp) return restartAt;
    if (!isBegun) return Infinity;
    if (age() < START_MS) return startedAt + START_MS;
    if (fate() === 'dies') return host.now;
    if (fate() !== 'flaps') return Infinity;
    const into = (age() - START_MS) % FLAP_MS;
    return host.now + (into < FLAP_WELL_MS ? FLAP_WELL_MS - into : FLAP_MS - into);
  };
  const begin = (): void => {
    beforeStart();
    isBegun = !isSupervised || !host.isApiAway;
    if (isBegun) read = files();
    else host.count('kubelet that waits for a server');
    runs += 1;
    starts += 1;
    startedAt = host.now;
    isUp = true;
    isStopped = false;
    restartAt = Infinity;
  };
  const end = (): void => {
    isUp = false;
    crashes += 1;
    const hasGivenUp = automaticRestarts >= startLimit;
    if (hasGivenUp) host.count('kubelet given up by the service manager');
    restartAt = hasGivenUp ? Infinity : host.now + RESTART_MS;
  };

  return {
    isHealthy,
    isWaiting: () => isUp && !isBegun,
    unhealthyForMs: () => (isHealthy() ? 0 : host.now - lastHealthyAt),
    read: () => read,
    starts: () => starts,
    unorderedStarts: () => starts - orders,
    crashes: () => crashes,
    status: () =>
      isUp
        ? { state: isBegun ? 'running' : 'starting', run: `run-${runs}`, automaticRestarts }
        : isStopped
          ? { state: 'stopped', run: null, automaticRestarts: 0, wasStopped: true }
          : restartAt === Infinity
            ? { state: 'failed', run: null, automaticRestarts, lastExit: 'exit-code 1' }
            : { state: 'starting', run: null, automaticRestarts, awaitsRestart: true, lastExit: 'exit-code 1' },
    start(by) {
      orders += by === 'order' ? 1 : 0;
      automaticRestarts = 0;
      begin();
    },
    crash() {
      if (!isUp) return;
      host.count('kubelet crash');
      end();
    },
    stopByHand() {
      [isUp, isStopped, restartAt] = [false, true, Infinity];
    },
    serverIsBack() {
      if (!isUp || isBegun) return;
      [isBegun, read, startedAt] = [true, files(), host.now];
    },
    dueAt: nextOfItself,
    run() {
      if (isUp && isBegun && age() >= START_MS && fate() === 'dies') return end();
      if (isUp || host.now < restartAt) return;
      automaticRestarts += 1;
      begin();
    },
    pass(until) {
      if (isHealthy()) lastHealthyAt = until;
    },
  };
}
