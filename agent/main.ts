import { join } from 'node:path';
import { createKube } from '#shared/kube/client.ts';
import { type Credentials, staticCredentials } from '#shared/kube/kube-credentials.ts';
import { inClusterCredentials, inClusterServer, SERVICE_ACCOUNT_DIRECTORY } from '#shared/kube/in-cluster.ts';
import { minorName, minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { createLog, type Log } from '#shared/runtime/log.ts';
import { createAgent, versionFileIn } from './agent.ts';
import { type AgentSettings, readAgentSettings } from './settings.ts';
import type { Disk } from './ports/disk.ts';
import { boundDisk } from './host/disk/bounded-disk.ts';
import { createNodeDisk } from './host/disk/node-disk.ts';
import { watchFiles } from './host/disk/watch-files.ts';
import { type Guard, noGuard } from './ports/guard.ts';
import { createHostGuard, disableGuard, readGuardScript } from './guard/host-guard.ts';
import { guardPaths } from './guard/guard-paths.ts';
import { createGuardSystemd } from './guard/guard-systemd.ts';
import { readBootId, readPodUid, readUptimeSeconds } from './host/boot.ts';
import { readConfigDirDropIns } from './kubelet/config-dir-drop-ins.ts';
import { kubeletArgsOf } from './kubelet/kubelet-args.ts';
import { DEFAULT_SERVING_CERTS } from './kubelet/pinned-certificate.ts';
import { createHostProbe } from './kubelet/host-probe.ts';
import { createReadKubeletStart } from './kubelet/kubelet-start.ts';
import { createMarkLog, createReadLastErrors } from './kubelet/last-errors.ts';
import { createLimitRestorer } from './kubelet/limit-restore.ts';
import { createInstaller } from './kubelet/installer.ts';
import { createCheckWritable } from './kubelet/check-writable.ts';
import { createCommandService } from './kubelet/service-command.ts';
import { createSystemdService, type SystemdService } from './kubelet/service-systemd.ts';
import type { KubeletService } from './ports/kubelet-service.ts';
import { type Lock, waitForLock } from './lock.ts';
import { familiesOf } from './metrics/families.ts';
import { serveMetrics } from './metrics/metrics-server.ts';
import { metricsText } from './metrics/text-format.ts';
import { createHostFiles } from './host/host-files.ts';
import { volatileFileSystemOf, whyForgottenByBoots } from './host/volatile-path.ts';
import { createHostFactsReader, numaNodesOf } from './preflight/gather-host-facts.ts';
import { parseFlags } from './preflight/checks/kubelet-flags.ts';
import { createPreflight } from './preflight/preflight.ts';
import type { OwnNode } from './ports/own-node.ts';
import { countOutOfMemory } from './observe/out-of-memory.ts';
import { createOwnNode } from './observe/own-node.ts';
import { createRebooter } from './execute/rebooter.ts';
import { createUnsupportedUnit } from './staging/refuse-unsupported-unit.ts';
import { createSealableDisk, createUninstall, LOCK_NAME } from './execute/uninstall.ts';
import { watchedPlaces } from './observe/watched-places.ts';

async function main(settings: AgentSettings): Promise<void> {
  const { nodeName, stateDirectory } = settings;
  const log = createLog({ level: settings.logLevel, base: { program: 'agent', node: nodeName } });
  const clock = systemClock;
  const random = Math.random;
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());

  const nodeDisk = boundDisk(createNodeDisk(), clock);
  const { disk, seal } = createSealableDisk(nodeDisk);
  const api = apiServer(settings, clock);
  const userAgent = `kubelet-gitops-agent/${settings.agentVersion}`;
  const kube = createKube({ ...api, clock, log, userAgent });
  const ownNode = createOwnNode({ kube, nodeName, clock, disk, versionFile: versionFileIn(stateDirectory) });
  const { service, unfitness, reboot, close } = serviceFor(settings, clock, random, log);
  const hostFiles = createHostFiles(settings.hostRoot);
  const logs = { files: hostFiles, clock, logFile: settings.kubeletLogFile };
  const whyUnfit = async (): Promise<string | undefined> =>
    (await unfitness().catch(() => undefined)) ?? (await whyForgotten(settings));
  const unfitUnit = createUnsupportedUnit(whyUnfit, log);

  let lock: Lock | null = null;
  const installer = createInstaller({
    disk,
    nodeName,
    stateDirectory,
    configFile: settings.kubeletConfigFile,
    dropInDirectory: settings.kubeletConfigDir,
    agentUid: process.getuid?.(),
    kubeletMinor: () => minorOf(ownNode),
    kubeletRootDirectory: settings.kubeletRootDirectory,
    ...(settings.service.manager === 'systemd'
      ? {
          limits: createLimitRestorer({
            disk,
            nodeName,
            stateDirectory,
            files: hostFiles,
            setProperty: createGuardSystemd({ clock, timeoutMs: 5_000 }).setProperty,
            onFault: (what, error) => log.warn({ err: error }, what),
          }),
        }
      : {}),
  });
  const guard = unfitUnit.guard(guardFor(settings, disk, clock, log));
  const uninstall = createUninstall({
    disk: nodeDisk,
    seal,
    stateDirectory,
    configFile: settings.kubeletConfigFile,
    dropInDirectory: settings.kubeletConfigDir,
    installer,
    guard,
    releaseLock: async () => lock?.release(),
  });
  let certificate: Buffer | undefined;
  const watchManaged = (changed: () => void): (() => void) =>
    watchFiles(watchedPlaces(settings), changed, { clock, random, log });
  const agent = createAgent({
    nodeName,
    stateDirectory,
    kube,
    disk,
    service,
    ownNode,
    probe: createHostProbe({
      token: async () => (await api.credentials.current()).token ?? '',
      servingCertFiles:
        settings.kubeletServingCerts === undefined ? DEFAULT_SERVING_CERTS : [settings.kubeletServingCerts],
      readCert: (path) => hostFiles.text(path),
      onServed: (served) => (certificate = served),
    }),
    installer,
    guard,
    rebooter: createRebooter({ disk, stateDirectory, systemd: reboot }),
    preflight: unfitUnit.preflight(
      createPreflight({
        configFile: settings.kubeletConfigFile,
        configDirectory: settings.kubeletConfigDir,
        host: createHostFactsReader({
          files: hostFiles,
          kubeletPid: async () => (await service.status(stop.signal)).pid,
        }),
      }),
    ),
    checkWritable: createCheckWritable(disk, guardFilesFor(settings)),
    kubeletArgs: (pid) => kubeletArgsOf(pid, hostFiles),
    outOfMemory: () => countOutOfMemory(hostFiles),
    numaNodes: async () => (await numaNodesOf(hostFiles))?.size,
    ...(settings.service.manager === 'systemd'
      ? {
          readLastErrors: createReadLastErrors({ ...logs, unit: settings.service.unit }),
          markLog: createMarkLog(logs),
          kubeletStart: createReadKubeletStart({ files: hostFiles, unit: settings.service.unit }),
        }
      : {}),
    dropIns: (args) => {
      const directory = parseFlags(args).findLast(([flag]) => flag === 'config-dir')?.[1];
      return directory === undefined ? Promise.resolve([]) : readConfigDirDropIns(directory, hostFiles);
    },
    ...(settings.mode === 'uninstall' ? { uninstall } : { watchFiles: watchManaged }),
    bootId: readBootId,
    clock,
    random,
    log,
    agentVersion: settings.agentVersion,
    denyFields: settings.denyFields,
  });
  try {
    await disk.makeDirectory(stateDirectory, 0o700).catch((error: unknown) => log.error({ err: error }, 'no state'));
    lock = await waitForLock(join(stateDirectory, LOCK_NAME), clock, log, stop.signal);
    const text = (): string => metricsText(familiesOf({ ...agent.view(), certificate }));
    const { metrics } = settings;
    const served = metrics && serveMetrics({ ...metrics, text, clock, random, log }, stop.signal);
    await Promise.all([agent.run(stop.signal).finally(() => stop.abort()), served]);
  } finally {
    // Also after a failure: what is left running would keep a process alive that looks after nothing any more.
    stop.abort();
    close();
    await lock?.release();
  }
}

/** The pod's own API server and service account, unless the settings name others. */
function apiServer(
  { kubeServer, kubeCredentialsDirectory }: AgentSettings,
  clock: Clock,
): { readonly server: string; readonly credentials: Credentials } {
  const server = kubeServer ?? inClusterServer(process.env);
  if (server === undefined) {
    const message = 'the agent runs in no pod: set KUBE_SERVER, and KUBE_CREDENTIALS_DIR where it asks for a token';
    throw new GitopsError('SETTINGS_INVALID', message);
  }
  const isOutside = kubeServer !== undefined && kubeCredentialsDirectory === undefined;
  const directory = kubeCredentialsDirectory ?? SERVICE_ACCOUNT_DIRECTORY;
  return { server, credentials: isOutside ? staticCredentials() : inClusterCredentials(clock, directory) };
}

function serviceFor(
  { service, guard }: AgentSettings,
  clock: Clock,
  random: () => number,
  log: Log,
): {
  readonly service: KubeletService;
  readonly unfitness: () => Promise<string | undefined>;
  readonly reboot: SystemdService['reboot'] | undefined;
  readonly close: () => void;
} {
  if (service.manager === 'command') {
    const { command, pidFile } = service;
    const byCommand = createCommandService({ restartCommand: command, pidFile });
    return {
      service: byCommand,
      unfitness: () => Promise.resolve(undefined),
      reboot: undefined,
      close: () => undefined,
    };
  }
  const systemd = createSystemdService({ unit: service.unit, isGuarded: guard.guard === 'on', clock, random, log });
  const { signal } = new AbortController();
  return {
    service: systemd,
    unfitness: () => systemd.unfitness(signal),
    reboot: (because, within) => systemd.reboot(because, within),
    close: () => systemd.close(),
  };
}

const guardFilesFor = ({ guard, stateDirectory }: AgentSettings): readonly string[] =>
  guard.guard === 'off' ? [] : [guardPaths(stateDirectory, guard.unitDirectory).dropIn];

function whyForgotten({ guard, stateDirectory, hostRoot }: AgentSettings): Promise<string | undefined> {
  if (guard.guard === 'off') return Promise.resolve(undefined);
  const paths = { KUBELET_UNIT_DIR: guard.unitDirectory, STATE_DIR: stateDirectory };
  return whyForgottenByBoots(paths, (path) => volatileFileSystemOf(path, hostRoot));
}

/** Only systemd starts the kubelet in a way that a guard can follow. */
function guardFor({ guard, service, stateDirectory }: AgentSettings, disk: Disk, clock: Clock, log: Log): Guard {
  const why = guard.guard === 'off' ? guard.why : 'the kubelet is not under systemd';
  if (guard.guard === 'off' || service.manager !== 'systemd') {
    void disableGuard(disk, stateDirectory).catch((err: unknown) => log.error({ err }, 'a guard of before may act'));
    return noGuard(why);
  }
  return createHostGuard({
    disk,
    stateDirectory,
    unit: service.unit,
    unitDirectory: guard.unitDirectory,
    systemd: createGuardSystemd({ clock }),
    script: readGuardScript,
    bootId: readBootId,
    uptimeSeconds: readUptimeSeconds,
    podUid: readPodUid,
    watchesBoots: true,
  });
}

/** How an overlay is laid over the local config depends on the kubelet's version. */
async function minorOf(ownNode: OwnNode): Promise<string> {
  const minor = minorNumber((await ownNode.kubeletVersion()) ?? '');
  if (minor !== undefined) return minorName(minor);
  throw new GitopsError(
    'KUBELET_VERSION_UNKNOWN',
    'the version of the kubelet is not known yet: its Node was never read',
  );
}

try {
  await main(readAgentSettings(process.env));
} catch (error) {
  process.stderr.write(`kubelet-gitops agent: ${reasonOf(error)}\n`);
  process.exitCode = 2;
}
