import { MEASURE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { CheckpointStore } from '../checkpoint/checkpoint-store.ts';
import { intentOf } from '../decide/assignment/intent.ts';
import { orderIn } from '../decide/assignment/order.ts';
import { preflightRequestOf } from '../decide/assignment/preflight-request.ts';
import { candidateFromMemory } from '../decide/preflight-candidate.ts';
import { type ProcessMemory, observationFromMemory } from '../decide/process-memory.ts';
import type { Intent, Observation, Staged } from '../decide/observation.ts';
import { isDown } from '../decide/start-failed-kubelet.ts';
import { activeOf, type Config, type State, type NodePressure } from '../decide/state.ts';
import { maxNodeAgeMs, needsLease, needsPressure, readinessOf, REGISTERING_MS } from '../decide/read-schedule.ts';
import { addressOf } from '../kubelet/kubelet-address.ts';
import type { ConfigDirDropIn } from '../kubelet/config-dir-drop-ins.ts';
import { servingCertsOf } from '../kubelet/pinned-certificate.ts';
import type { ReadCommandLine } from '../ports/command-line.ts';
import type { Guard } from '../ports/guard.ts';
import type { Installer } from '../ports/installer.ts';
import type { OwnNode } from '../ports/own-node.ts';
import type { Health, KubeletAddress, KubeletProbe } from '../ports/kubelet-probe.ts';
import type { KubeletService, ServiceStatus } from '../ports/kubelet-service.ts';
import type { CountEnds, ReadKubeletStart } from '../ports/kubelet-start.ts';
import { parseFlags, removedFlags, withFlags } from '../kubelet/flags.ts';
import { createExitTracker } from './exit-tracker.ts';
import { createForeignRuns } from './foreign-runs.ts';
import { installableOf, observeFiles, type SeenFiles } from './managed-files.ts';
import { createRunNames, fingerprintOf } from './fingerprint.ts';
import type { NodeLease } from './node-lease.ts';
import { createEndCounter } from './end-counter.ts';
import { createDurationTracker } from './duration-tracker.ts';
import { createKubeletMeasures, type MeasureReading } from './kubelet-measures.ts';
import { recoverLostBase } from './lost-base.ts';
import { createConfigzReader, type ReadConfigz, compareRunningConfig } from './running-config.ts';
import { runsAlready } from './runs-already.ts';
import { createStartTracker } from './start-tracker.ts';

interface ObserveOptions {
  readonly clock: Clock;
  readonly service: KubeletService;
  readonly probe: KubeletProbe;
  readonly installer: Installer;
  readonly payloads: CheckpointStore['payloads'];
  readonly ownNode: OwnNode;
  readonly nodeLease: NodeLease;
  readonly guard: Guard;
  /** See `AgentPorts`. */
  readonly commandLine?: ReadCommandLine;
  /** See `AgentPorts`. */
  readonly kubeletStart?: ReadKubeletStart;
  /** See `AgentPorts`. */
  readonly countEnds?: CountEnds;
  /** See `AgentPorts`. */
  readonly outOfMemory?: () => Promise<NodePressure['outOfMemory']>;
  /** How many the machine has; undefined where that cannot be seen. */
  readonly numaNodes?: () => Promise<number | undefined>;
  readonly dropIns?: (kubeletArgs: readonly string[]) => Promise<readonly ConfigDirDropIn[]>;
  readonly bootId: () => Promise<string>;
  /** This node is to be given up, whatever the API server wants. */
  readonly uninstall: boolean;
  /** The node's KubeletNode as last heard of. */
  readonly assignment: () => KubeletNode | null;
  readonly memory: ProcessMemory;
}

export type Observe = (state: State, signal: AbortSignal) => Promise<Observation>;

/** Reads everything that a decision can ask for, into one value. Decides nothing. */
export function createObserve(options: ObserveOptions): Observe {
  const { clock, service, probe, installer, payloads, ownNode, guard, memory } = options;
  const outOfMemory = async (): Promise<NodePressure['outOfMemory']> =>
    (await options.outOfMemory?.().catch(() => null)) ?? null;
  const started = createStartTracker();
  const foreign = createForeignRuns();
  const runs = createRunNames();
  const down = createDurationTracker();
  const ended = createEndCounter();
  const withLastExit = createExitTracker(memory);
  const readConfigz = createConfigzReader(probe, clock);
  let numaNodes: number | undefined;
  const measure = createKubeletMeasures();
  let lastAt: Millis | undefined;
  let bootId = '';
  let lastAddress: KubeletAddress = NOWHERE;
  let run: { readonly id: string | null; readonly since: Millis } | undefined;

  /** Whether a restart with the wanted config would change nothing. */
  async function runsWanted(
    wanted: Config,
    { files, base, effective }: SeenFiles,
    configz: ReadConfigz,
    args: readonly string[],
  ): Promise<boolean> {
    const found = await installableOf(base.under === null ? wanted : { ...wanted, base: base.under }, payloads);
    if ('lost' in found) return false;
    const plan = await installer.plan(found.installable).catch(() => null);
    const read = await configz();
    if (plan === null || !read.seen) return false;
    const isThere = await installer.isInstalled(plan);
    if (!isThere && files.files !== 'installed') return false;
    const question = { wanted: plan.effective, present: isThere ? plan.effective : effective, running: read.config };
    return runsAlready(question, args, await ownNode.kubeletVersion());
  }

  return async (state, signal) => {
    const startedAt = clock.monotonic();
    numaNodes ??= await options.numaNodes?.().catch(() => undefined);
    const assignment = options.assignment();
    const intent: Intent = options.uninstall ? { intent: 'local' } : intentOf(assignment);
    const order = options.uninstall ? undefined : orderIn(assignment);
    bootId = await options.bootId().catch(() => bootId);
    // How drop-ins are merged, and so where the kubelet listens and with what, depends on it.
    if (lastAt === undefined && (await ownNode.kubeletVersion()) === undefined) await ownNode.look(0, signal);
    const minorBefore = minorNumber((await ownNode.kubeletVersion()) ?? '');
    let seenFiles = await observeFiles(activeOf(state), payloads, installer);
    // The run first: what is read after it belongs to this run or to a later one.
    const shown = withLastExit(await service.status(signal).catch(unknownService));
    if (run === undefined || run.id !== shown.run) run = { id: shown.run, since: startedAt };
    // What stands on its command line wins over its files.
    const commandLine = await options.commandLine?.(shown);
    const args = commandLine?.args ?? [];
    if (isReadable(seenFiles)) {
      const effective = withFlags(seenFiles.effective, args);
      const certDir = parseFlags(args).findLast(([flag]) => flag === 'cert-dir')?.[1];
      lastAddress = { ...addressOf(effective), servingCerts: servingCertsOf(effective, certDir) };
    }
    const address = lastAddress;
    const health =
      address.healthz === null ? ({ health: 'off' } as const) : await probe.health(address, signal).catch(unanswered);
    const status = (await options.countEnds?.(shown, health.health === 'ok')) ?? shown;
    const configz = () => readConfigz.read(state, address, status.run, signal);
    // What was laid over the node's own config is judged while it is tried: later on, that config is its owner's.
    const isOnTrial = state.doing.phase === 'trial';
    const running = await compareRunningConfig(
      seenFiles.payload,
      isOnTrial && started.asInstalled() ? seenFiles.effective : undefined,
      configz,
      ownNode.kubeletVersion,
      args,
      async () => (await options.dropIns?.(args)) ?? [],
    );
    const starter = health.health === 'ok' ? undefined : await options.kubeletStart?.(status).catch(() => undefined);
    const isAtRest = state.doing.phase === 'idle';
    const sight = readConfigz.sights.visibility(status.run, isAtRest, clock.monotonic());
    seenFiles = foreign.update(state, status.run, seenFiles);
    started.update(status.run, seenFiles.files.files === 'installed');
    // Nobody knows how old a run is that was there before this process.
    const runAgeMs = startedAt - run.since + (started.wasSeen() ? 0 : REGISTERING_MS);
    const node = await ownNode.look(maxNodeAgeMs(state, intent, runAgeMs), signal);
    // What is on disk may be right for one version, and wrong for the one that was just heard of.
    if (minorBefore !== undefined && minorNumber(node.kubeletVersion ?? '') !== minorBefore)
      seenFiles = await observeFiles(activeOf(state), payloads, installer);
    const isStale = needsLease(state, node.ready) && (await options.nodeLease.isStale(signal));
    const isAsked = needsPressure(state, intent);
    const start = { startedAsInstalled: started.asInstalled(), startWasSeen: started.wasSeen() };
    const readMeasures = async (): Promise<MeasureReading | null> => {
      const counters = await probe.counters(address, signal).catch(() => null);
      if (counters === null) return null;
      const counts = await outOfMemory();
      const killed = counts && Object.values(counts).reduce((sum, count) => sum + count, 0);
      const minor = minorNumber(node.kubeletVersion ?? '');
      return { counters, outOfMemory: killed, reserved: node.reserved, minor };
    };
    const measures = await measure(
      {
        mark: assignment?.metadata.annotations?.[MEASURE_ANNOTATION],
        sha256: activeOf(state)?.source.sha256,
        run: status.run,
        at: startedAt,
      },
      readMeasures,
    );
    const recalled = observationFromMemory(memory, intent, options.uninstall, startedAt);
    const seen: Observation = {
      intent,
      generation: assignment?.metadata.generation,
      ...(order && { order }),
      ...recalled,
      candidate: candidateFromMemory(preflightRequestOf(assignment), memory.candidate, startedAt),
      files: seenFiles.files,
      service: status,
      health,
      ...(starter === undefined ? {} : { starter }),
      ...(node.isAway === true ? { isApiAway: true } : {}),
      running,
      sight,
      ends: ended.update(status, health.health === 'ok', startedAt),
      downMs: down.update(isDown({ service: status }), startedAt),
      ...start,
      ...(runAgeMs < REGISTERING_MS ? { isRegistering: true } : {}),
      base: await recoverLostBase(seenFiles, { ...start, health, kubeletVersion: node.kubeletVersion }, configz),
      runsStaged:
        isReadyAtRest(state, recalled) && (await runsWanted(recalled.staged.config, seenFiles, configz, args)),
      fingerprint: fingerprintOf(
        activeOf(state),
        intent,
        seenFiles,
        runs.nameOf(status, health.health === 'ok'),
        bootId,
      ),
      guard: await guard.look(),
      nodeReady: readinessOf(node.ready, isStale),
      ...(node.notReady === undefined ? {} : { notReady: node.notReady }),
      strain: {
        pressures: node.pressures,
        outOfMemory: isAsked ? await outOfMemory() : null,
        pods: isAsked ? await probe.podHarm(address, signal).catch(() => null) : null,
        bootId,
      },
      ...(measures === undefined ? {} : { measures }),
      kubeletVersion: node.kubeletVersion,
      kubeletFlags: commandLine && removedFlags(args),
      ...(options.commandLine && { commandLine: commandLine?.seenIn ?? 'unseen' }),
      numaNodes,
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

const unanswered = (error: unknown): Health => ({ health: 'down', reason: reasonOf(error) });

/** No address: without a config file that names it, a kubelet that does not answer is not blamed. */
const NOWHERE: KubeletAddress = { healthz: null, api: null };

const isReadable = ({ files }: SeenFiles): boolean => files.files === 'installed' || files.files === 'differ';

type Ready = Extract<Staged, { readonly outcome: 'ready' }>;

const isReadyAtRest = (
  { doing }: State,
  recalled: Pick<Observation, 'staged'>,
): recalled is { readonly staged: Ready } => doing.phase === 'idle' && recalled.staged?.outcome === 'ready';
