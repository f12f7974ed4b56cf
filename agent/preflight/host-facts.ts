import type { InhibitDelay } from './inhibit-delay.ts';
import type { ConfigView } from '#shared/contract/kubelet-config/config-view.ts';
import type { ConfigDirDropIn } from '../kubelet/config-dir-drop-ins.ts';
import type { HostPathKind, FileSystemSpace } from '../host/host-files.ts';

/** What was seen of the machine. Undefined, or not in a map, is what could not be seen: it speaks against nothing. */
export interface HostFacts {
  readonly cgroupVersion?: 1 | 2;
  /** Fields that name a cgroup → whether there is such a one. */
  readonly cgroups: ReadonlyMap<string, boolean>;
  /** Of those that are there, controllers that the kubelet looks for in vain. */
  readonly cgroupGaps?: ReadonlyMap<string, readonly string[]>;
  /** What these use now: bytes of memory that cannot be given back, and processes. */
  readonly cgroupUse: ReadonlyMap<string, CgroupUse>;
  readonly paths: ReadonlyMap<string, HostPathKind>;
  /** What logind keeps to, where a config delays shutdowns. */
  readonly inhibitDelay?: InhibitDelay;
  /** Devices and files that the kernel swaps to. */
  readonly swaps?: readonly string[];
  /** `vm.overcommit_memory` → its value. */
  readonly sysctls: ReadonlyMap<string, string>;
  readonly memoryBytes?: number;
  /** Memory that a kubelet would count as available now. */
  readonly availableMemoryBytes?: number;
  /** The file system that the kubelet's directory is on. */
  readonly nodefs?: FileSystemSpace;
  /** The one that images are on, where the runtime's own files leave no doubt of it. */
  readonly imagefs?: FileSystemSpace;
  /** How many processes the kernel allows. */
  readonly mostPids?: number;
  /** How many there are now. */
  readonly pids?: number;
  readonly onlineCpus?: ReadonlySet<number>;
  readonly numaNodes?: ReadonlySet<number>;
  /** Processor packages, where a config depends on them. */
  readonly sockets?: number;
  /** CPUs that the config reserves → all CPUs of the same core. */
  readonly coreOf: ReadonlyMap<number, ReadonlySet<number>>;
  /** How the container runtime makes cgroups. */
  readonly runtimeDriver?: { readonly driver: 'systemd' | 'cgroupfs'; readonly file: string };
  /** The kubelet's command line, the program left out. */
  readonly kubeletArgs?: readonly string[];
  /** Of the kubelet's `--config-dir`, whatever the agent's settings say; ours left out. In the order of the kubelet. */
  readonly dropIns: readonly ConfigDirDropIn[];
  /** Where the kubelet's `--config` and `--config-dir`, and ours, lead when links are followed. */
  readonly realPaths: ReadonlyMap<string, string>;
  readonly runningPods?: number;
  /** User ids that pods on the disk were given, how many each. */
  readonly idsOfPods?: readonly number[];
  /** What the user `kubelet` has of subordinate ids; `none` where there is no such user, so that the kubelet takes all ids. */
  readonly subordinateIds?: SubordinateIds | 'none';
  /** Addresses of the machine's interfaces. */
  readonly addresses?: readonly string[];
  /** TCP ports with a listener. */
  readonly listening?: ReadonlySet<number>;
  /** Ports that the kubelet has already, by its config as it lies there. */
  readonly ownPorts: ReadonlySet<number>;
  /** The kubelet's config as it lies there now. */
  readonly present?: Readonly<Record<string, unknown>>;
  /** Where the kubelet has its container runtime already, by the same config. */
  readonly ownRuntimes: ReadonlySet<unknown>;
}

export interface SubordinateIds {
  readonly first: number;
  readonly length: number;
}

export interface CgroupUse {
  readonly bytes?: number;
  readonly pids?: number;
}

/** A config on its way to a machine. */
export interface ConfigForHost {
  /** The kubelet's: `v1.34.2`. */
  readonly version: string;
  /** The whole that the kubelet would work with: its defaults filled in, and its flags over everything. */
  readonly view: ConfigView;
  /** What its files alone make of it, the node's own drop-ins included. */
  readonly fromFiles: Readonly<Record<string, unknown>>;
  /** What the assignment itself sets. */
  readonly assigned: Readonly<Record<string, unknown>>;
  /** Files that the agent installs into: `--config`, and `--config-dir` if it has one. */
  readonly configFile: string | undefined;
  readonly configDirectory: string | undefined;
  /** Whether it goes into the drop-in directory. */
  readonly asDropIn: boolean;
}
