/** Feature gates that weaken a kubelet: by the value that does, and what it gives. */
const GATES: Readonly<Record<string, readonly [weakens: boolean, gives: string]>> = {
  AllAlpha: [true, 'switches on everything that is unfinished'],
  AppArmor: [false, 'runs pods without their AppArmor profiles'],
  AppArmorFields: [false, 'runs pods without the AppArmor profiles in their fields'],
  BoundServiceAccountTokenVolume: [false, 'gives pods tokens that never expire'],
  ContainerCheckpoint: [true, 'lets clients of the kubelet write the memory of containers to the host’s disk'],
  CSIServiceAccountTokenSecrets: [false, 'shows tokens for CSI drivers to whoever reads their logs'],
  DisableKubeletCloudCredentialProviders: [false, 'has the kubelet use the node’s cloud identity for registries'],
  DynamicKubeletConfig: [true, 'lets whoever edits a Node object choose its kubelet’s whole configuration'],
  ExecProbeTimeout: [false, 'lets probes in pods run forever'],
  GitRepoVolumeDriver: [true, 'lets pods run code as root by a gitRepo volume'],
  KubeletEnsureSecretPulledImages: [false, 'lets pods use private images that others pulled'],
  KubeletFineGrainedAuthz: [false, 'makes clients need nodes/proxy, and so every pod, where nodes/metrics would do'],
  NodeLogQuery: [true, 'serves journals and logs of the host where enableSystemLogQuery is on'],
  PreventStaticPodAPIReferences: [false, 'lets static pods refer to Secrets and ConfigMaps'],
  ProcMountType: [true, 'lets pods see all of /proc'],
  RecursiveReadOnlyMounts: [false, 'leaves mounts below a read-only mount writable'],
  RotateKubeletServerCertificate: [false, 'ends the renewal of the kubelet’s serving certificate'],
  SeccompDefault: [false, 'runs pods that name no seccomp profile without any'],
  SupplementalGroupsPolicy: [false, 'gives containers groups that their pod did not ask for'],
  SupportNodePidsLimit: [false, 'lets pods take all process numbers of the node'],
  SupportPodPidsLimit: [false, 'lets one pod take all process numbers of the node'],
  UserNamespacesSupport: [false, 'runs pods that ask for a user namespace as root of the host, or not at all'],
};

/** What setting a gate to this gives; undefined where that weakens nothing that is known. */
export function weakeningGate(gate: string, value: unknown): string | undefined {
  const known = Object.hasOwn(GATES, gate) ? GATES[gate] : undefined;
  return known !== undefined && known[0] === value ? known[1] : undefined;
}

export const weakeningGates = (): readonly (readonly [gate: string, weakens: boolean, gives: string])[] =>
  Object.entries(GATES).map(([gate, [weakens, gives]]) => [gate, weakens, gives]);
