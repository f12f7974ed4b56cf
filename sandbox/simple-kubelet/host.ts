/** The machine under a simulated kubelet, as far as a KubeletConfiguration can break on it. */
export interface SimulatedHost {
  readonly cpus: number;
  /** Cgroups that exist. */
  readonly cgroups: readonly string[];
  readonly swap: boolean;
}

export const PLAIN_HOST: SimulatedHost = { cpus: 4, cgroups: ['/', '/system.slice', '/kubepods'], swap: false };

type Config = Readonly<Record<string, unknown>>;

/**
 * Why a real kubelet would end right after its start with this config on this host: what no validation of the file alone
 * can find. null where it would run.
 */
export function whyItDies(config: Config, host: SimulatedHost): string | null {
  const beyond = cpusIn(config['reservedSystemCPUs']).find((cpu) => cpu >= host.cpus);
  if (beyond !== undefined) {
    return `reservedSystemCPUs names CPU ${beyond}, and this machine has ${host.cpus}`;
  }
  for (const field of ['systemReservedCgroup', 'kubeReservedCgroup'] as const) {
    const cgroup = config[field];
    if (typeof cgroup === 'string' && cgroup !== '' && !host.cgroups.includes(cgroup)) {
      return `the cgroup ${cgroup} of ${field} does not exist`;
    }
  }
  return host.swap && config['failSwapOn'] !== false ? 'swap is on, and failSwapOn is not switched off' : null;
}

function cpusIn(list: unknown): readonly number[] {
  if (typeof list !== 'string') return [];
  return list
    .split(',')
    .flatMap((range) => (range.split('-').at(-1) ?? '').trim())
    .map(Number);
}
