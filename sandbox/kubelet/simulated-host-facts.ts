import type { HostFacts } from '#agent/preflight/host-facts.ts';
import type { HostFactsReader } from '#agent/preflight/gather-host-facts.ts';
import { neededCgroups } from '#agent/preflight/checks/cgroups.ts';
import type { SimulatedHost } from './host.ts';

export interface SimulatedLookOptions {
  readonly host: SimulatedHost;
  /** Its `--config`, `--config-dir` and `--root-dir`. */
  readonly configFile: string;
  readonly dropInDirectory: string | undefined;
  readonly rootDirectory: string;
}

/** What the machine uses before any pod runs on it. */
const USED = 0.05;
const MOST_PIDS = 32_768;

/** What the agent's preflight would see of the simulated machine. What the machine does not simulate (its files, ports) is not seen. */
export function simulatedHostLook({ host, ...kubelet }: SimulatedLookOptions): HostFactsReader {
  const dropIns = kubelet.dropInDirectory === undefined ? [] : [`--config-dir=${kubelet.dropInDirectory}`];
  const args = [`--config=${kubelet.configFile}`, ...dropIns, `--root-dir=${kubelet.rootDirectory}`];
  return {
    commandLine: async () => ({ args, seenIn: 'process' }),
    look: async (candidate): Promise<HostFacts> => ({
      cgroupVersion: 2,
      cgroups: new Map(neededCgroups(candidate).map(([field, name]) => [field, host.cgroups.includes(name)])),
      cgroupUse: new Map(),
      paths: new Map(),
      swaps: host.hasSwap ? ['/dev/zram0'] : [],
      sysctls: new Map(),
      memoryBytes: host.memory,
      availableMemoryBytes: host.memory * (1 - USED),
      nodefs: { bytes: host.disk, availableBytes: host.disk * (1 - USED), inodes: 0, freeInodes: 0 },
      mostPids: MOST_PIDS,
      onlineCpus: new Set(Array.from({ length: host.cpus }, (_, cpu) => cpu)),
      numaNodes: new Set([0]),
      coreOf: new Map(),
      kubeletArgs: args,
      dropIns: [],
      realPaths: new Map(),
      runningPods: host.pods,
      ownPorts: new Set(),
      ownRuntimes: new Set(),
    }),
  };
}
