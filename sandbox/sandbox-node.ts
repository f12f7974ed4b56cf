import { join } from 'node:path';
import { createAgent } from '#agent/agent.ts';
import type { AgentTiming } from '#agent/decide/timing.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { createInstaller } from '#agent/kubelet/installer.ts';
import { familiesOf } from '#agent/metrics/families.ts';
import { createPreflight } from '#agent/preflight/preflight.ts';
import { metricsText } from '#agent/metrics/text-format.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import { type Clock, type Millis, systemClock, toTimestamp } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { SandboxApiServer } from './api-server/server.ts';
import { isJson } from './api-server/stored-object.ts';
import { simulatedHostLook } from './kubelet/simulated-host-facts.ts';
import { createSimulatedKubelet, type SimulatedKubelet } from './kubelet/kubelet.ts';
import type { NodeReport, SimulatedKubeletOptions, Timing } from './kubelet/kubelet-options.ts';

export interface SandboxNodeOptions {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Default v1.34.2. */
  readonly kubeletVersion?: string;
  /** How long the kubelet takes for things. */
  readonly timing?: Partial<Timing>;
  /** Whether the kubelet has a drop-in directory. Default true. */
  readonly readsDropIns?: boolean;
  /** Its machine. Default: 4 cores and 16 GiB. */
  readonly host?: NonNullable<SimulatedKubeletOptions['host']>;
  /** What goes wrong with a config though nothing in it says so; asked at each start of the kubelet. */
  readonly fault?: NonNullable<SimulatedKubeletOptions['fault']>;
  /** See `SimulatedKubeletOptions`. */
  readonly endpoints?: NonNullable<SimulatedKubeletOptions['endpoints']>;
  readonly pollMs?: Millis;
  /** The agent's. Default: quick, for a story of a minute. */
  readonly pace?: Partial<AgentTiming>;
}

/** Where the Node object of a machine is kept. */
export interface NodeObjects {
  create(node: KubeObject): Promise<void>;
  /** Its Node now; undefined where there is none. */
  get(name: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** A JSON merge patch. */
  patch(name: string, patch: Readonly<Record<string, unknown>>): Promise<void>;
}

/** In the memory of the sandbox's API server. */
export const nodesIn = ({ store }: Pick<SandboxApiServer, 'store'>): NodeObjects => ({
  create: async (node) => void store.seed(NODES, node),
  get: async (name) => store.get(NODES, name),
  patch: async (name, patch) => void store.patch(NODES, name, patch),
});

export interface SandboxNodePorts {
  readonly nodes: NodeObjects;
  readonly kube: Kube;
  /** Of this node alone: its kubelet's files and the agent's state. */
  readonly directory: string;
  readonly log: Log;
  /** Of the machine and of its agent. Default: the system's own. */
  readonly clock?: Clock;
  /** Numbers in [0, 1). Default: by chance. */
  readonly random?: () => number;
}

/** A machine of the sandbox: a simulated kubelet, its Node object, and the real agent beside it. */
export interface SandboxNode {
  readonly name: string;
  readonly kubelet: SimulatedKubelet;
  /** Environment with which the agent's program would work beside this node, without touching it. */
  readonly agentEnv: Readonly<Record<string, string>>;
  relabel(labels: Readonly<Record<string, string>>): Promise<void>;
  /** What a scrape of the agent would get now. */
  metrics(): string;
  /** Ends the agent and starts another one on the same disk. */
  restartAgent(): Promise<void>;
  /** Its kubelet goes on alone. */
  stopAgent(): Promise<void>;
  stop(): Promise<void>;
}

/** Looks often enough for a story of a minute. */
const PACE = { idleMs: 1_000, changingMs: 100, steadyMs: 300, contradictedMs: 1_000, restartRetryMs: 500 };

export async function startNode(options: SandboxNodeOptions, ports: SandboxNodePorts): Promise<SandboxNode> {
  const {
    name,
    labels,
    kubeletVersion = 'v1.34.2',
    timing = {},
    readsDropIns = true,
    fault = () => null,
    host,
    endpoints = 'http',
    pollMs,
    pace = PACE,
  } = options;
  const { nodes, directory, clock = systemClock } = ports;
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    status: {
      nodeInfo: { kubeletVersion },
      conditions: [],
      addresses: [
        { type: 'InternalIP', address: '127.0.0.1' },
        { type: 'Hostname', address: name },
      ],
    },
  };
  await nodes.create(node);
  const kubelet = await createSimulatedKubelet({
    directory: join(directory, 'kubelet'),
    version: kubeletVersion,
    readsDropIns,
    timing,
    fault,
    clock,
    endpoints,
    ...(host === undefined ? {} : { host }),
    ...(pollMs === undefined ? {} : { pollMs }),
    onReport: (report) => void publish(nodes, name, clock, report),
  });
  await kubelet.start();
  const begin = (): RunningAgent => runAgent({ nodeName: name, kubeletVersion, kubelet, pace }, ports);
  let agent = begin();

  return {
    name,
    kubelet,
    agentEnv: {
      KUBELET_CONFIG_FILE: kubelet.configFile,
      KUBELET_RESTART_COMMAND: 'true',
      NODE_NAME: name,
      STATE_DIR: join(directory, 'state-of-another-agent'),
    },
    relabel(next) {
      const gone = Object.fromEntries(Object.keys(labels).map((label) => [label, null]));
      return nodes.patch(name, { metadata: { labels: { ...gone, ...next } } });
    },
    metrics: () => agent.metrics(),
    async restartAgent() {
      await agent.stop();
      agent = begin();
    },
    stopAgent: () => agent.stop(),
    async stop() {
      await agent.stop();
      await kubelet.close();
    },
  };
}

/** What the kubelet and the control plane would write on the Node. */
async function publish(
  nodes: NodeObjects,
  name: string,
  clock: Clock,
  { ready, reason, message, kubeletVersion, bootId, port, resources }: NodeReport,
): Promise<void> {
  const node = await nodes.get(name);
  if (node === undefined) return;
  const lastHeartbeatTime = toTimestamp(clock.now());
  const present = isJson(node['status']) ? node['status']['conditions'] : [];
  const before = Array.isArray(present) ? present.filter(isJson) : [];
  const last = before.find(({ type }) => type === 'Ready');
  const lastTransitionTime = last?.['status'] === ready ? last['lastTransitionTime'] : lastHeartbeatTime;
  // A kubelet leaves the conditions of others as they are.
  const others = before.filter(({ type }) => type !== 'Ready');
  const own = { type: 'Ready', status: ready, reason, message, lastHeartbeatTime, lastTransitionTime };
  const conditions = [own, ...others];
  const endpoint = port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: port } } };
  const nodeInfo = { kubeletVersion, bootID: bootId };
  await nodes.patch(name, { status: { conditions, nodeInfo, ...endpoint, ...resources } });
}

interface RunningAgent {
  metrics(): string;
  stop(): Promise<void>;
}

interface AgentPlace {
  readonly nodeName: string;
  readonly kubeletVersion: string;
  readonly kubelet: SimulatedKubelet;
  readonly pace: Partial<AgentTiming>;
}

function runAgent(
  { nodeName, kubeletVersion, kubelet, pace }: AgentPlace,
  { kube, log, directory, clock = systemClock, random = Math.random }: SandboxNodePorts,
): RunningAgent {
  const stateDirectory = join(directory, 'state');
  const disk = createNodeDisk();
  const agent = createAgent({
    nodeName,
    stateDirectory,
    kube,
    disk,
    service: kubelet.service,
    probe: kubelet.probe,
    installer: createInstaller({
      disk,
      nodeName,
      stateDirectory,
      configFile: kubelet.configFile,
      dropInDirectory: kubelet.dropInDirectory,
      kubeletRootDirectory: kubelet.rootDirectory,
      kubeletMinor: () => Promise.resolve(kubeletVersion.replace(/^v(\d+\.\d+).*/, '$1')),
    }),
    preflight: createPreflight({
      configFile: kubelet.configFile,
      configDirectory: kubelet.dropInDirectory,
      host: simulatedHostLook(kubelet),
    }),
    bootId: () => Promise.resolve(kubelet.bootId()),
    readLastErrors: () => Promise.resolve([kubelet.lastWords()].filter((said) => said !== '')),
    clock,
    random,
    log,
    timing: pace,
  });
  const stop = new AbortController();
  const running = agent.run(stop.signal);
  return {
    metrics: () => metricsText(familiesOf(agent.view())),
    async stop() {
      stop.abort();
      await running;
    },
  };
}
