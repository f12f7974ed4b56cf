/** A pod as far as the Pod Security Standards look at it. */
export interface Pod {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly priorityClassName?: string;
  readonly securityContext?: SecurityContext;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
}
interface Container {
  readonly name: string;
  readonly securityContext?: SecurityContext;
  readonly ports?: readonly { readonly hostPort?: number }[];
}
interface SecurityContext {
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type: string };
  readonly appArmorProfile?: { readonly type: string };
  readonly seLinuxOptions?: { readonly type?: string };
  readonly procMount?: string;
}

/** Kinds of volumes that "restricted" allows. */
const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const SELINUX_TYPES = ['container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];

/**
 * Every control of the profile "restricted" that a pod breaks, by its name in the standard; none where it would be
 * admitted by it.
 *
 * Source: Kubernetes, "Pod Security Standards".
 */
export function brokenControls(pod: Pod): readonly string[] {
  const containers = [...(pod.initContainers ?? []), ...pod.containers];
  const anywhere = (breaks: (context: SecurityContext) => boolean): boolean =>
    breaks(pod.securityContext ?? {}) || containers.some(({ securityContext = {} }) => breaks(securityContext));
  const everywhere = (holds: (context: SecurityContext) => boolean): boolean =>
    containers.every(({ securityContext = {} }) => holds({ ...pod.securityContext, ...securityContext }));
  const controls: Readonly<Record<string, boolean>> = {
    'Host Namespaces': pod.hostNetwork === true || pod.hostPID === true || pod.hostIPC === true,
    'Privileged Containers': anywhere(({ privileged }) => privileged === true),
    'HostPath Volumes': (pod.volumes ?? []).some((volume) => 'hostPath' in volume),
    'Volume Types': (pod.volumes ?? []).some(
      (volume) => !Object.keys(volume).some((key) => key === 'hostPath' || VOLUMES.includes(key)),
    ),
    'Host Ports': containers.some(({ ports = [] }) => ports.some(({ hostPort = 0 }) => hostPort !== 0)),
    AppArmor: anywhere(({ appArmorProfile }) => appArmorProfile?.type === 'Unconfined'),
    SELinux: anywhere(({ seLinuxOptions: { type } = {} }) => type !== undefined && !SELINUX_TYPES.includes(type)),
    '/proc Mount Type': anywhere(({ procMount = 'Default' }) => procMount !== 'Default'),
    'Privilege Escalation': !everywhere(({ allowPrivilegeEscalation }) => allowPrivilegeEscalation === false),
    'Running as Non-root': !everywhere(({ runAsNonRoot }) => runAsNonRoot === true),
    'Running as Non-root user': anywhere(({ runAsUser }) => runAsUser === 0),
    Seccomp: !everywhere(({ seccompProfile }) => ['RuntimeDefault', 'Localhost'].includes(seccompProfile?.type ?? '')),
    Capabilities: !everywhere(
      ({ capabilities: { drop = [], add = [] } = {} }) =>
        drop.includes('ALL') && add.every((capability) => capability === 'NET_BIND_SERVICE'),
    ),
  };
  return Object.keys(controls).filter((control) => controls[control] === true);
}
