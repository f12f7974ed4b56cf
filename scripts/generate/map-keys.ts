import { signalsAt } from '#shared/contract/kubelet-config/rules/eviction.ts';
import { RESERVABLE } from '#shared/contract/kubelet-config/rules/reservations.ts';
import { cpuOptionsAt, topologyOptionsAt } from '#shared/contract/kubelet-config/rules/resource-managers.ts';
import type { Schema } from './schema-text.ts';
import {
  CPU_LIST,
  CPU_LIST_BEFORE_22,
  DURATION,
  type Format,
  PADDED_QUANTITY,
  PERCENTAGE,
  QUANTITY,
  THRESHOLD,
} from './value-formats.ts';

/**
 * What an editor knows of the keys and the texts that the table of fields leaves open: eviction signals, resources, options
 * of policies, lists of CPUs. Undefined for no more than the table.
 */
export function textSchema(path: string, minor: number): Schema | undefined {
  return TEXTS[path]?.(minor);
}

const text = (format: Format, more: Schema = {}): Schema => ({ type: ['string', 'null'], ...format, ...more });

/** A map with these keys and no other: the kubelet does not start with one that it does not know. */
const keyed = (keys: Readonly<Record<string, Schema>>): Schema => ({
  type: ['object', 'null'],
  additionalProperties: false,
  properties: keys,
});

const SIGNALS: Readonly<Record<string, string>> = {
  'memory.available': 'Memory of the node that is not in active use',
  'nodefs.available': 'Free space where the kubelet keeps volumes, logs and its own files',
  'nodefs.inodesFree': 'Free inodes where the kubelet keeps volumes, logs and its own files',
  'imagefs.available': 'Free space where the container runtime keeps images',
  'imagefs.inodesFree': 'Free inodes where the container runtime keeps images',
  'containerfs.available': 'Free space where the container runtime keeps what containers write',
  'containerfs.inodesFree': 'Free inodes where the container runtime keeps what containers write',
  'pid.available': 'Process IDs of the node that are free',
  'allocatableMemory.available': 'Memory that pods together may still use',
};

const RESOURCES: Readonly<Record<string, readonly [about: string, examples: readonly string[]]>> = {
  cpu: ['CPU time kept back from pods, in cores', ['100m', '500m', '1']],
  memory: ['Memory kept back from pods', ['256Mi', '512Mi', '1Gi']],
  'ephemeral-storage': ['Disk space kept back from pods, where the kubelet keeps its files', ['1Gi', '10Gi']],
  pid: ['Process IDs kept back from pods', ['1000']],
};

const THRESHOLD_EXAMPLES = ['10%', '200Mi'];

const signals =
  (value: Schema) =>
  (minor: number): Schema =>
    keyed(
      Object.fromEntries(signalsAt(minor).map((name) => [name, { description: `${SIGNALS[name] ?? ''}.`, ...value }])),
    );

const reserved = (): Schema =>
  keyed(
    Object.fromEntries(
      RESERVABLE.map((name) => {
        const [about, examples] = RESOURCES[name] ?? ['', []];
        return [name, text(QUANTITY, { description: `${about}.`, examples })];
      }),
    ),
  );

/** Names only: which of them count, and with which values, depends on the policy and on gates. */
const options = (names: readonly string[], others: boolean): Schema => ({
  type: ['object', 'null'],
  additionalProperties: others ? { type: ['string', 'null'] } : false,
  properties: Object.fromEntries(
    names.map((name) => [name, { type: ['string', 'null'], examples: ['true', 'false'] }]),
  ),
});

const NUMA_AMOUNT = { ...PADDED_QUANTITY, type: ['string', 'number', 'null'], examples: ['512Mi', '1Gi'] };

const TEXTS: Readonly<Record<string, (minor: number) => Schema>> = {
  evictionHard: signals(text(THRESHOLD, { examples: THRESHOLD_EXAMPLES })),
  evictionSoft: signals(text(THRESHOLD, { examples: THRESHOLD_EXAMPLES })),
  evictionMinimumReclaim: signals(text(THRESHOLD, { examples: THRESHOLD_EXAMPLES })),
  evictionSoftGracePeriod: signals(text(DURATION, { examples: ['1m30s'] })),
  kubeReserved: reserved,
  systemReserved: reserved,
  qosReserved: () =>
    keyed({ memory: text(PERCENTAGE, { description: 'Share of requested memory.', examples: ['50%'] }) }),
  'reservedMemory[].limits': () => ({
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      memory: { description: 'Memory of this NUMA node.', ...NUMA_AMOUNT },
      'hugepages-2Mi': { description: 'Huge pages of 2 MiB of this NUMA node, by their sum.', ...NUMA_AMOUNT },
      'hugepages-1Gi': { description: 'Huge pages of 1 GiB of this NUMA node, by their sum.', ...NUMA_AMOUNT },
    },
    patternProperties: { '^hugepages-(?!2Mi$|1Gi$)': NUMA_AMOUNT },
  }),
  // With another policy than static, the kubelet does not look at their names.
  cpuManagerPolicyOptions: (minor) => options(cpuOptionsAt(minor), true),
  topologyManagerPolicyOptions: (minor) => options(topologyOptionsAt(minor), false),
  reservedSystemCPUs: (minor) => text(minor < 22 ? CPU_LIST_BEFORE_22 : CPU_LIST, { examples: ['0-1', '0,8'] }),
  containerLogMaxSize: () => text({ ...QUANTITY, pattern: `^$|${QUANTITY.pattern}` }, { examples: ['10Mi', '50Mi'] }),
};
