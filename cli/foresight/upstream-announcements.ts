import type { ConfigView } from '#shared/contract/kubelet-config/config-view.ts';

/** What a kubelet that is not released yet is to do with a config, as far as upstream has said so. */
interface Announcement {
  /** The field that it is about, or `featureGates.NAME`. */
  readonly field: string;
  /** The minor that brings it. */
  readonly since: number;
  /** Whether a config, seen as the newest kubelet that is known sees it, is concerned. */
  readonly isIn: (config: ConfigView) => boolean;
  /** What becomes of it, to follow the field. */
  readonly what: string;
  /** Where upstream says so. */
  readonly source: string;
}

const SOURCE = 'kube_features.go of 1.37';
const changelog = (pull: number): string => `CHANGELOG-1.38, kubernetes#${pull}`;

/** Gates that go: a kubelet does not start with one that it does not know, whatever it is set to. */
const GOING: Readonly<Record<string, string>> = {
  AggregatedDiscoveryRemoveBetaType: changelog(141_208),
  AllowOverwriteTerminationGracePeriodSeconds: SOURCE,
  CRDValidationRatcheting: changelog(141_207),
  CustomResourceFieldSelectors: changelog(141_207),
  DisableCPUQuotaWithExclusiveCPUs: SOURCE,
  DynamicResourceAllocation: changelog(141_946),
  ExecProbeTimeout: SOURCE,
  ImageMaximumGCAge: SOURCE,
  InPlacePodVerticalScaling: SOURCE,
  JobManagedBy: SOURCE,
  KubeletTracing: changelog(141_714),
  MatchLabelKeysInPodAffinity: changelog(141_744),
  MutableCSINodeAllocatableCount: SOURCE,
  PodObservedGenerationTracking: SOURCE,
  PodSchedulingReadiness: changelog(141_741),
  SeparateTaintEvictionController: changelog(141_789),
  ServiceAccountTokenPodNodeInfo: changelog(135_338),
  SupplementalGroupsPolicy: SOURCE,
  WindowsHostNetwork: changelog(142_018),
};

/** Gates that are locked to on: a kubelet does not start where one of them is off. */
const LOCKED: Readonly<Record<string, string>> = {
  ClusterTrustBundle: SOURCE,
  ClusterTrustBundleProjection: SOURCE,
  DRADeviceTaintRules: changelog(140_256),
  DRADeviceTaints: changelog(140_256),
  EnvFiles: changelog(139_115),
  HPAGeneration: changelog(142_386),
  KubeletPodResourcesListUseActivePods: SOURCE,
  PodCertificateRequest: SOURCE,
  SELinuxMount: SOURCE,
  StrictIPCIDRValidation: changelog(141_979),
};

/** Read in the source of 1.37.2 and the changelogs of 1.38.0-alpha.1 and alpha.2; what becomes of it until the release is open. */
export const UPSTREAM_ANNOUNCEMENTS: readonly Announcement[] = [
  ...Object.entries(GOING).map(([gate, source]) => ({
    field: `featureGates.${gate}`,
    since: 38,
    isIn: (config: ConfigView) => config.isSet(`featureGates.${gate}`),
    what: 'the gate is to go, and a kubelet does not start with a gate that it does not know',
    source,
  })),
  ...Object.entries(LOCKED).map(([gate, source]) => ({
    field: `featureGates.${gate}`,
    since: 38,
    isIn: (config: ConfigView) => config.isSet(`featureGates.${gate}`) && !config.gate(gate),
    what: 'the gate is to be locked to true, and a kubelet does not start where it is false',
    source,
  })),
  {
    field: 'cgroupDriver',
    since: 38,
    isIn: (config) => config.isSet('cgroupDriver'),
    what: 'it is ignored: the kubelet asks the container runtime for its driver, and does not start if that cannot answer (containerd 1.x)',
    source: 'KEP-4033, kubernetes#136731',
  },
];
