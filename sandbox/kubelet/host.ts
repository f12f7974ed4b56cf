type Config = Readonly<Record<string, unknown>>;

/** The machine under a simulated kubelet, as far as a config can be too much for it. */
export interface SimulatedHost {
  readonly cpus: number;
  /** Bytes. */
  readonly memory: number;
  /** Bytes, of the filesystem that pods write to. */
  readonly disk: number;
  /** Cgroups besides the kubelet's own: `/system.slice`. */
  readonly cgroups: readonly string[];
  readonly hasSwap: boolean;
  /** How many run there, for whoever looks at the machine. */
  readonly pods: number;
}

const GI = 2 ** 30;

export const SMALL_HOST: SimulatedHost = {
  cpus: 4,
  memory: 16 * GI,
  disk: 100 * GI,
  cgroups: ['/system.slice'],
  hasSwap: false,
  pods: 0,
};

/**
 * Why a kubelet ends on this machine with a config that is valid in itself, in the words of a real one; null if it
 * does not. What a real kubelet does not look at (the cgroup of a reservation that is not enforced) is no reason here.
 *
 * @param config with its defaults
 */
export function hostProblem(config: Config, host: SimulatedHost): string | null {
  return cpusBeyond(config, host) ?? tooFewFiles(config) ?? missingCgroup(config, host) ?? swapIsOn(config, host);
}

function cpusBeyond({ reservedSystemCPUs }: Config, { cpus }: SimulatedHost): string | null {
  if (typeof reservedSystemCPUs !== 'string' || reservedSystemCPUs === '') return null;
  const highest = Math.max(...reservedSystemCPUs.split(/[-,]/).map(Number));
  if (highest < cpus) return null;
  return `reservedSystemCPUs "${reservedSystemCPUs}" is not a subset of the online CPUs "0-${cpus - 1}"`;
}

/** As many as a kubelet without a single pod has open. */
const FEWEST_FILES = 64;

function tooFewFiles({ maxOpenFiles }: Config): string | null {
  return typeof maxOpenFiles === 'number' && maxOpenFiles < FEWEST_FILES ? 'accept: too many open files' : null;
}

function missingCgroup(config: Config, { cgroups }: SimulatedHost): string | null {
  const { enforceNodeAllocatable: enforced } = config;
  if (!Array.isArray(enforced)) return null;
  for (const kind of ['system', 'kube'] as const) {
    const cgroup = config[`${kind}ReservedCgroup`];
    const isEnforced = enforced.some((item) => String(item).startsWith(`${kind}-reserved`));
    if (!isEnforced || typeof cgroup !== 'string' || cgroups.includes(cgroup)) continue;
    return `Failed to enforce ${kind === 'system' ? 'System' : 'Kube'} Reserved Cgroup Limits on "${cgroup}": cgroup does not exist`;
  }
  return null;
}

function swapIsOn({ failSwapOn }: Config, { hasSwap }: SimulatedHost): string | null {
  if (!hasSwap || failSwapOn === false) return null;
  return 'running with swap on is not supported, please disable swap or set --fail-swap-on flag to false';
}
