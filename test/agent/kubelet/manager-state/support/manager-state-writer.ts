import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import type { MemoryDisk } from '../../../../support/agent/memory-disk.ts';

type Config = Readonly<Record<string, unknown>>;

export const ROOT = '/var/lib/kubelet';
export const CONFIG = `${ROOT}/config.yaml`;
export const CPU_STATE = `${ROOT}/cpu_manager_state`;
export const MEMORY_STATE = `${ROOT}/memory_manager_state`;

interface CpuState {
  readonly policyName: string;
  readonly free: readonly number[];
  readonly given: readonly number[];
}

/** A machine of eight CPUs and one NUMA node, whose kubelet does with its managers' state what a real one does. */
export interface StateWriter {
  /** Starts with the config file that is there. @throws what the kubelet would say before it ends */
  start(): void;
  /** Gives a CPU that is free and not reserved to a new pod, or takes the last one back: the running kubelet writes its state. */
  givePod(): void;
  takePod(): void;
}

const ALL = [0, 1, 2, 3, 4, 5, 6, 7];

export function createStateWriter(disk: MemoryDisk): StateWriter {
  let config: Config = {};
  let state: CpuState | undefined;
  const writeCpu = (next: CpuState): void => {
    state = next;
    const entries = Object.fromEntries(next.given.map((cpu) => [`pod-${cpu}`, { container: String(cpu) }]));
    const written = { policyName: next.policyName, defaultCpuSet: next.free.join(), entries, checksum: 7 };
    disk.plant(CPU_STATE, JSON.stringify(written));
  };

  return {
    start() {
      state = undefined;
      const tree = disk.tree();
      config = decodeKubeletConfig(Buffer.from(tree[CONFIG] ?? '')).value ?? {};
      const policyName = policyOf(config);
      const cpu = tree[CPU_STATE];
      const found = cpu === undefined ? { policyName, free: [], given: [] } : readCpu(cpu);
      if (found.policyName !== policyName) throw new Error(`configured policy ${policyName}, not ${found.policyName}`);
      const isNew = policyName === 'static' && found.free.length === 0;
      const next = isNew ? { ...found, free: ALL } : found;
      const missing = reservedCpus(config).filter((one) => !next.free.includes(one));
      if (policyName === 'static' && missing.length > 0) throw new Error(`reserved but given away: ${missing.join()}`);
      startMemory(disk, config, tree[MEMORY_STATE]);
      if (cpu === undefined || isNew) writeCpu(next);
      else state = next;
    },
    givePod() {
      const cpu = state?.free.findLast((one) => !reservedCpus(config).includes(one));
      if (state === undefined || state.policyName !== 'static' || cpu === undefined) return;
      writeCpu({ ...state, free: state.free.filter((one) => one !== cpu), given: [...state.given, cpu] });
    },
    takePod() {
      const cpu = state?.given.at(-1);
      if (state === undefined || cpu === undefined) return;
      writeCpu({
        ...state,
        free: [...state.free, cpu].toSorted((one, other) => one - other),
        given: state.given.slice(0, -1),
      });
    },
  };
}

function startMemory(disk: MemoryDisk, config: Config, text: string | undefined): void {
  const policyName = textIn(config, 'memoryManagerPolicy', 'None');
  const [{ limits = {} } = {}] = (config['reservedMemory'] ?? []) as readonly { limits?: Record<string, string> }[];
  const systemReserved = Number(limits['memory'] ?? 0);
  if (text === undefined) {
    const machineState = policyName === 'None' ? {} : { 0: { memoryMap: { memory: { systemReserved } } } };
    disk.plant(MEMORY_STATE, JSON.stringify({ policyName, machineState }));
    return;
  }
  const found = JSON.parse(text) as {
    policyName: string;
    machineState: Record<string, { memoryMap: { memory: { systemReserved: number } } }>;
  };
  if (found.policyName !== policyName) throw new Error(`memory policy ${policyName}, not ${found.policyName}`);
  const kept = found.machineState['0']?.memoryMap.memory.systemReserved ?? systemReserved;
  if (policyName === 'Static' && kept !== systemReserved) throw new Error('the expected machine state is different');
}

function readCpu(text: string): CpuState {
  const { policyName, defaultCpuSet, entries } = JSON.parse(text) as {
    policyName: string;
    defaultCpuSet: string;
    entries: Readonly<Record<string, { readonly container: string }>>;
  };
  const free = defaultCpuSet === '' ? [] : defaultCpuSet.split(',').map(Number);
  return { policyName, free, given: Object.values(entries).map(({ container }) => Number(container)) };
}

const policyOf = (config: Config): string => textIn(config, 'cpuManagerPolicy', 'none');

function textIn(config: Config, field: string, fallback: string): string {
  const value = config[field];
  return typeof value === 'string' ? value : fallback;
}

/** As many of the first cores as are reserved; with an option, of the last: which they are is the machine's affair. */
function reservedCpus(config: Config): readonly number[] {
  const named = textIn(config, 'reservedSystemCPUs', '');
  if (named !== '') return named.split(',').map(Number);
  const { cpu = '0' } = (config['systemReserved'] ?? {}) as { readonly cpu?: string };
  return config['cpuManagerPolicyOptions'] === undefined ? ALL.slice(0, Number(cpu)) : ALL.slice(-Number(cpu));
}
