import { join } from 'node:path';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { type Clock, toTimestamp } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { VERSION } from '#shared/runtime/version.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';
import { createExecute } from './execute/execute.ts';
import { createExplain } from './execute/explain.ts';
import { createCheckpointStore } from './checkpoint/checkpoint-store.ts';
import { decide } from './decide/decide.ts';
import { awaitsReboot } from './decide/reboot.ts';
import { DEFAULT_TIMING, type AgentTiming } from './decide/timing.ts';
import { type Guard, noGuard } from './ports/guard.ts';
import type { MarkLog, ReadLastErrors } from './ports/last-errors.ts';
import type { Disk } from './ports/disk.ts';
import { createStateSaver } from './execute/save-state.ts';
import type { Installer } from './ports/installer.ts';
import type { ConfigDirDropIn } from './kubelet/config-dir-drop-ins.ts';
import type { ReadCommandLine } from './ports/command-line.ts';
import type { KubeletProbe } from './ports/kubelet-probe.ts';
import type { KubeletService } from './ports/kubelet-service.ts';
import type { CountEnds, ReadKubeletStart } from './ports/kubelet-start.ts';
import { runLoop, type LoopSteps } from './control-loop.ts';
import { emptyMemory, dropOutdated } from './execute/mutable-memory.ts';
import { countDecision, NO_COUNTS } from './metrics/trial-counts.ts';
import type { AgentView } from './metrics/families.ts';
import { createObserve } from './observe/observe.ts';
import { createNodeLease } from './observe/node-lease.ts';
import type { CheckWritable } from './kubelet/check-writable.ts';
import type { OwnNode } from './ports/own-node.ts';
import { createOwnNode } from './observe/own-node.ts';
import { createRebooter, type Rebooter } from './execute/rebooter.ts';
import { createReporter } from './report/status-reporter.ts';
import type { Validate } from './staging/check-config.ts';
import { noPreflight, type Preflight } from './ports/preflight.ts';
import type { StageOptions } from './staging/stage.ts';
import { createVisibilityLog } from './report/log-visibility.ts';
import { createLogLimiter } from './report/log-limiter.ts';
import { reportStateUnreadable } from './report/state-unreadable.ts';
import { INITIAL_STATE, nameOf, type State, type NodePressure } from './decide/state.ts';
import { type NodeReport, nodeReportOf } from './report/kubelet-node-status.ts';
import { watchAssignment } from './observe/watch-assignment.ts';

/** Everything that the agent touches. The real ones are made in `main.ts`. */
export interface AgentPorts {
  /** Of the Node, and so of the KubeletNode. */
  readonly nodeName: string;
  /** Absolute; created if missing. One agent at a time. */
  readonly stateDirectory: string;
  readonly kube: Kube;
  readonly disk: Disk;
  readonly service: KubeletService;
  readonly probe: KubeletProbe;
  readonly installer: Installer;
  /** Default: none. */
  readonly guard?: Guard;
  /** Default: sentinel files only. */
  readonly rebooter?: Rebooter;
  /** Default: it is not visible. */
  readonly commandLine?: ReadCommandLine;
  /** Where nobody can tell, which is the default, the kubelet is its unit. */
  readonly kubeletStart?: ReadKubeletStart;
  /** Default: all of them end a run of the unit. */
  readonly countEnds?: CountEnds;
  /** Default: none. */
  readonly readLastErrors?: ReadLastErrors;
  /** Default: the kubelet has no log file of its own. */
  readonly markLog?: MarkLog;
  /** Counts per cgroup, see `Strain`; null where they cannot be seen, which is the default. */
  readonly outOfMemory?: () => Promise<NodePressure['outOfMemory']>;
  /** See `KubeletNodeStatus`; undefined if it is not visible, which is the default. */
  readonly numaNodes?: () => Promise<number | undefined>;
  /** The files of the kubelet's `--config-dir` that are not ours, by its command line; none is the default. */
  readonly dropIns?: (kubeletArgs: readonly string[]) => Promise<readonly ConfigDirDropIn[]>;
  /** Calls back when a file that the kubelet reads may have changed. @returns stops listening */
  readonly watchFiles?: (changed: () => void) => () => void;
  /** Identifies the present boot of the machine (`/proc/sys/kernel/random/boot_id`). */
  readonly bootId: () => Promise<string>;
  readonly clock: Clock;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Has the node's name on every line. */
  readonly log: Log;
  /** Where the installer wants to know the kubelet's version too. */
  readonly ownNode?: OwnNode;
  readonly agentVersion?: string;
  /** The kubelet's unit, for people; absent where it has none. */
  readonly kubeletUnit?: string | undefined;
  /** This node is to be given up: back to local whatever the API server wants, and then this is called. */
  readonly uninstall?: () => Promise<void>;
  readonly validate?: Validate;
  readonly preflight?: Preflight;
  /** See `Checks`. */
  readonly checkWritable?: CheckWritable;
  /** See `Checks`. */
  readonly denyFields?: readonly string[];
  /** Where another sense of time is wanted: the sandbox does not wait for minutes. */
  readonly timing?: Partial<AgentTiming>;
}

export interface Agent {
  /** Works until the signal aborts, and leaves the node as it is then. Never rejects, but for a bug. Not to be called twice. */
  run(signal: AbortSignal): Promise<void>;
  /** Where the node stands, as the last turn left it. */
  state(): State;
  /** All that metrics speak of, as the last turn left it. */
  view(): AgentView;
}

/** Keeps the kubelet's version for the time when the API server is away. */
export const versionFileIn = (stateDirectory: string): string => join(stateDirectory, 'meta', 'kubelet-version');

/** Long enough that a mistake of ours which repeats itself does not eat a CPU. */
const RECOVER_MS = 10_000;
const RETRY_MS = 1_000;

export function createAgent(ports: AgentPorts): Agent {
  const {
    clock,
    log,
    service,
    agentVersion = VERSION,
    kubeletUnit,
    readLastErrors,
    guard = noGuard('nothing was set up to guard the kubelet'),
  } = ports;
  const pace: AgentTiming = { ...DEFAULT_TIMING, ...ports.timing };
  const store = createCheckpointStore(ports.disk, ports.stateDirectory, ports.nodeName);
  const memory = emptyMemory();
  const wakeUps = createWakeUps(clock);
  const ownNode = ports.ownNode ?? createOwnNode({ ...ports, versionFile: versionFileIn(ports.stateDirectory) });
  const save = async (state: State): Promise<void> => {
    await ports.installer.writeBack();
    await store.save(state);
  };
  const keeper = createStateSaver({ save }, log, pace, clock);
  const reporter = createReporter(ports);
  const faults = createLogLimiter(log, clock);
  const saySight = createVisibilityLog(log, clock);
  const assignment = watchAssignment({
    ...ports,
    onHeard: (node, isListed) => reporter.received(node, isListed),
    onChange: () => wakeUps.poke(),
  });
  const rebooter = ports.rebooter ?? createRebooter(ports);
  let latest: State = INITIAL_STATE;
  let account: NodeReport | undefined;
  let counts = NO_COUNTS;

  const staging = (signal: AbortSignal): StageOptions => ({
    ...ports,
    payloads: store.payloads,
    validate: ports.validate ?? validateKubeletConfig,
    preflight: ports.preflight ?? noPreflight,
    lookAtNode: () => ownNode.look(0, signal),
  });

  const steps = (damage: readonly string[], signal: AbortSignal): LoopSteps => ({
    observe: createObserve({
      ...ports,
      payloads: store.payloads,
      ownNode,
      nodeLease: createNodeLease(ports.kube, ports.nodeName, clock),
      memory,
      guard,
      uninstall: ports.uninstall !== undefined,
      assignment: () => assignment.current(),
    }),
    decide: (state, seen) => decide(state, seen, pace),
    explain: createExplain({ readLastErrors, markLog: ports.markLog, clock, wake: () => wakeUps.poke() }),
    forget: (state, seen) => dropOutdated(memory, state, seen),
    async save(before, decision) {
      const kept = await keeper.save(before, decision);
      latest = kept.next;
      counts = countDecision(counts, before, latest);
      return kept;
    },
    report: ({ next: state, actions }, seen) => {
      saySight(state, seen);
      const unsaved = keeper.problem();
      const diskProblems = unsaved === null ? damage : [...damage, unsaved.message];
      const own = { agentVersion, kubeletUnit };
      account = nodeReportOf({ state, seen, actions, ...own, fault: memory.fault, diskProblems, unsaved });
      // What the KubeletNode says of an agent before this one is read first: it tells whether the assignment was carried out.
      if (seen.generation !== undefined) reporter.report(account);
    },
    execute: createExecute({
      ...ports,
      store,
      memory,
      guard,
      rebooter,
      leave: ports.uninstall ?? (() => Promise.resolve()),
      staging: staging(signal),
    }),
    retryMs: Math.min(RETRY_MS, pace.changingMs),
    maxRetryMs: pace.maxStepMs,
    wait: (ms, until) => wakeUps.next(ms, until),
    recover(error) {
      if (!signal.aborted) faults.error({ err: error }, 'turn broken off');
      return RECOVER_MS;
    },
  });

  return {
    state: () => latest,
    view: () => ({ state: latest, status: account, counts, version: agentVersion }),
    async run(signal) {
      const at = toTimestamp(clock.now());
      const { state, problems, unreadable } = await store.load(at);
      latest = state;
      if (unreadable !== null)
        return reportStateUnreadable({ unreadable, agentVersion, at }, { log, reporter, assignment }, signal);
      // An agent may have died between giving up a reboot and taking the order back.
      if (!awaitsReboot(state))
        await rebooter.withdraw().catch((err: unknown) => log.warn({ err }, 'a reboot may come'));
      for (const problem of problems) log.error({ problem }, 'damaged file');
      // Before anything else changes: what was made up for follows from the other files, as long as these are as they were.
      if (problems.length > 0) await store.save(state).catch((err: unknown) => log.warn({ err }, 'not fixed yet'));
      const { doing, assigned, lastKnownGood } = state;
      const stands = { phase: doing.phase, assigned: nameOf(assigned), lastKnownGood: nameOf(lastKnownGood) };
      log.info({ version: agentVersion, ...stands }, 'started');
      const unwatch = service.watch(() => wakeUps.poke());
      const unwatchFiles = ports.watchFiles?.(() => wakeUps.poke());
      try {
        await Promise.all([
          runLoop(state, steps(problems, signal), signal),
          assignment.run(signal),
          reporter.run(signal),
        ]);
      } finally {
        unwatch();
        unwatchFiles?.();
      }
      log.info({}, 'stopped');
    },
  };
}
