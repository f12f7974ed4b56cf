import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateNode } from './binaries.ts';
import type { ContainerRuntime } from './container-runtime.ts';
import type { ControlPlane } from './control-plane.ts';
import { removeWithMounts } from './remove-with-mounts.ts';
import { type Daemon, startDaemon, tailOf } from './daemon.ts';
import { freePorts } from './free-ports.ts';
import { isHealthy, isReady, type KubeletConfig, readConfigz } from './kubelet-probes.ts';
import { HERE, runtimeFlags } from './kubelet-of-minor.ts';
import { until } from '../../support/until.ts';

export interface KubeletOptions {
  readonly controlPlane: ControlPlane;
  /** One of its own. */
  readonly runtime: ContainerRuntime;
  readonly nodeName: string;
  /** The node's local config, laid over what a kubelet needs here (see `Kubelet.config`); top-level keys win. */
  readonly config?: KubeletConfig;
  /** More flags. */
  readonly extraArgs?: readonly string[];
}

/**
 * A kubelet that nobody manages, kept alive by a supervisor as systemd would. It runs on the machine itself: like any
 * kubelet it sets kernel parameters (vm.overcommit_memory, kernel.panic) and leaves the cgroup "kubepods" behind.
 */
export interface Kubelet {
  readonly nodeName: string;
  /** What it was started with. A config that replaces it must keep the ports, authentication and cgroupDriver. */
  readonly config: KubeletConfig;
  /** The file it reads at each start: JSON, which is YAML as well. */
  readonly configFile: string;
  /** Of the secure port on all addresses of this machine, where /configz is. */
  readonly port: number;
  /** Of plain /healthz on 127.0.0.1. */
  readonly healthzPort: number;
  readonly rootDir: string;
  /** Self-signed, with the node's name in it. */
  readonly servingCertFile: string;
  readonly kubeconfig: string;
  /** A command line that restarts it and does not wait, with or without a shell. */
  readonly restartCommand: string;
  /** Absent while it is down. */
  readonly pidFile: string;
  /** Holds what `restarts` gives. */
  readonly restartsFile: string;
  /** How often it was started again, for whatever reason. */
  readonly restarts: () => Promise<number>;
  /** What it says it runs, asked with the administrator's certificate. */
  readonly configz: () => Promise<KubeletConfig>;
  /** Whether /healthz says ok; false where nobody answers. */
  readonly healthy: () => Promise<boolean>;
  /** Whether the Node's condition Ready is True. */
  readonly ready: () => Promise<boolean>;
  readonly logTail: (lines?: number) => string;
  /** Ends it and removes its files; the Node object stays. */
  readonly stop: () => Promise<void>;
}

/** Resolves when the node is Ready. @throws where there are no binaries (ask `nodeSkipReason` first) or it is not in time */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  const located = await locateNode();
  if (!located.found) throw new Error(`no kubelet: ${located.reason}`);
  const { controlPlane, nodeName } = options;
  const directory = await mkdtemp(join(tmpdir(), `kubelet-gitops-${nodeName}-`));
  const [port = 0, healthzPort = 0] = await freePorts(2);
  const config = { ...baseConfig(controlPlane, port, healthzPort), ...options.config };
  const paths = layOut(directory);
  const kubeconfig = await controlPlane.kubeconfigFor({
    commonName: `system:node:${nodeName}`,
    organizations: ['system:nodes'],
  });
  await mkdir(paths.rootDir);
  await writeFile(paths.configFile, `${JSON.stringify(config, undefined, 2)}\n`);
  const supervisor = startDaemon({
    name: `the supervisor of kubelet ${nodeName}`,
    command: SUPERVISOR,
    args: [directory, located.binaries.kubelet, ...flags(options, paths, kubeconfig)],
    logFile: paths.logFile,
  });
  const kubelet: Kubelet = {
    ...paths,
    nodeName,
    config,
    port,
    healthzPort,
    kubeconfig,
    restartCommand: `kill -HUP ${supervisor.pid}`,
    restarts: async () => Number(await readFile(paths.restartsFile, 'utf8')),
    // Its plain port may answer a moment before this one does.
    configz: () =>
      until('the kubelet to say what it runs', () => readConfigz(controlPlane, nodeName, port, paths.servingCertFile)),
    healthy: () => isHealthy(healthzPort),
    ready: () => isReady(controlPlane, nodeName),
    logTail: (lines) => tailOf(paths.logFile, lines),
    async stop() {
      await supervisor.stop();
      await removeWithMounts(directory);
    },
  };
  await firstReady(kubelet, supervisor);
  return kubelet;
}

interface Paths {
  readonly configFile: string;
  readonly rootDir: string;
  readonly certDir: string;
  readonly servingCertFile: string;
  readonly pidFile: string;
  readonly restartsFile: string;
  readonly logFile: string;
}

function layOut(directory: string): Paths {
  const certDir = join(directory, 'pki');
  return {
    configFile: join(directory, 'config.yaml'),
    rootDir: join(directory, 'root'),
    certDir,
    servingCertFile: join(certDir, 'kubelet.crt'),
    // The supervisor's.
    pidFile: join(directory, 'kubelet.pid'),
    restartsFile: join(directory, 'restarts'),
    logFile: join(directory, 'kubelet.log'),
  };
}

function flags({ nodeName, runtime, extraArgs = [] }: KubeletOptions, paths: Paths, kubeconfig: string): string[] {
  return [
    `--config=${paths.configFile}`,
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${nodeName}`,
    `--root-dir=${paths.rootDir}`,
    `--cert-dir=${paths.certDir}`,
    ...runtimeFlags(runtime.endpoint),
    ...extraArgs,
  ];
}

const SUPERVISOR = join(import.meta.dirname, 'kubelet-supervisor.sh');

/** What a kubelet needs to run here beside others, and to let service accounts with nodes/proxy read /configz. */
function baseConfig(controlPlane: ControlPlane, port: number, healthzPort: number): KubeletConfig {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    port,
    healthzPort,
    readOnlyPort: 0,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: controlPlane.caFile },
    },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    failSwapOn: false,
    // Its first report says that the CSINode is not there yet, and the second comes only after this time.
    nodeStatusUpdateFrequency: '1s',
    // The machine's own packet filter is left alone.
    makeIPTablesUtilChains: false,
    ...HERE,
  };
}

async function firstReady(kubelet: Kubelet, supervisor: Daemon): Promise<void> {
  const look = async (): Promise<boolean> => (await kubelet.healthy()) && (await kubelet.ready());
  try {
    await until(`node ${kubelet.nodeName} to be Ready`, look, {
      hopeless: supervisor.ended,
      evidence: kubelet.logTail,
    });
  } catch (error) {
    await kubelet.stop();
    throw error;
  }
}
