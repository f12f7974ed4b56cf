import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { FIRST_MINOR_WITH_DROP_INS, NO_FILE } from '#shared/contract/kubelet-config/drop-ins.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import { parseCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import { readConfigDirDropIns } from '../kubelet/config-dir-drop-ins.ts';
import { cgroupUse } from './cgroup-use.ts';
import { cgroupPath, neededCgroups } from './checks/cgroups.ts';
import { namedPaths } from './checks/files-exist.ts';
import { parseFlags } from '../kubelet/flags.ts';
import { KERNEL_DEFAULTS, shutdownSeconds } from './checks/host-setup.ts';
import { alignsBySocket } from './checks/numa-nodes.ts';
import { givesUserIds } from './checks/user-ids.ts';
import type { ConfigForHost, HostFacts } from './host-facts.ts';
import type { HostFiles } from '../host/host-files.ts';
import type { CommandLine } from '../ports/command-line.ts';
import { fixedInhibitDelay } from './inhibit-delay.ts';
import { imageDirectory, readRuntimeDriver } from './container-runtime.ts';
import { countPods, listeningPorts } from './kernel-tables.ts';
import { cgroupGaps } from './cgroup-gaps.ts';
import { idsOfPods, subordinateIdsOf } from './user-ids.ts';

interface HostFactsOptions {
  readonly files: HostFiles;
  readonly commandLine: HostFactsReader['commandLine'];
}

const CGROUPS = '/sys/fs/cgroup';

/** Reads from the machine what the checks can ask for. Never throws; changes nothing. */
export interface HostFactsReader {
  /** The kubelet's; undefined if it is not visible. */
  commandLine(): Promise<CommandLine | undefined>;
  look(candidate: ConfigForHost, kubeletArgs: readonly string[] | undefined): Promise<HostFacts>;
}

/** The numbers of the machine's NUMA nodes; undefined where they cannot be seen. */
export async function numaNodesOf(files: Pick<HostFiles, 'names'>): Promise<ReadonlySet<number> | undefined> {
  const names = (await files.names('/sys/devices/system/node')) ?? [];
  const numbers = names.flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? []);
  return numbers.length === 0 ? undefined : new Set(numbers.map(Number));
}

export function createHostFactsReader({ files, commandLine }: HostFactsOptions): HostFactsReader {
  const look: HostFactsReader['look'] = async (candidate, args) => {
    const { view, configFile, configDirectory } = candidate;
    const runtimeDriver = await readRuntimeDriver(files);
    const version = await cgroupVersionOf(files);
    const memory = readMemory((await files.text('/proc/meminfo')) ?? '');
    const cpus = parseCpus(((await files.text('/sys/devices/system/cpu/online')) ?? '').trim());
    const swaps = (await files.text('/proc/swaps'))
      ?.split('\n')
      .slice(1)
      .flatMap((line) => /^\S+/.exec(line)?.[0] ?? []);
    const present = await presentConfig(configFile, configDirectory, files);
    const ownPorts = present === undefined ? undefined : portsIn(present);
    const images = await imageDirectory(runtimeEndpoint(view, args), files);
    const facts = {
      cgroupVersion: version,
      ...(await cgroupsOf(candidate, possibleDrivers(view, runtimeDriver?.driver), version, files)),
      paths: new Map(await eachSeen(namedPaths(candidate), (path) => files.kind(path))),
      swaps,
      inhibitDelay: shutdownSeconds(view) > 0 ? await fixedInhibitDelay(files) : undefined,
      sysctls: new Map(await eachSeen(Object.keys(KERNEL_DEFAULTS), (name) => sysctl(files, name))),
      memoryBytes: memory('MemTotal'),
      availableMemoryBytes: availableMemory(memory),
      onlineCpus: cpus === undefined || cpus.size === 0 ? undefined : cpus,
      numaNodes: await numaNodesOf(files),
      sockets: alignsBySocket(view) ? await countSockets(cpus ?? new Set(), files) : undefined,
      ...(givesUserIds(view)
        ? { idsOfPods: await idsOfPods(kubeletDirectory(args), files), subordinateIds: await subordinateIdsOf(files) }
        : {}),
      coreOf: new Map(await eachSeen([...reservedCpus(view)], (cpu) => coreOf(cpu, files))),
      nodefs: await files.room(kubeletDirectory(args)),
      imagefs: images === undefined ? undefined : await files.room(images),
      mostPids: await mostPids(files),
      pids: pidsIn(await files.text('/proc/loadavg')),
      runtimeDriver,
      kubeletArgs: args,
      realPaths: new Map(await eachSeen(configPaths(candidate, args), (path) => files.real(path))),
      dropIns: await dropInsOf(view.minor, args, files),
      runningPods: await countPods(files, version),
      // An agent that sees nothing of the host may be in another network as well.
      addresses: (await files.kind('/proc')) === 'directory' ? addressesOf() : undefined,
      // A file that is broken or deleted names no port, and the kubelet still listens on its own.
      listening: ownPorts === undefined ? undefined : await listeningPorts(files),
      ownPorts: ownPorts ?? new Set<number>(),
      present: present?.reduce<Config>((below, above) => mergePatch(below, above) as Config, {}),
      ownRuntimes: new Set(present?.map(({ containerRuntimeEndpoint }) => containerRuntimeEndpoint)),
    };
    return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)) as unknown as HostFacts;
  };
  return { commandLine, look };
}

/** @returns bytes, by the names of proc_meminfo(5) */
const readMemory =
  (text: string) =>
  (name: string): number | undefined => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
    return kib === undefined ? undefined : Number(kib) * 1024;
  };

/** A kubelet counts all that is not used, and inactive pages of files. In doubt, the larger figure. */
function availableMemory(memory: ReturnType<typeof readMemory>): number | undefined {
  const [free, pages, estimate] = ['MemFree', 'Inactive\\(file\\)', 'MemAvailable'].map(memory);
  return free === undefined ? undefined : Math.max(free + (pages ?? 0), estimate ?? 0);
}

/** What a kubelet reads over its `--config` file. One before 1.28 has no such flag. */
async function dropInsOf(
  minor: number,
  args: readonly string[] | undefined,
  files: HostFiles,
): Promise<HostFacts['dropIns']> {
  const directory = parseFlags(args ?? []).findLast(([flag]) => flag === 'config-dir')?.[1] ?? '';
  const isRead = minor >= FIRST_MINOR_WITH_DROP_INS && directory.startsWith('/');
  return isRead ? readConfigDirDropIns(directory, files) : [];
}

function configPaths(
  { configFile, configDirectory }: ConfigForHost,
  args: readonly string[] | undefined,
): readonly string[] {
  const read = parseFlags(args ?? []).filter(([flag]) => flag === 'config' || flag === 'config-dir');
  const ours = [configFile ?? '', configDirectory ?? ''];
  return [...ours, ...read.map(([, path]) => path)].filter((path) => path.startsWith('/'));
}

async function cgroupVersionOf(files: HostFiles): Promise<1 | 2 | undefined> {
  if ((await files.kind(`${CGROUPS}/cgroup.controllers`)) === 'file') return 2;
  return (await files.kind(`${CGROUPS}/memory`)) === 'directory' ? 1 : undefined;
}

async function cgroupsOf(
  candidate: ConfigForHost,
  drivers: readonly string[],
  version: 1 | 2 | undefined,
  files: HostFiles,
): Promise<Pick<HostFacts, 'cgroups' | 'cgroupGaps' | 'cgroupUse'>> {
  if (version === undefined) return { cgroups: new Map(), cgroupGaps: new Map(), cgroupUse: new Map() };
  const root = version === 2 ? CGROUPS : `${CGROUPS}/memory`;
  const seen = await Promise.all(
    neededCgroups(candidate).map(async ([field, name]) => {
      const paths = drivers.map((driver) => cgroupPath(field, name, driver));
      const kinds = await Promise.all(paths.map((path) => files.kind(join(root, path))));
      const path = paths[kinds.indexOf('directory')];
      const isThere = kinds.includes(undefined) ? undefined : path !== undefined;
      if (path === undefined) return { field, isThere, gaps: [], use: {} };
      return {
        field,
        isThere,
        gaps: await cgroupGaps(path, version, files),
        use: await cgroupUse(path, version, files),
      };
    }),
  );
  return {
    cgroupGaps: new Map(seen.map(({ field, gaps }) => [field, gaps] as const)),
    cgroups: new Map(seen.flatMap(({ field, isThere }) => (isThere === undefined ? [] : [[field, isThere] as const]))),
    cgroupUse: new Map(seen.map(({ field, use }) => [field, use] as const)),
  };
}

/** From 1.28 on a kubelet may ask the runtime, and take its answer rather than the config's word. */
function possibleDrivers(view: ConfigForHost['view'], runtime: string | undefined): readonly string[] {
  const driver = view.text('cgroupDriver') ?? 'cgroupfs';
  const mayAsk = view.minor >= 36 || view.gate('KubeletCgroupDriverFromCRI');
  return mayAsk && runtime !== undefined && runtime !== driver ? [driver, runtime] : [driver];
}

/** What `ephemeral-storage` is counted on. */
const kubeletDirectory = (args: readonly string[] | undefined): string =>
  parseFlags(args ?? []).findLast(([flag]) => flag === 'root-dir')?.[1] ?? '/var/lib/kubelet';

/** The smaller of the kernel's two bounds is what the kubelet counts as `pid`. */
async function mostPids(files: HostFiles): Promise<number | undefined> {
  const bounds = await Promise.all(['kernel.pid_max', 'kernel.threads-max'].map((name) => sysctl(files, name)));
  const numbers = bounds.map(Number).filter((number) => number > 0);
  return numbers.length === 0 ? undefined : Math.min(...numbers);
}

const reservedCpus = (view: ConfigForHost['view']): ReadonlySet<number> =>
  parseCpus(view.text('reservedSystemCPUs') ?? '') ?? new Set();

/** The threads of the core that a CPU is one of. */
async function coreOf(cpu: number, files: HostFiles): Promise<ReadonlySet<number> | undefined> {
  const siblings = await files.text(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`);
  const core = parseCpus(siblings?.trim() ?? '');
  return core === undefined || core.size === 0 ? undefined : core;
}

/** cAdvisor takes a package for a socket, too. */
async function countSockets(cpus: ReadonlySet<number>, files: HostFiles): Promise<number | undefined> {
  const path = (cpu: number): string => `/sys/devices/system/cpu/cpu${cpu}/topology/physical_package_id`;
  const packages = await eachSeen([...cpus], (cpu) => files.text(path(cpu)));
  return packages.length < cpus.size || cpus.size === 0 ? undefined : new Set(packages.map(([, id]) => id.trim())).size;
}

async function eachSeen<K extends string | number, T>(
  names: readonly K[],
  look: (name: K) => Promise<T | undefined>,
): Promise<readonly (readonly [K, T])[]> {
  const seen = await Promise.all(names.map(async (name) => [name, await look(name)] as const));
  return seen.flatMap(([name, fact]) => (fact === undefined ? [] : [[name, fact] as const]));
}

const sysctl = async (files: HostFiles, name: string): Promise<string | undefined> =>
  (await files.text(`/proc/sys/${name.replaceAll('.', '/')}`))?.trim();

/** The agent runs in the host's network. */
function addressesOf(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
}

const PORT_FIELDS = ['port', 'healthzPort', 'readOnlyPort'];
const USUAL_PORTS = [10_250, 10_248, 10_255];

/** The kubelet's config file and what lies in its drop-in directory, in order. Undefined where the file cannot be read. */
async function presentConfig(
  configFile: string | undefined,
  configDirectory: string | undefined,
  files: HostFiles,
): Promise<readonly Config[] | undefined> {
  const dropIns = configDirectory === undefined ? [] : ((await files.names(configDirectory)) ?? []);
  const paths = dropIns
    .filter((name) => name.endsWith('.conf'))
    .toSorted()
    .map((name) => join(configDirectory ?? '', name));
  const read = async (path: string): Promise<Config | undefined> => {
    const text = await files.text(path);
    return text === undefined ? undefined : decodeKubeletConfig(Buffer.from(text, 'utf8')).value;
  };
  const file = configFile === undefined ? NO_FILE : await read(configFile);
  if (file === undefined) return undefined;
  return [file, ...(await Promise.all(paths.map(read))).map((value = {}) => value)];
}

type Config = Readonly<Record<string, unknown>>;

/** Whatever port the kubelet's files name may be its own already. */
function portsIn(configs: readonly Config[]): ReadonlySet<number> {
  const named = configs.flatMap((value) => {
    return PORT_FIELDS.flatMap((field) => (typeof value[field] === 'number' ? [value[field]] : []));
  });
  return new Set([...USUAL_PORTS, ...named]);
}

/** Where the kubelet speaks to its runtime; undefined where its flags cannot be seen. One before 1.27 has it from a flag. */
const runtimeEndpoint = (view: ConfigForHost['view'], args: readonly string[] | undefined): string | undefined =>
  args &&
  (parseFlags(args).findLast(([flag]) => flag === 'container-runtime-endpoint')?.[1] ??
    view.text('containerRuntimeEndpoint'));

/** Tasks of all processes, as the kubelet counts them (pkg/kubelet/stats/pidlimit). */
function pidsIn(loadavg: string | undefined): number | undefined {
  const count = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(loadavg ?? '')?.[1];
  return count === undefined ? undefined : Number(count);
}
