import { join } from 'node:path';
import { proxyFor } from '#shared/http/proxy.ts';
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
import { DEFAULT_SERVING_CERTS } from './kubelet/pinned-certificate.ts';
import { noConfigFile } from './kubelet/layout.ts';
import { findOwnKubelet, type OwnKubelet } from './own-kubelet.ts';
import { createHostProbe } from './kubelet/host-probe.ts';
import { createCountEnds, createReadKubeletStart } from './kubelet/kubelet-start.ts';
import { createMarkLog, createReadLastErrors } from './kubelet/last-errors.ts';
import { createLimitRestorer } from './kubelet/limit-restore.ts';
import { createInstaller } from './kubelet/installer.ts';
import { createCheckWritable } from './kubelet/check-writable.ts';
import { waitForLock } from './lock.ts';
import { familiesOf } from './metrics/families.ts';
import { serveMetrics } from './metrics/metrics-server.ts';
import { metricsText } from './metrics/text-format.ts';
import { createHostFiles } from './host/host-files.ts';
import { createHostFactsReader, numaNodesOf } from './preflight/gather-host-facts.ts';
import { parseFlags } from './kubelet/flags.ts';
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
  await disk.makeDirectory(stateDirectory, 0o700).catch((error: unknown) => log.error({ err: error }, 'no state'));
  const lock = await waitForLock(join(stateDirectory, LOCK_NAME), clock, log, stop.signal);
  const hostFiles = createHostFiles(settings.hostRoot);
  const kubelet = await findOwnKubelet(settings, { files: hostFiles, disk, clock, random, log, signal: stop.signal });
  const { unit, unitDirectory, layout, service } = kubelet;
  const configFile = layout.configFile ?? noConfigFile(stateDirectory);
  const unfitUnit = createUnsupportedUnit(kubelet.whyUnfit, log);
  const logs = { files: hostFiles, clock, logFile: kubelet.logFile };

  const installer = createInstaller({
    disk,
    nodeName,
    stateDirectory,
    configFile,
    dropInDirectory: layout.configDirectory,
    agentUid: process.getuid?.(),
    kubeletMinor: () => minorOf(ownNode),
    kubeletRootDirectory: layout.rootDirectory,
    ...(unit === undefined
      ? {}
      : {
          limits: createLimitRestorer({
            disk,
            nodeName,
            stateDirectory,
            files: hostFiles,
            setProperty: createGuardSystemd({ clock, timeoutMs: 5_000 }).setProperty,
            onFault: (what, error) => log.warn({ err: error }, what),
          }),
        }),
  });
  const guard = unfitUnit.guard(guardFor(settings, kubelet, disk, clock, log));
  const uninstall = createUninstall({
    disk: nodeDisk,
    seal,
    stateDirectory,
    configFile,
    dropInDirectory: layout.configDirectory,
    installer,
    guard,
    releaseLock: async () => lock?.release(),
  });
  let certificate: Buffer | undefined;
  const watchManaged = (changed: () => void): (() => void) =>
    watchFiles(watchedPlaces(stateDirectory, layout), changed, { clock, random, log });
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
    rebooter: createRebooter({ disk, stateDirectory, systemd: kubelet.reboot }),
    preflight: unfitUnit.preflight(
      createPreflight({
        configFile: layout.configFile,
        configDirectory: layout.configDirectory,
        host: createHostFactsReader({
          files: hostFiles,
          commandLine: async () => kubelet.commandLine(await service.status(stop.signal)),
        }),
      }),
    ),
    checkWritable: createCheckWritable(
      disk,
      unitDirectory === undefined ? [] : [guardPaths(stateDirectory, unitDirectory).dropIn],
    ),
    commandLine: kubelet.commandLine,
    outOfMemory: () => countOutOfMemory(hostFiles),
    numaNodes: async () => (await numaNodesOf(hostFiles))?.size,
    ...(unit === undefined
      ? {}
      : {
          readLastErrors: createReadLastErrors({ ...logs, unit }),
          markLog: createMarkLog(logs),
          kubeletStart: createReadKubeletStart({ files: hostFiles, unit }),
          countEnds: createCountEnds({ files: hostFiles, unit }),
        }),
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
    kubeletUnit: unit,
    denyFields: settings.denyFields,
  });
  try {
    const text = (): string => metricsText(familiesOf({ ...agent.view(), certificate }));
    const { metrics } = settings;
    const served = metrics && serveMetrics({ ...metrics, text, clock, random, log }, stop.signal);
    await Promise.all([agent.run(stop.signal).finally(() => stop.abort()), served]);
  } finally {
    // Also after a failure: what is left running would keep a process alive that looks after nothing any more.
    stop.abort();
    kubelet.close();
    await lock?.release();
  }
}

/** The pod's own API server and service account, unless the settings name others. */
function apiServer(
  { kubeServer, kubeCredentialsDirectory, proxy }: AgentSettings,
  clock: Clock,
): { readonly server: string; readonly credentials: Credentials; readonly proxy: string | undefined } {
  const server = kubeServer ?? inClusterServer(process.env);
  if (server === undefined) {
    const message = 'the agent runs in no pod: set KUBE_SERVER, and KUBE_CREDENTIALS_DIR where it asks for a token';
    throw new GitopsError('SETTINGS_INVALID', message);
  }
  const isOutside = kubeServer !== undefined && kubeCredentialsDirectory === undefined;
  const directory = kubeCredentialsDirectory ?? SERVICE_ACCOUNT_DIRECTORY;
  const credentials = isOutside ? staticCredentials() : inClusterCredentials(clock, directory);
  return { server, credentials, proxy: proxyFor(proxy, new URL(server)) };
}

/** Only systemd starts the kubelet in a way that a guard can follow. */
function guardFor(
  { guard, stateDirectory }: AgentSettings,
  { unit, unitDirectory }: OwnKubelet,
  disk: Disk,
  clock: Clock,
  log: Log,
): Guard {
  const why = guard.guard === 'off' ? guard.why : 'the kubelet is not under systemd';
  if (unit === undefined || unitDirectory === undefined) {
    void disableGuard(disk, stateDirectory).catch((err: unknown) => log.error({ err }, 'a guard of before may act'));
    return noGuard(why);
  }
  return createHostGuard({
    disk,
    stateDirectory,
    unit,
    unitDirectory,
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
