import type { Memory } from '#agent/observe/memory.ts';
import type { Files, Intent, Observation, Repair, Running, Staged } from '#agent/decide/observation.ts';
import { createStartTracker, MOST_REPAIRS } from '#agent/observe/repair.ts';
import { activeOf, sameConfig, type State, type Target } from '#agent/decide/state.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ModelFiles } from './files.ts';
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
  readonly memory: Memory;
  readonly intent: () => Intent;
  readonly isUninstalling: boolean;
  readonly at: () => string;
}

const HOUR_MS = 3_600_000;
const IDLE_CONFIGZ_MS = 15 * 60_000;
/** After so long without a healthy kubelet, the Node is no longer called Ready. */
const NOT_READY_MS = 40_000;
const STALE_MS = 10_000;

/** For one process. */
export function createModelLook(options: LookOptions): (state: State) => Observation {
  const { host, kubelet, guard, files, fateOf, hasCheckpoint, memory, isUninstalling, at } = options;
  const tracker = createStartTracker();
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
  const lookAtConfig = ({ doing }: State, active: Target, run: string | null): Running => {
    if (active === null || !hasCheckpoint(active)) return { running: 'unseen', why: 'there is no payload' };
    const isJudged = doing.phase === 'trial' && doing.change.step === 'judge';
    if (doing.phase !== 'idle' && !isJudged) return { running: 'unseen', why: 'the kubelet is being changed' };
    const isFresh = configz?.run === run && host.now - configz.at < (isJudged ? 0 : IDLE_CONFIGZ_MS);
    if (!isFresh || configz === undefined) configz = { run, at: host.now, running: compare(active) };
    return configz.running;
  };
  const lookForRepair = (state: State, seenFiles: Files, running: Running): Repair => {
    const config = state.lastKnownGood;
    const hasDrifted = seenFiles.files === 'differ' || running.running === 'contradicts';
    if (state.doing.phase !== 'idle' || config === null || !hasDrifted || config.drift === 'report')
      return { repair: 'none' };
    const lately = memory.repairs.filter((when) => host.now - when < HOUR_MS);
    if (lately.length >= MOST_REPAIRS) return { repair: 'paused', times: lately.length };
    if (!hasCheckpoint(config)) return { repair: 'none' };
    return { repair: 'ready', newBase: files.isNewBase() };
  };
  const nodeReady = (): Observation['nodeReady'] => {
    const unhealthyMs = kubelet.unhealthyForMs();
    if (host.isApiAway) return 'unknown';
    return unhealthyMs > NOT_READY_MS ? 'no' : unhealthyMs > STALE_MS ? 'unknown' : 'yes';
  };

  return (state) => {
    const active = activeOf(state);
    const intent: Intent = isUninstalling ? { intent: 'local' } : options.intent();
    const seenFiles = lookAtFiles(active);
    const service = kubelet.status();
    const running = lookAtConfig(state, active, service.run);
    tracker.tell(service.run, seenFiles.files === 'installed');
    const seen: Observation = {
      intent,
      generation: 1,
      staged: recalled(memory, intent, host.now),
      files: seenFiles,
      service,
      health: kubelet.isHealthy() ? { health: 'ok' } : { health: 'down', reason: 'nobody listens' },
      running,
      startedAsInstalled: tracker.asInstalled(),
      repair: lookForRepair(state, seenFiles, running),
      guard: guard.look(),
      guardFault: memory.guardFault && { ...memory.guardFault, retryInMs: memory.guardFault.retryAt - host.now },
      leaving: !isUninstalling ? 'no' : memory.left ? 'done' : 'asked',
      nodeReady: nodeReady(),
      kubeletVersion: 'v1.34.2',
      restart: memory.restart,
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

function recalled(memory: Memory, intent: Intent, now: Millis): Staged | null {
  const { staged } = memory;
  if (staged === null) return null;
  const { config, result, retryAt } = staged;
  const wanted = intent.intent === 'config' ? intent.config : null;
  if (!sameConfig(config, wanted) || !isDeepStrictEqual(config.source, wanted?.source)) {
    if (intent.intent !== 'unknown') memory.staged = null;
    return null;
  }
  return result.outcome === 'unavailable'
    ? { config, ...result, outcome: 'unavailable', retryInMs: retryAt - now }
    : ({ config, ...result } as Staged);
}
