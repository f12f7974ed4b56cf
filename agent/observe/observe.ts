import { isDeepStrictEqual } from 'node:util';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { intentOf } from '../decide/assignment/assignment.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { CheckpointStore } from '../checkpoint/store.ts';
import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import { lookAtFiles, type SeenFiles } from './files.ts';
import type { Guard } from '../ports/guard.ts';
import { addressOf } from '../kubelet/kubelet-address.ts';
import { createKubeletArgs } from '../kubelet/kubelet-args.ts';
import type { Installer } from '../ports/installer.ts';
import type { Health, KubeletAddress, KubeletProbe, RunningConfig } from '../ports/probe.ts';
import type { KubeletService, ServiceStatus } from '../ports/service.ts';
import type { Memory } from './memory.ts';
import type { Intent, Observation, Running, Staged } from '../decide/observation.ts';
import type { NodeLease } from './node-lease.ts';
import type { OwnNode } from '../ports/own-node.ts';
import { withFlags } from '../preflight/checks/flags.ts';
import { createRepairLook, createStartTracker } from './repair.ts';
import type { StageOptions } from '../staging/stage.ts';
import { activeOf, sameConfig, type State } from '../decide/state.ts';

export interface ObserveOptions {
  readonly clock: Clock;
  readonly service: KubeletService;
  readonly probe: KubeletProbe;
  readonly installer: Installer;
  readonly payloads: CheckpointStore['payloads'];
  readonly ownNode: OwnNode;
  readonly nodeLease: NodeLease;
  readonly guard: Guard;
  /** See `AgentPorts`. */
  readonly kubeletArgs?: (pid: number) => Promise<readonly string[] | undefined>;
  readonly bootId: () => Promise<string>;
  /** This node is to be given up, whatever the API server wants. */
  readonly uninstall: boolean;
  readonly staging: StageOptions;
  /** The node's KubeletNode as last heard of. */
  readonly assignment: () => KubeletNode | null;
  readonly memory: Memory;
}

export type Observe = (state: State, signal: AbortSignal) => Promise<Observation>;

/** While nothing is being changed, the API server and the kubelet's authorizer are asked only this often. */
const IDLE_NODE_MS = 30 * 60_000;
const IDLE_CONFIGZ_MS = 15 * 60_000;
/** A kubelet that was started anew, perhaps as a newer one, tells its version within a minute. */
const NEW_RUN_MS = 3 * 60_000;
const NEW_RUN_NODE_MS = 60_000;

/** Reads everything that a decision can ask for, into one value. Decides nothing. */
export function createObserve(options: ObserveOptions): Observe {
  const { clock, service, probe, installer, payloads, ownNode, guard, memory } = options;
  const lookForRepair = createRepairLook(memory, options.staging);
  const started = createStartTracker();
  const kubeletArgs = createKubeletArgs(options.kubeletArgs ?? (() => Promise.resolve(undefined)));
  const lookAtConfig = createConfigzReader(probe, clock, ownNode.kubeletVersion);
  let lastAt: Millis | undefined;
  let bootId = '';
  let run: { readonly id: string | null; readonly since: Millis } | undefined;

  return async (state, signal) => {
    const startedAt = clock.monotonic();
    const assignment = options.assignment();
    const intent: Intent = options.uninstall ? { intent: 'local' } : intentOf(assignment);
    const staged = recalled(memory, intent, startedAt);
    const isTrial = state.doing.phase === 'trial';
    const active = activeOf(state);
    bootId = await options.bootId().catch(() => bootId);
    const seenFiles = await lookAtFiles(active, payloads, installer);
    // The run first: what is read after it belongs to this run or to a later one.
    const status = withLastExit(await service.status(signal).catch(unknownService), memory);
    if (run === undefined || run.id !== status.run) run = { id: status.run, since: startedAt };
    // What stands on its command line wins over its files.
    const address = addressOf(withFlags(seenFiles.effective, await kubeletArgs(status.run, status.pid)));
    const health =
      address.healthz === null ? ({ health: 'off' } as const) : await probe.health(address, signal).catch(down);
    const running = await lookAtConfig(state, seenFiles.payload, address, status.run, signal);
    const isWanted = isTrial || (intent.intent === 'config' && !sameConfig(intent.config, active));
    const isNewRun = startedAt - run.since < NEW_RUN_MS;
    started.tell(status.run, seenFiles.files.files === 'installed');
    const node = await ownNode.look(isWanted ? 0 : isNewRun ? NEW_RUN_NODE_MS : IDLE_NODE_MS, signal);
    const seen: Observation = {
      intent,
      generation: assignment?.metadata.generation,
      staged,
      files: seenFiles.files,
      service: status,
      health,
      running,
      startedAsInstalled: started.asInstalled(),
      repair: await lookForRepair({ state, intent, seenFiles, running, startedAt }, signal),
      guard: await guard.look(),
      guardFault: memory.guardFault && { ...memory.guardFault, retryInMs: memory.guardFault.retryAt - startedAt },
      leaving: !options.uninstall ? 'no' : memory.left ? 'done' : 'asked',
      nodeReady: isTrial && node.ready === 'yes' && (await options.nodeLease.isStale(signal)) ? 'unknown' : node.ready,
      kubeletVersion: node.kubeletVersion,
      restart: memory.restart,
      bootId,
      elapsedMs: lastAt === undefined ? 0 : startedAt - lastAt,
      first: lastAt === undefined,
      at: toTimestamp(clock.now()),
      pollMs: service.pollMs,
    };
    lastAt = startedAt;
    return seen;
  };
}

// Ports do not throw by contract; but nothing that they do may keep a trial from being judged.
const unknownService = (error: unknown): ServiceStatus => ({
  state: 'unknown',
  run: null,
  automaticRestarts: null,
  reason: reasonOf(error),
});
/** What ended the run before this one is what people ask first. */
function withLastExit(status: ServiceStatus, memory: Memory): ServiceStatus {
  memory.lastExit = status.lastExit ?? memory.lastExit;
  return memory.lastExit === undefined ? status : { ...status, lastExit: memory.lastExit };
}

const down = (error: unknown): Health => ({ health: 'down', reason: reasonOf(error) });
const unread = (error: unknown): RunningConfig => ({ seen: false, why: 'error', reason: reasonOf(error) });

/** What was staged counts for the very same assignment only; anything else is forgotten. */
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

/** Reads /configz, at each look while the running config is being judged, and now and then otherwise. */
function createConfigzReader(probe: KubeletProbe, clock: Clock, kubeletVersion: OwnNode['kubeletVersion']) {
  let last: { readonly config: RunningConfig; readonly run: string | null; readonly at: Millis } | undefined;
  const read = async (address: KubeletAddress, run: string | null, maxAgeMs: Millis, signal: AbortSignal) => {
    const isFresh = last?.run === run && clock.monotonic() - last.at < maxAgeMs;
    if (last === undefined || !isFresh) {
      const config = await probe.runningConfig(address, signal).catch(unread);
      last = { config, run, at: clock.monotonic() };
    }
    return last.config;
  };
  return async (
    { doing }: State,
    payload: SeenFiles['payload'],
    address: KubeletAddress,
    run: string | null,
    signal: AbortSignal,
  ): Promise<Running> => {
    if (payload === null) return { running: 'unseen', why: 'there is no payload to compare it with' };
    if (address.api === null) return { running: 'unseen', why: 'the kubelet serves no API' };
    const isJudged = doing.phase === 'trial' && doing.change.step === 'judge';
    if (doing.phase !== 'idle' && !isJudged) return { running: 'unseen', why: 'the kubelet is being changed' };
    const config = await read(address, run, isJudged ? 0 : IDLE_CONFIGZ_MS, signal);
    if (!config.seen) return { running: 'unseen', why: config.reason };
    const differences = contradictions(payload, config.config, await kubeletVersion());
    return differences.length === 0 ? { running: 'as-meant' } : { running: 'contradicts', differences };
  };
}
