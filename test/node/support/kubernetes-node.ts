import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { reasonOf } from '#shared/runtime/errors.ts';
import { locateNode } from '../../cluster/support/binaries.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { freePorts } from '../../cluster/support/free-ports.ts';
import { isHealthy, isReady, type KubeletConfig, readConfigz } from '../../cluster/support/kubelet-probes.ts';
import { until } from '../../support/until.ts';
import { type AgentService, agentFiles, agentService } from './agent-service.ts';
import { type ApiLink, startApiLink } from './api-link.ts';
import { type BootedNode, bootNode } from './booted-node.ts';
import { journalOf } from './journal.ts';
import { kubeletCredentials } from './node-credentials.ts';
import * as text from './node-files.ts';
import { CNI_FILE, KUBELET_FLAGS_FILE, KUBELET_UNIT, LOCAL_CONFIG_FILE, MOUNTS, type NodePorts } from './node-paths.ts';

export interface KubernetesNodeOptions {
  readonly controlPlane: ControlPlane;
  readonly name: string;
  /** The agent's bundle; see `bundleAgent`. */
  readonly agentDirectory: string;
  /** Laid over the local config that every node has here; top-level keys win. */
  readonly config?: KubeletConfig;
  /** More flags of the kubelet. */
  readonly kubeletFlags?: readonly string[];
  /** More files to have before the first boot, by absolute path. */
  readonly files?: Readonly<Record<string, string>>;
  /** More settings of the agent. */
  readonly agentEnv?: Readonly<Record<string, string>>;
}

/** As systemd counts them. */
export interface Runs {
  /** Starts that nobody ordered, since the last one that somebody ordered. */
  readonly restarts: number;
  /** Names the present run; another one after every start, whoever ordered it. Empty while there is none. */
  readonly invocation: string;
}

/** A machine with a real systemd, containerd and kubelet: a node of a real control plane, with our agent on it. */
export interface KubernetesNode {
  readonly name: string;
  readonly machine: BootedNode;
  /** The local config as it was provisioned, byte for byte. */
  readonly localConfig: string;
  /** Its way to the API server, kubelet and agent alike. */
  readonly api: ApiLink;
  readonly agent: AgentService;
  /** Whether the kubelet's /healthz says ok; false where nobody answers. */
  readonly healthy: () => Promise<boolean>;
  readonly ready: () => Promise<boolean>;
  readonly configz: () => Promise<KubeletConfig>;
  /** Of the kubelet. */
  readonly runs: () => Promise<Runs>;
  /** Reads a file of the node's; undefined where there is none. */
  readonly read: (path: string) => Promise<string | undefined>;
  /** What a unit logged, in previous boots too. Also while the machine is down. */
  readonly journal: (unit: string, lines?: number) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/**
 * Boots it, with the agent installed but neither enabled nor started; resolves when the Node is Ready. A machine whose kubelet does nothing is
 * booted once more, and said: seen on a busy runner, once, before its first line of log.
 */
export async function startKubernetesNode(options: KubernetesNodeOptions): Promise<KubernetesNode> {
  try {
    return await bootOnce(options);
  } catch (error) {
    process.stderr.write(`BOOTED ONCE MORE: ${reasonOf(error)}\n`);
    return bootOnce(options);
  }
}

async function bootOnce(options: KubernetesNodeOptions): Promise<KubernetesNode> {
  const { controlPlane, name } = options;
  const [kubelet = 0, healthz = 0] = await freePorts(2);
  const ports: NodePorts = { kubelet, healthz };
  const api = await startApiLink(Number(new URL(controlPlane.url).port));
  const localConfig = `${JSON.stringify({ ...text.localConfig(ports), ...options.config }, undefined, 2)}\n`;
  let machine: BootedNode | undefined;
  const stop = async (): Promise<void> => {
    await machine?.stop();
    await api.stop();
  };
  try {
    machine = await bootWithKubelet(options, api, localConfig);
    const node = assemble(options, { machine, api, localConfig, ports, stop });
    await until(`node ${name} to be Ready`, async () => (await node.healthy()) && node.ready(), {
      withinMs: 5 * 60_000,
      evidence: machine.logTail,
    });
    return node;
  } catch (error) {
    const evidence = machine === undefined ? '' : await evidenceOf(machine);
    await stop();
    throw new Error(`node ${name} did not come up: ${reasonOf(error)}\n${evidence}`, { cause: error });
  }
}

/** What its kubelet says, and what it waits for in the kernel. */
async function evidenceOf(machine: BootedNode): Promise<string> {
  const waits = 'cd /proc && for task in $(pgrep -x kubelet)/task/*; do cat $task/comm $task/wchan; echo; done';
  const said = [
    journalOf(machine)(KUBELET_UNIT, 40),
    machine.run('systemctl', 'status', '--no-pager', '--lines=0', KUBELET_UNIT),
    machine.run('sh', '-c', waits),
  ];
  return (await Promise.all(said.map((each) => each.catch(reasonOf)))).join('\n');
}

async function bootWithKubelet(options: KubernetesNodeOptions, api: ApiLink, localConfig: string): Promise<BootedNode> {
  const located = await locateNode();
  if (!located.found) throw new Error(`no kubelet: ${located.reason}`);
  const mounts = {
    [MOUNTS.kubelet]: dirname(located.binaries.kubelet),
    [MOUNTS.runtime]: located.binaries.directory,
    [MOUNTS.cniPlugins]: located.binaries.cniPlugins,
    [MOUNTS.node]: dirname(process.execPath),
    [MOUNTS.agent]: options.agentDirectory,
  };
  return bootNode({
    network: 'host',
    // Makes /proc/sys writable, where the kubelet sets what it needs.
    env: { SYSTEMD_NSPAWN_API_VFS_WRITABLE: '1' },
    args: [
      '--capability=all',
      '--bind=/dev/kmsg',
      ...Object.entries(mounts).map(([inside, outside]) => `--bind-ro=${outside}:${inside}`),
    ],
    files: {
      ...(await kubeletCredentials(options, api)),
      ...(await agentFiles(options, api)),
      ...options.files,
      [LOCAL_CONFIG_FILE]: localConfig,
      [KUBELET_FLAGS_FILE]: `KUBELET_EXTRA_ARGS=${(options.kubeletFlags ?? []).join(' ')}\n`,
      '/etc/containerd/config.toml': text.CONTAINERD_CONFIG,
      [CNI_FILE]: text.CNI_CONFIG,
      '/etc/systemd/journald.conf.d/all.conf': '[Journal]\nStorage=persistent\nRateLimitBurst=0\n',
      '/etc/systemd/system/cgroups.service': text.CGROUPS_UNIT,
      '/etc/systemd/system/containerd.service': text.CONTAINERD_UNIT,
      [`/etc/systemd/system/${KUBELET_UNIT}`]: text.kubeletUnit(options.name),
    },
    enable: ['cgroups.service', 'containerd.service', KUBELET_UNIT],
  });
}

interface Parts {
  readonly machine: BootedNode;
  readonly api: ApiLink;
  readonly localConfig: string;
  readonly ports: NodePorts;
  readonly stop: () => Promise<void>;
}

function assemble({ controlPlane, name }: KubernetesNodeOptions, parts: Parts): KubernetesNode {
  const { machine, ports } = parts;
  const journal = journalOf(machine);
  return {
    name,
    machine,
    localConfig: parts.localConfig,
    api: parts.api,
    agent: agentService(machine, journal),
    healthy: () => isHealthy(ports.healthz),
    ready: () => isReady(controlPlane, name),
    configz: () =>
      readConfigz(controlPlane, name, ports.kubelet, join(machine.root, '/var/lib/kubelet/pki/kubelet.crt')),
    async runs() {
      const shown = await machine.systemctl('show', '--property=NRestarts,InvocationID', KUBELET_UNIT);
      const value = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(shown)?.[1] ?? '';
      return { restarts: Number(value('NRestarts')), invocation: value('InvocationID') };
    },
    read: (path) => readFile(join(machine.root, path), 'utf8').catch(() => undefined),
    journal,
    stop: parts.stop,
  };
}
