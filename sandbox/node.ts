import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAgent } from '#agent/agent.ts';
import { createNodeDisk } from '#agent/disk/node-disk.ts';
import { createInstaller } from '#agent/kubelet/install.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import { type Millis, systemClock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { SandboxApiServer } from './api-server/server.ts';
import { createSimulatedKubelet, type SimulatedKubelet } from './simple-kubelet/kubelet.ts';

export interface SandboxNodeOptions {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Default v1.34.2. */
  readonly kubeletVersion?: string;
  /** From the start of the kubelet's process to healthy. Default 100 ms. */
  readonly startMs?: Millis;
  /** Whether the kubelet has a drop-in directory. Default true. */
  readonly dropIns?: boolean;
}

export interface SandboxNodePorts {
  readonly api: SandboxApiServer;
  readonly kube: Kube;
  /** Of this node alone: its kubelet's files and the agent's state. */
  readonly directory: string;
  readonly log: Log;
}

/** A machine of the sandbox: a simulated kubelet, its Node object, and the real agent beside it. */
export interface SandboxNode {
  readonly name: string;
  readonly kubelet: SimulatedKubelet;
  /** Environment with which the agent's program would work on this node. */
  readonly agentEnv: Readonly<Record<string, string>>;
  relabel(labels: Readonly<Record<string, string>>): void;
  /** Ends the agent and starts another one on the same disk. */
  restartAgent(): Promise<void>;
  stop(): Promise<void>;
}

/** What the node was provisioned with. */
const LOCAL_CONFIG = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
cgroupDriver: systemd
`;

/** Looks often enough for a story of a minute. */
const PACE = { idleMs: 1_000, changingMs: 100, steadyMs: 300, contradictedMs: 1_000, restartRetryMs: 500 };

export async function startNode(options: SandboxNodeOptions, ports: SandboxNodePorts): Promise<SandboxNode> {
  const { name, labels, kubeletVersion = 'v1.34.2', startMs = 100, dropIns = true } = options;
  const { api, directory } = ports;
  const files = {
    config: join(directory, 'kubelet', 'config.yaml'),
    dropIns: dropIns ? join(directory, 'kubelet', 'config.d') : undefined,
    state: join(directory, 'state'),
  };
  await mkdir(files.dropIns ?? join(directory, 'kubelet'), { recursive: true });
  await writeFile(files.config, LOCAL_CONFIG, { mode: 0o644 });

  const setReady = (ready: boolean): void => {
    const status = {
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', reason: 'Simulated', message: '' }],
    };
    if (api.store.get(NODES, name) !== undefined) api.store.patch(NODES, name, { status });
  };
  api.store.seed(NODES, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    status: { nodeInfo: { kubeletVersion }, conditions: [] },
  });
  const kubelet = createSimulatedKubelet({
    configFile: files.config,
    ...(files.dropIns === undefined ? {} : { dropInDirectory: files.dropIns }),
    startMs,
    restartMs: startMs * 2,
    clock: systemClock,
    onReady: setReady,
  });
  kubelet.start();
  let agent = runAgent(name, kubeletVersion, files, kubelet, ports);

  return {
    name,
    kubelet,
    agentEnv: {
      KUBELET_CONFIG_FILE: files.config,
      KUBELET_RESTART_COMMAND: 'true',
      NODE_NAME: name,
      STATE_DIR: `${files.state}-of-another-agent`,
    },
    relabel(next) {
      const gone = Object.fromEntries(Object.keys(labels).map((label) => [label, null]));
      api.store.patch(NODES, name, { metadata: { labels: { ...gone, ...next } } });
    },
    async restartAgent() {
      await agent.stop();
      agent = runAgent(name, kubeletVersion, files, kubelet, ports);
    },
    async stop() {
      await agent.stop();
      kubelet.stop();
    },
  };
}

function runAgent(
  nodeName: string,
  kubeletVersion: string,
  files: { readonly config: string; readonly dropIns: string | undefined; readonly state: string },
  kubelet: SimulatedKubelet,
  { kube, log }: SandboxNodePorts,
): { stop(): Promise<void> } {
  const disk = createNodeDisk();
  const installer = createInstaller({
    disk,
    stateDirectory: files.state,
    configFile: files.config,
    dropInDirectory: files.dropIns,
    kubeletMinor: () => Promise.resolve(kubeletVersion.replace(/^v(\d+\.\d+).*/, '$1')),
  });
  const agent = createAgent({
    nodeName,
    stateDirectory: files.state,
    kube,
    disk,
    service: kubelet.service,
    probe: kubelet.probe,
    installer,
    bootId: () => Promise.resolve('sandbox'),
    clock: systemClock,
    random: Math.random,
    log,
    pace: PACE,
  });
  const stop = new AbortController();
  const running = agent.run(stop.signal);
  return {
    async stop() {
      stop.abort();
      await running;
    },
  };
}
