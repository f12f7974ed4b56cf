import { type ProcessMemory, observationFromMemory } from '#agent/decide/process-memory.ts';
import type { Files, Intent, Observation, Running } from '#agent/decide/observation.ts';
import { activeOf, sameConfig, type State, type Target } from '#agent/decide/state.ts';
import { needsLease, planConfigz, readinessOf } from '#agent/decide/read-schedule.ts';
import { isDown } from '#agent/decide/start-failed-kubelet.ts';
import { createDurationTracker } from '#agent/observe/duration-tracker.ts';
import { createRunNames } from '#agent/observe/fingerprint.ts';
import { createStartTracker } from '#agent/observe/start-tracker.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { type ModelFiles, sameFiles } from './files.ts';
import type { ModelGuard } from './guard.ts';
import type { Fate, Host } from './host.ts';
import type { ModelKubelet } from './kubelet.ts';

/** What an agent's process looks at: as `agent/observe/observe.ts` does, in model time. */
export interface LookOptions {
  readonly host: Host;
  readonly kubelet: ModelKubelet;
  readonly guard: ModelGuard;
  readonly files: ModelFiles;
  readonly fateOf: (target: Target) => Fate;
  readonly hasCheckpoint: (target: Target) => boolean;
  readonly memory: ProcessMemory;
  readonly intent: () => Intent;
  readonly isUninstalling: boolean;
  readonly at: () => string;
}

/** After so long without a healthy kubelet, its Lease counts as stale, and its Node is no longer called Ready. */
const STALE_MS = 10_000;
const NOT_READY_MS = 40_000;

/** For one process. */
export function createModelObserve(options: LookOptions): (state: State) => Observation {
  const { host, kubelet, guard, files, fateOf, hasCheckpoint, memory, isUninstalling, at } = options;
  const tracker = createStartTracker();
  const runs = createRunNames();
  const down = createDurationTracker();
  let lastAt: Millis | undefined;
  let configz: { readonly run: string | null; readonly at: Millis; readonly running: Running } | undefined;

  const lookAtFiles = (active: Target): Files => {
    if (!hasCheckpoint(active)) return { files: 'lost', message: 'the checkpoint is gone' };
    return { files: files.isInstalled(active) ? 'installed' : 'differ' };
  };
  const compare = (active: Target): Running => {
    if (!kubelet.isHealthy()) return { running: 'unseen', why: 'nobody listens' };
    const read = kubelet.read();
    const isMeant = !read.isTouched && sameConfig(read.ours, active) && fateOf(read.ours) !== 'shadowed';
    return isMeant ? { running: 'as-meant' } : { running: 'contradicts', differences: ['maxPods=110 instead of 250'] };
  };
  const lookAtConfig = (state: State, active: Target, run: string | null): Running => {
    if (active === null || !hasCheckpoint(active)) return { running: 'unseen', why: 'there is no payload' };
    const plan = planConfigz(state, run, configz, host.now);
    if (plan.configz === 'pass') return { running: 'unseen', why: plan.why };
    if (plan.configz === 'read' || configz === undefined) configz = { run, at: host.now, running: compare(active) };
    return configz.running;
  };
  const nodeReady = (state: State): Observation['nodeReady'] => {
    if (host.isApiAway) return 'unknown';
    const unhealthyMs = kubelet.unhealthyForMs();
    const ready = unhealthyMs > NOT_READY_MS ? 'no' : 'yes';
    return readinessOf(ready, needsLease(state, ready) && unhealthyMs > STALE_MS);
  };

  /** No two configs of the model say the same; but a kubelet may run one whose agent knows nothing of it any more. */
  const isRunning = (staged: Observation['staged'], { files: seenFiles }: Files): boolean => {
    if (staged?.outcome !== 'ready' || seenFiles !== 'installed' || !kubelet.isHealthy()) return false;
    return sameFiles(kubelet.read(), files.asFor(staged.config)) && fateOf(staged.config) !== 'shadowed';
  };
  const fingerprintOf = (active: Target, intent: Intent, run: string | null): string => {
    const config = active ?? (intent.intent === 'config' ? intent.config : null);
    const { under, newer } = files.baseOf(active);
    return [config?.source.sha256, config?.apply, newer?.sha256 ?? under, run, host.boots].join(' ');
  };

  return (state) => {
    const active = activeOf(state);
    const intent: Intent = isUninstalling ? { intent: 'local' } : options.intent();
    const seenFiles = lookAtFiles(active);
    const service = kubelet.status();
    const running = lookAtConfig(state, active, service.run);
    tracker.update(service.run, seenFiles.files === 'installed');
    const recalled = observationFromMemory(memory, intent, isUninstalling, host.now);
    const seen: Observation = {
      intent,
      generation: 1,
      ...recalled,
      candidate: null,
      files: seenFiles,
      service,
      ...(kubelet.isWaiting() ? { starter: { program: 'k3s', hostsServer: false } } : {}),
      ...(host.isApiAway ? { isApiAway: true } : {}),
      health: kubelet.isHealthy() ? { health: 'ok' } : { health: 'down', reason: 'nobody listens' },
      running,
      sight: { sight: 'seen' },
      downMs: down.update(isDown({ service }), host.now),
      startedAsInstalled: tracker.asInstalled(),
      startWasSeen: tracker.wasSeen(),
      base: hasCheckpoint(active) ? files.baseOf(active) : { under: null, newer: null },
      runsStaged: isRunning(recalled.staged, seenFiles),
      fingerprint: fingerprintOf(active, intent, runs.nameOf(service, kubelet.isHealthy())),
      guard: guard.look(),
      nodeReady: nodeReady(state),
      strain: { pressures: [], outOfMemory: null, pods: null, bootId: `boot-${host.boots}` },
      kubeletVersion: 'v1.34.2',
      bootId: `boot-${host.boots}`,
      elapsedMs: lastAt === undefined ? 0 : host.now - lastAt,
      first: lastAt === undefined,
      at: at(),
      pollMs: 5_000,
    };
    lastAt = host.now;
    return seen;
  };
}
