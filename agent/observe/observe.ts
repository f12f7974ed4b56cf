import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { CheckpointStore } from '../checkpoint/store.ts';
import { intentOf } from '../decide/assignment/assignment.ts';
import { type Memory, recall } from '../decide/memory.ts';
import type { Intent, Observation, Running } from '../decide/observation.ts';
import { activeOf, type State } from '../decide/state.ts';
import { maxNodeAgeMs, needsLease, planConfigz, readinessOf } from '../decide/what-to-read.ts';
import { addressOf } from '../kubelet/kubelet-address.ts';
import { createKubeletArgs } from '../kubelet/kubelet-args.ts';
import type { Guard } from '../ports/guard.ts';
import type { Installer } from '../ports/installer.ts';
import type { OwnNode } from '../ports/own-node.ts';
import type { Health, KubeletAddress, KubeletProbe, RunningConfig } from '../ports/probe.ts';
import type { KubeletService, ServiceStatus } from '../ports/service.ts';
import { withFlags } from '../preflight/checks/flags.ts';
import { lookAtFiles, type SeenFiles } from './files.ts';
import type { NodeLease } from './node-lease.ts';
import { createStartTracker } from './start-tracker.ts';

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
  /** The node's KubeletNode as last heard of. */
  readonly assignment: () => KubeletNode | null;
  readonly memory: Memory;
}

export type Observe = (state: State, signal: AbortSignal) => Promise<Observation>;

/** Reads everything that a decision can ask for, into one value. Decides nothing. */
export function createObserve(options: ObserveOptions): Observe {
  const { clock, service, probe, installer, payloads, ownNode, guard, memory } = options;
  const started = createStartTracker();
  const withLastExit = createExitTracker(memory);
  const kubeletArgs = createKubeletArgs(options.kubeletArgs ?? (() => Promise.resolve(undefined)));
  const lookAtConfig = createConfigzReader(probe, clock, ownNode.kubeletVersion);
  let lastAt: Millis | undefined;
  let bootId = '';
  let run: { readonly id: string | null; readonly since: Millis } | undefined;

  return async (state, signal) => {
    const startedAt = clock.monotonic();
    const assignment = options.assignment();
    const intent: Intent = options.uninstall ? { intent: 'local' } : intentOf(assignment);
    bootId = await options.bootId().catch(() => bootId);
    const seenFiles = await lookAtFiles(activeOf(state), payloads, installer);
    // The run first: what is read after it belongs to this run or to a later one.
    const status = withLastExit(await service.status(signal).catch(unknownService));
    if (run === undefined || run.id !== status.run) run = { id: status.run, since: startedAt };
    // What stands on its command line wins over its files.
    const address = addressOf(withFlags(seenFiles.effective, await kubeletArgs(status.run, status.pid)));
    const health =
      address.healthz === null ? ({ health: 'off' } as const) : await probe.health(address, signal).catch(down);
    const running = await lookAtConfig(state, seenFiles.payload, address, status.run, signal);
    started.tell(status.run, seenFiles.files.files === 'installed');
    const node = await ownNode.look(maxNodeAgeMs(state, intent, startedAt - run.since), signal);
    const isStale = needsLease(state, node.ready) && (await options.nodeLease.isStale(signal));
    const seen: Observation = {
      intent,
      generation: assignment?.metadata.generation,
      ...recall(memory, intent, options.uninstall, startedAt),
      files: seenFiles.files,
      service: status,
      health,
      running,
      startedAsInstalled: started.asInstalled(),
      newBase: seenFiles.newBase,
      guard: await guard.look(),
      nodeReady: readinessOf(node.ready, isStale),
      kubeletVersion: node.kubeletVersion,
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

/**
 * Remembers how the kubelet last ended by itself since the agent ordered a restart. Service managers forget that as soon as
 * the next run begins, and it is the first thing that people ask.
 */
function createExitTracker(memory: Memory): (status: ServiceStatus) => ServiceStatus {
  let lastExit: string | undefined;
  let restarts = 0;
  return (status) => {
    if (memory.restarts !== restarts) lastExit = undefined;
    restarts = memory.restarts;
    lastExit = status.lastExit ?? lastExit;
    return lastExit === undefined ? status : { ...status, lastExit };
  };
}

const down = (error: unknown): Health => ({ health: 'down', reason: reasonOf(error) });
const unread = (error: unknown): RunningConfig => ({ seen: false, why: 'error', reason: reasonOf(error) });

/** Compares what the kubelet runs with what it is meant to run, as often as `planConfigz` says. */
function createConfigzReader(probe: KubeletProbe, clock: Clock, kubeletVersion: OwnNode['kubeletVersion']) {
  let last: { readonly config: RunningConfig; readonly run: string | null; readonly at: Millis } | undefined;
  return async (
    state: State,
    payload: SeenFiles['payload'],
    address: KubeletAddress,
    run: string | null,
    signal: AbortSignal,
  ): Promise<Running> => {
    if (payload === null) return { running: 'unseen', why: 'there is no payload to compare it with' };
    if (address.api === null) return { running: 'unseen', why: 'the kubelet serves no API' };
    const plan = planConfigz(state, run, last, clock.monotonic());
    if (plan.configz === 'pass') return { running: 'unseen', why: plan.why };
    if (plan.configz === 'read' || last === undefined) {
      const config = await probe.runningConfig(address, signal).catch(unread);
      last = { config, run, at: clock.monotonic() };
    }
    if (!last.config.seen) return { running: 'unseen', why: last.config.reason };
    const differences = contradictions(payload, last.config.config, await kubeletVersion());
    return differences.length === 0 ? { running: 'as-meant' } : { running: 'contradicts', differences };
  };
}
