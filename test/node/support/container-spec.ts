import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { withComponent } from '../../deploy/component.ts';

/** What of a DaemonSet's pod a container runtime has to know. */
export interface PodTemplate {
  readonly hostNetwork?: boolean;
  readonly containers: readonly [ContainerTemplate];
  readonly volumes: readonly { readonly name: string; readonly hostPath: HostPath }[];
}
interface HostPath {
  readonly path: string;
  readonly type: 'Directory' | 'DirectoryOrCreate';
}
export interface ContainerTemplate {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext: {
    readonly runAsUser: number;
    readonly allowPrivilegeEscalation: boolean;
    readonly readOnlyRootFilesystem: boolean;
    readonly capabilities: { readonly drop: readonly string[] };
    readonly seccompProfile: { readonly type: string };
  };
  readonly readinessProbe?: { readonly exec: { readonly command: readonly string[] } };
  readonly volumeMounts: readonly VolumeMount[];
}
export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly mountPropagation?: 'None' | 'HostToContainer';
}

interface DaemonSet {
  readonly kind: string;
  readonly spec: { readonly template: { readonly spec: PodTemplate } };
}

/** @param components of deploy/components */
export function agentTemplate(...components: readonly string[]): PodTemplate {
  const daemonSet = parse(readFileSync('deploy/agent/daemonset.yaml', 'utf8')) as DaemonSet;
  return components.reduce(withComponent, daemonSet).spec.template.spec;
}

export interface PodOptions {
  /** Paths on the node. */
  readonly imageRoot: string;
  readonly runc: string;
  readonly env: Readonly<Record<string, string>>;
  /** Mounts that are the kubelet's doing, not the manifest's: the service account's. From path on the node to path inside. */
  readonly serviceAccount: { readonly from: string; readonly to: string };
}

/** As in the image. */
export const PROGRAM = '/usr/bin/node';

/** What the container runtime makes of the pod (https://github.com/opencontainers/runtime-spec). */
export function containerSpec(template: PodTemplate, { imageRoot, env, serviceAccount }: PodOptions): unknown {
  const [container] = template.containers;
  const { securityContext } = container;
  if (securityContext.capabilities.drop.join() !== 'ALL') throw new Error('capabilities are not all dropped');
  if (securityContext.seccompProfile.type !== 'RuntimeDefault') throw new Error('another seccomp profile');
  const set = Object.fromEntries(
    container.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  );
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] };
  return {
    ociVersion: '1.0.2',
    root: { path: imageRoot, readonly: securityContext.readOnlyRootFilesystem },
    process: {
      user: { uid: securityContext.runAsUser, gid: 0 },
      args: [PROGRAM, ...container.args],
      env: Object.entries({ ...set, ...env }).map(([name, value]) => `${name}=${value}`),
      cwd: '/',
      capabilities: none,
      noNewPrivileges: !securityContext.allowPrivilegeEscalation,
    },
    mounts: [
      ...SYSTEM_MOUNTS,
      ...container.volumeMounts.map((mount) => bindMount(mount, template)),
      {
        type: 'bind',
        source: serviceAccount.from,
        destination: serviceAccount.to,
        options: ['rbind', 'rprivate', 'ro'],
      },
    ],
    linux: {
      namespaces: [
        ...['pid', 'ipc', 'mount'].map((type) => ({ type })),
        ...(template.hostNetwork === true ? [] : [{ type: 'network' }]),
      ],
      rootfsPropagation: 'rslave',
      seccomp: { defaultAction: 'SCMP_ACT_ALLOW', syscalls: [{ names: REFUSED, action: 'SCMP_ACT_ERRNO' }] },
      ...HIDDEN,
    },
  };
}

function bindMount({ name, mountPath, readOnly, mountPropagation }: VolumeMount, { volumes }: PodTemplate): unknown {
  const source = volumes.find((volume) => volume.name === name)?.hostPath.path;
  if (source === undefined) throw new Error(`no volume ${name}`);
  const propagation = mountPropagation === 'HostToContainer' ? 'rslave' : 'rprivate';
  return {
    type: 'bind',
    source,
    destination: mountPath,
    options: ['rbind', propagation, readOnly === true ? 'ro' : 'rw'],
  };
}

const SYSTEM_MOUNTS = [
  { type: 'proc', source: 'proc', destination: '/proc', options: ['nosuid', 'noexec', 'nodev'] },
  {
    type: 'tmpfs',
    source: 'tmpfs',
    destination: '/dev',
    options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
  },
  {
    type: 'bind',
    source: '/sys',
    destination: '/sys',
    options: ['rbind', 'rslave', 'nosuid', 'noexec', 'nodev', 'ro'],
  },
];

/** As containerd hides it from containers without privileges. */
const HIDDEN = {
  maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/sched_debug', '/sys/firmware'],
  readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
};

/** System calls that the runtimes' default profiles refuse to a container without a capability. */
const REFUSED = `
  acct add_key bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig fsmount
  fsopen fspick init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load
  kexec_load keyctl lookup_dcookie mount mount_setattr move_mount move_pages name_to_handle_at open_by_handle_at
  open_tree perf_event_open pivot_root process_vm_readv process_vm_writev ptrace quotactl reboot request_key
  setdomainname sethostname setns settimeofday stime swapoff swapon sysfs syslog umount umount2 unshare
  userfaultfd ustat vhangup
`
  .trim()
  .split(/\s+/);
