import type { ConfigView } from '#shared/contract/kubelet-config/config-view.ts';

/**
 * What a kubelet limits outside of its own pods, and leaves as it is when the next one does not: the cgroups that
 * `systemReservedCgroup` and `kubeReservedCgroup` name, where they are units of systemd (`enforceExistingCgroup` in
 * cm/node_container_manager_linux.go). The pods' own cgroup is set again by every kubelet at its start.
 *
 * A property of a unit, as `systemctl set-property` takes it: `system.slice MemoryMax`.
 */
export type LimitName = string;

/** What the properties were before a config of ours set them, in systemd's words: `infinity`, or empty for none. */
export type UnitLimits = Readonly<Record<LimitName, string>>;

export type CgroupVersion = 1 | 2;

/** Where the present value of a property is read: a file, named after its controller, and its default. */
const SOURCES = {
  MemoryMax: { file: 'memory.max', unset: 'infinity' },
  MemoryMin: { file: 'memory.min', unset: '0' },
  MemoryLimit: { file: 'memory.limit_in_bytes', unset: 'infinity' },
  CPUWeight: { file: 'cpu.weight', unset: '' },
  CPUShares: { file: 'cpu.shares', unset: '' },
  TasksMax: { file: 'pids.max', unset: 'infinity' },
} as const;

type LimitProperty = keyof typeof SOURCES;

/** The kernel's own word for no limit of memory in version 1: the largest page-aligned number of bytes. */
const NO_LIMIT_V1 = 2n ** 63n - 4096n;

const RESERVED = [
  { word: 'system-reserved', cgroup: 'systemReservedCgroup', amounts: 'systemReserved' },
  { word: 'kube-reserved', cgroup: 'kubeReservedCgroup', amounts: 'kubeReserved' },
] as const;

/** Every property that a kubelet with this config sets at its start. */
export function limitsSetBy(config: ConfigView, version: CgroupVersion): readonly LimitName[] {
  const words = config.texts('enforceNodeAllocatable');
  return RESERVED.flatMap(({ word, cgroup, amounts }) => {
    const unit = unitOf(config.text(cgroup), config.text('cgroupDriver'));
    const isWhole = words.includes(word);
    if (unit === undefined || !(isWhole || words.includes(`${word}-compressible`))) return [];
    const given = new Set(config.entries(amounts).map(([resource]) => resource));
    const properties = [
      ...(isWhole && given.has('memory') ? memoryProperties(config, version) : []),
      ...(given.has('cpu') ? [version === 2 ? 'CPUWeight' : 'CPUShares'] : []),
      ...(isWhole && given.has('pid') ? ['TasksMax'] : []),
    ];
    return properties.map((property) => `${unit} ${property}`);
  });
}

const memoryProperties = (config: ConfigView, version: CgroupVersion): readonly string[] => {
  if (version === 1) return ['MemoryLimit'];
  return config.gate('MemoryQoS') ? ['MemoryMax', 'MemoryMin'] : ['MemoryMax'];
};

/**
 * The unit that a reserved cgroup is; undefined where systemd does not know it. Under its driver only the last part counts.
 *
 * @param driver `cgroupDriver`; undefined where the config does not name one, which is `cgroupfs`
 */
export function unitOf(cgroup: string | undefined, driver?: string): string | undefined {
  const last = cgroup?.split('/').findLast((part) => part !== '') ?? '';
  const unit = driver === 'systemd' ? `${last.replace(/\.slice$/, '')}.slice` : last;
  return /^[\w@.:\\-]+\.(?:slice|service|scope)$/.test(unit) && !unit.startsWith('-') ? unit : undefined;
}

/** What has to be noted before the kubelet hears of a config: not what the config before it set already. */
export const limitsToRecord = (
  wanted: readonly LimitName[],
  present: readonly LimitName[],
  noted: UnitLimits,
): readonly LimitName[] => wanted.filter((name) => !present.includes(name) && !Object.hasOwn(noted, name));

/** What no longer holds once the kubelet runs a config that sets only these. */
export const limitsToRestore = (noted: UnitLimits, wanted: readonly LimitName[]): UnitLimits =>
  Object.fromEntries(Object.entries(noted).filter(([name]) => !wanted.includes(name)));

/** The parts of a name that `limitsSetBy` made, or that `isLimit` says is one. */
export const parseLimitName = (name: LimitName): readonly [unit: string, property: LimitProperty] =>
  name.split(' ') as unknown as readonly [string, LimitProperty];

/** Whether it can be a limit of ours: what a disk says may be anything. */
export function isLimit(name: LimitName, value: unknown): value is string {
  const [unit, property] = parseLimitName(name);
  const isName = unitOf(unit) === unit && Object.hasOwn(SOURCES, property) && name.split(' ').length === 2;
  return isName && typeof value === 'string' && /^(?:|infinity|\d{1,20})$/.test(value);
}

/** The file below `/sys/fs/cgroup` that a property stands in. @param cgroup its directory, from the root of its hierarchy */
export function cgroupFileOf(property: LimitProperty, cgroup: string, version: CgroupVersion): string {
  const { file } = SOURCES[property];
  const path = `${cgroup}/${file}`;
  return version === 1 ? `${file.slice(0, file.indexOf('.'))}/${path}` : path;
}

/** What systemd calls what the kernel has. @param text of the file; undefined where there is none: the controller is off */
export function systemdValueOf(property: LimitProperty, text: string | undefined): string {
  const value = text?.trim() ?? '';
  return /^\d{1,20}$/.test(value) && BigInt(value) < NO_LIMIT_V1 ? value : SOURCES[property].unset;
}

/** What the bus carries for it: the largest number for none. */
export const busValueOf = (value: string): bigint =>
  value === '' || value === 'infinity' ? 2n ** 64n - 1n : BigInt(value);
