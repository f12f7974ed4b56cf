import { appendFile, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import { locateNode } from '../../cluster/support/binaries.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { freePorts } from '../../cluster/support/free-ports.ts';
import { isHealthy, isReady, type KubeletConfig, readConfigz } from '../../cluster/support/kubelet-probes.ts';
import { until } from '../../support/until.ts';
import { type AgentService, agentFiles, agentService } from './agent-service.ts';
import { type ApiLink, startApiLink } from './api-link.ts';
import { type Assignments, createAssignments } from './assignments.ts';
import { type BootedNode, bootNode } from './booted-node.ts';
import { agentSettings, type Layout } from './distributions/layout.ts';
import { journalOf } from './journal.ts';
import { kubeletCredentials } from './node-credentials.ts';
import * as text from './node-files.ts';
import { AGENT_UNIT, CNI_FILE, CREDENTIALS, MOUNTS } from './node-paths.ts';
import { type StatusWaits, statusWaits } from './status-waits.ts';

/** What the nodes of one run have in common. */
export interface DistributionWorld {
  readonly cluster: () => ControlPlane;
  readonly agentDirectory: () => string;
  /** Path of `kubelet-starter`. */
  readonly starter: () => string;
}

export interface DistributionNodeOptions {
  readonly name: string;
  readonly layout: Layout;
  /** Milliseconds after which an API server inside the unit answers; without it the API server is elsewhere. */
  readonly apiInsideAfterMs?: number;
}

/** The runs of the kubelet's unit. */
export interface UnitRuns {
  /** Names the present one; empty while there is none. */
  readonly invocation: string;
  /** Starts of its program so far, whoever ordered them. */
  readonly starts: number;
}

/** A machine with a real systemd and a real kubelet, laid out as a distribution does, with our agent on it. */
export interface DistributionNode extends StatusWaits {
  readonly layout: Layout;
  readonly machine: BootedNode;
  readonly assignments: Assignments;
  readonly agent: AgentService;
  /** Its way to the API server, the program's, the kubelet's and the agent's alike. */
  readonly api: ApiLink;
  readonly healthy: () => Promise<boolean>;
  readonly ready: () => Promise<boolean>;
  readonly configz: () => Promise<KubeletConfig>;
  readonly runs: () => Promise<UnitRuns>;
  /** Undefined where there is no such file. */
  readonly read: (path: string) => Promise<string | undefined>;
  /** Our own drop-in. */
  readonly dropIn: () => Promise<string | undefined>;
  /** Sets variables of the program, for its next start. */
  readonly set: (variables: Readonly<Record<string, string>>) => Promise<void>;
  readonly journal: (unit: string, lines?: number) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** Ends what hangs, and measures nothing. */
const PATIENCE_MS = 5 * 60_000;

/** Boots it, with the agent neither enabled nor started; resolves when the Node is Ready. */
export async function startDistributionNode(
  world: DistributionWorld,
  options: DistributionNodeOptions,
): Promise<DistributionNode> {
  const { name, layout } = options;
  const controlPlane = world.cluster();
  const assignments = await createAssignments(controlPlane, name);
  const [kubelet = 0, healthz = 0, inside = 0] = await freePorts(3);
  const api = await startApiLink(Number(new URL(controlPlane.url).port));
  const variables: Record<string, string> = {
    PATH: `${MOUNTS.runtime}:/usr/sbin:/usr/bin:/sbin:/bin`,
    STARTER_NODE: name,
    STARTER_API: api.url,
    STARTER_VERSION: layout.version,
  };
  if (options.apiInsideAfterMs !== undefined)
    Object.assign(variables, {
      STARTER_API: `https://127.0.0.1:${inside}`,
      STARTER_LISTEN: `127.0.0.1:${inside}`,
      STARTER_UPSTREAM: new URL(api.url).host,
      STARTER_DELAY: `${options.apiInsideAfterMs}ms`,
    });
  let machine: BootedNode | undefined;
  const stop = async (): Promise<void> => {
    await machine?.stop();
    await api.stop();
  };
  try {
    machine = await boot(world, options, { kubelet, healthz }, variables);
  } catch (error) {
    await stop();
    throw error;
  }
  const { root, run, systemctl } = machine;
  const journal = journalOf(machine);
  const read = (path: string): Promise<string | undefined> => readFile(join(root, path), 'utf8').catch(() => undefined);
  const healthy = (): Promise<boolean> => isHealthy(healthz);
  const units = [AGENT_UNIT, layout.unit];
  const waiting = statusWaits({ name, assignments, healthy, journal, units, withinMs: PATIENCE_MS, everyMs: 100 });
  /** One that has just started listens on its secure port a moment after it is healthy. */
  const unlessDeaf = (error: unknown): undefined => {
    if (codeOf(error) !== 'ECONNREFUSED') throw error;
  };
  const configz = (): Promise<KubeletConfig> =>
    readConfigz(controlPlane, name, kubelet, join(root, layout.certificate));
  const node: DistributionNode = {
    ...waiting,
    layout,
    machine,
    assignments,
    agent: agentService(machine, journal),
    api,
    healthy,
    ready: () => isReady(controlPlane, name),
    configz: () => waiting.waits('its running config', () => configz().catch(unlessDeaf)),
    async runs() {
      const invocation = (await systemctl('show', '--property=InvocationID', '--value', layout.unit)).trim();
      const lines = (await journal(layout.unit, 100_000)).split('\n');
      return { invocation, starts: lines.filter((line) => line.includes(layout.startLine)).length };
    },
    read,
    dropIn: () => read(`${layout.paths.configDirectory}/99-kubelet-gitops.conf`),
    set: (more) => appendFile(join(root, layout.environmentFile), asLines(more)),
    journal,
    stop,
  };
  try {
    await until(`node ${name} to be Ready`, async () => (await healthy()) && node.ready(), { withinMs: PATIENCE_MS });
    return node;
  } catch (error) {
    const log = await journal(layout.unit, 40).catch(reasonOf);
    const more = await run('sh', '-c', `tail -n 40 ${layout.paths.logFile ?? '/dev/null'}`).catch(reasonOf);
    await stop();
    throw new Error(`node ${name} did not come up; the end of its log:\n${log}\n${more}`, { cause: error });
  }
}

async function boot(
  { cluster, agentDirectory, starter }: DistributionWorld,
  { name, layout }: DistributionNodeOptions,
  ports: { readonly kubelet: number; readonly healthz: number },
  variables: Readonly<Record<string, string>>,
): Promise<BootedNode> {
  const located = await locateNode();
  if (!located.found) throw new Error(`no container runtime: ${located.reason}`);
  const { directory, cniPlugins } = located.binaries;
  const mounts = [
    [directory, MOUNTS.runtime],
    [cniPlugins, MOUNTS.cniPlugins],
    [dirname(process.execPath), MOUNTS.node],
    [agentDirectory(), MOUNTS.agent],
    ...layout.programs.map((path) => [starter(), path] as const),
  ] as const;
  const { configFile, configDirectory, rootDirectory = '/var/lib/kubelet' } = layout.paths;
  const unitDirectory = `/etc/systemd/system/${layout.unit}.d`;
  const directories = [
    rootDirectory,
    ...(configDirectory === undefined ? [] : [configDirectory]),
    ...(configFile === undefined ? [] : [dirname(configFile)]),
  ];
  const api = { url: variables['STARTER_API'] ?? '' };
  const agent = {
    controlPlane: cluster(),
    name,
    agentEnv: agentSettings(layout),
    places: { unitDirectory, directories },
  };
  const containerd = layout.hasContainerdUnit ? { '/etc/systemd/system/containerd.service': text.CONTAINERD_UNIT } : {};
  return bootNode({
    network: 'host',
    // Makes /proc/sys writable, where the kubelet sets what it needs.
    env: { SYSTEMD_NSPAWN_API_VFS_WRITABLE: '1' },
    args: [
      '--capability=all',
      '--bind=/dev/kmsg',
      ...mounts.map(([outside, inside]) => `--bind-ro=${outside}:${inside}`),
    ],
    files: {
      ...(await kubeletCredentials({ controlPlane: cluster(), name }, api)),
      ...(await agentFiles(agent, api)),
      ...containerd,
      ...layout.files(ports),
      [layout.environmentFile]: asLines(variables),
      [`${CREDENTIALS.kubelet}/.keep`]: '',
      [`${rootDirectory}/.keep`]: '',
      '/etc/containerd/config.toml': text.CONTAINERD_CONFIG,
      [CNI_FILE]: text.CNI_CONFIG,
      '/etc/systemd/journald.conf.d/all.conf': '[Journal]\nStorage=persistent\nRateLimitBurst=0\n',
      '/etc/systemd/system/cgroups.service': text.CGROUPS_UNIT.replace('kubelet.service', layout.unit),
      [`/etc/systemd/system/${layout.unit}`]: layout.unitText,
    },
    enable: ['cgroups.service', layout.unit],
  });
}

const asLines = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
