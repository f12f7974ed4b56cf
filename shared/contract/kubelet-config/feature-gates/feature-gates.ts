import { GATES_A_TO_I } from './gates-a-to-i.ts';
import { GATES_J_TO_Z } from './gates-j-to-z.ts';
import { type GateSpan, type GateSpec, parseHistory } from './gate-history.ts';

const HISTORIES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(GATES_A_TO_I),
  ...Object.entries(GATES_J_TO_Z),
]);
const parsed = new Map<string, readonly GateSpan[]>();

/** Every gate that some kubelet from 1.20 on knows. */
export function gateNames(): readonly string[] {
  return [...HISTORIES.keys()];
}

/** When a gate was what; undefined where no kubelet from 1.20 on knows it. */
export function gateHistory(name: string): readonly GateSpan[] | undefined {
  const line = HISTORIES.get(name);
  if (line === undefined) return undefined;
  const known = parsed.get(name) ?? parseHistory(line);
  parsed.set(name, known);
  return known;
}

/** What a kubelet of this minor makes of a gate; undefined for an unknown gate, with which it refuses to start. */
export function gateSpec(name: string, minor: number): GateSpec | undefined {
  return gateHistory(name)?.findLast((span) => span.from <= minor)?.spec ?? undefined;
}

/** Gates that have to be on while this one is; older kubelets than 1.35 do not check it. */
export function gateDependencies(name: string, minor: number): readonly string[] {
  if (minor < 35) return [];
  return (GATE_DEPENDENCIES[name] ?? [])
    .map((line) => line.split(' '))
    .filter(([since, other]) => other === undefined || Number(since) <= minor)
    .flatMap((words) => words.at(-1) ?? [])
    .filter((other) => gateSpec(other, minor) !== undefined);
}

/**
 * A dependency that is younger than its gate begins with the minor that has it first: 37 is 1.37. Gates without any are
 * left out.
 */
export const GATE_DEPENDENCIES: Readonly<Record<string, readonly string[]>> = {
  AuthorizeNodeWithSelectors: ['AuthorizeWithSelectors'],
  ClusterTrustBundleProjection: ['ClusterTrustBundle'],
  CompositePodGroup: ['37 GenericWorkload', '37 TopologyAwareWorkloadScheduling'],
  DRAAdminAccess: ['DynamicResourceAllocation'],
  DRAConsumableCapacity: ['DynamicResourceAllocation'],
  DRADerivedAttributes: ['37 DynamicResourceAllocation'],
  DRADeviceBindingConditions: ['DynamicResourceAllocation', 'DRAResourceClaimDeviceStatus'],
  DRADeviceCompatibilityGroups: ['37 DRAPartitionableDevices', '37 DynamicResourceAllocation'],
  DRADeviceTaintRules: ['DRADeviceTaints'],
  DRADeviceTaints: ['DynamicResourceAllocation'],
  DRAExtendedResource: ['DynamicResourceAllocation'],
  DRAFractionalCapacityRange: ['37 DRAConsumableCapacity'],
  DRAListTypeAttributes: ['37 DynamicResourceAllocation'],
  DRANodeAllocatableResources: ['37 DynamicResourceAllocation'],
  DRAOptionalNodeOperations: ['37 DynamicResourceAllocation', '37 NodeDeclaredFeatures'],
  DRAPartitionableDevices: ['DynamicResourceAllocation'],
  DRAPartitionableDevicesType: [
    '37 DRAPartitionableDevices',
    '37 DRAResourcePoolStatus',
    '37 DynamicResourceAllocation',
  ],
  DRAPrioritizedList: ['DynamicResourceAllocation'],
  DRAResourceClaimGranularStatusAuthorization: ['DRAResourceClaimDeviceStatus', '37 DynamicResourceAllocation'],
  DRAResourcePoolStatus: ['37 DynamicResourceAllocation'],
  DRASchedulerFilterTimeout: ['DynamicResourceAllocation'],
  DRAWorkloadResourceClaims: ['GenericWorkload', '37 DynamicResourceAllocation'],
  DeclarativeValidationBeta: ['DeclarativeValidation'],
  DeclarativeValidationTakeover: ['DeclarativeValidation'],
  DisableAllocatorDualWrite: ['MultiCIDRServiceAllocator'],
  EventedPLEG: ['37 PLEGOnDemandRelist'],
  ExtendWebSocketsToKubelet: ['NodeDeclaredFeatures'],
  GangScheduling: ['GenericWorkload'],
  GracefulNodeShutdownBasedOnPodPriority: ['GracefulNodeShutdown'],
  H2CContainerProbe: ['37 NodeDeclaredFeatures'],
  ImageVolumeWithDigest: ['ImageVolume'],
  InPlacePodLevelResourcesVerticalScaling: ['InPlacePodVerticalScaling', 'PodLevelResources', 'NodeDeclaredFeatures'],
  InPlacePodVerticalScalingAllocatedStatus: ['InPlacePodVerticalScaling'],
  InPlacePodVerticalScalingExclusiveCPUs: ['InPlacePodVerticalScaling'],
  InPlacePodVerticalScalingExclusiveMemory: ['InPlacePodVerticalScaling', 'MemoryManager'],
  InPlacePodVerticalScalingInitContainers: ['InPlacePodVerticalScaling', 'NodeDeclaredFeatures'],
  InPlacePodVerticalScalingMemoryBackedVolumes: ['37 InPlacePodVerticalScaling', '37 NodeDeclaredFeatures'],
  InPlacePodVerticalScalingSchedulerPreemption: ['37 InPlacePodVerticalScaling'],
  KubeletAllocatedPodsEndpoint: ['37 InPlacePodVerticalScaling'],
  MatchLabelKeysInPodTopologySpreadSelectorMerge: ['MatchLabelKeysInPodTopologySpread'],
  NodeControllerLeaseCircuitBreaker: ['37 AtomicFIFO'],
  PodCertificateRequest: ['AuthorizeNodeWithSelectors'],
  PodGroupPreemptionPolicy: ['37 GenericWorkload'],
  PodLevelResourceManagers: ['PodLevelResources'],
  PodLevelResourcesFixDefaulting: ['37 PodLevelResources'],
  PodLevelResourcesFixKubeletQOSClass: ['37 PodLevelResources'],
  PodLifecycleSleepActionAllowZero: ['PodLifecycleSleepAction'],
  ProcMountType: ['UserNamespacesSupport'],
  ResourceHealthStatus: ['DynamicResourceAllocation'],
  ResourceHealthStatusMessage: ['ResourceHealthStatus'],
  RestartAllContainersOnContainerExits: ['ContainerRestartRules', 'NodeDeclaredFeatures'],
  ServiceAccountTokenNodeBinding: ['ServiceAccountTokenNodeBindingValidation'],
  StaleControllerConsistencyDaemonSet: ['AtomicFIFO'],
  StaleControllerConsistencyHPA: ['37 AtomicFIFO'],
  StaleControllerConsistencyJob: ['AtomicFIFO'],
  StaleControllerConsistencyReplicaSet: ['AtomicFIFO'],
  StaleControllerConsistencyStatefulSet: ['AtomicFIFO'],
  StorageVersionAPI: ['APIServerIdentity'],
  StructuredAuthenticationConfigurationEgressSelector: ['StructuredAuthenticationConfiguration'],
  StructuredAuthenticationConfigurationJWKSMetrics: ['StructuredAuthenticationConfiguration'],
  TopologyAwareWorkloadScheduling: ['GenericWorkload'],
  UnknownVersionInteroperabilityProxy: ['APIServerIdentity'],
  UserNamespacesHostNetworkSupport: ['UserNamespacesSupport', '37 NodeDeclaredFeatures'],
  WindowsCPUAndMemoryAffinity: ['MemoryManager'],
  WindowsGracefulNodeShutdown: ['GracefulNodeShutdown'],
  WorkloadAwarePreemption: ['GangScheduling'],
  WorkloadWithJob: ['GenericWorkload'],
};
