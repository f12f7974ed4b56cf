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

/** Where the feature gates and the fields of the newest pre-release stand. */
const SOURCE = 'source of 1.38.0-beta.0';

/** Gates that are gone: a kubelet does not start with one that it does not know, whatever it is set to. */
const GOING = [
  'AggregatedDiscoveryRemoveBetaType',
  'AllowOverwriteTerminationGracePeriodSeconds',
  'CRDValidationRatcheting',
  'CustomResourceFieldSelectors',
  'DisableAllocatorDualWrite',
  'DynamicResourceAllocation',
  'ExecProbeTimeout',
  'InPlacePodVerticalScaling',
  'JobManagedBy',
  'KubeletTracing',
  'MatchLabelKeysInPodAffinity',
  'MultiCIDRServiceAllocator',
  'NFTablesProxyMode',
  'NodeSwap',
  'PodGroupPreemptionPolicy',
  'PodSchedulingReadiness',
  'PreferSameTrafficDistribution',
  'RecoverVolumeExpansionFailure',
  'SeparateTaintEvictionController',
  'ServiceAccountTokenJTI',
  'ServiceAccountTokenNodeBinding',
  'ServiceAccountTokenNodeBindingValidation',
  'ServiceAccountTokenPodNodeInfo',
  'SupplementalGroupsPolicy',
  'SystemdWatchdog',
  'WinDSR',
  'WinOverlay',
  'WindowsHostNetwork',
];

/** Gates that are locked to on: a kubelet does not start where one of them is off. */
const LOCKED = [
  'AuthorizePodWebsocketUpgradeCreatePermission',
  'DRADeviceBindingConditions',
  'DRADeviceTaintRules',
  'DRADeviceTaints',
  'DRAPartitionableDevices',
  'EnvFiles',
  'ExtendWebSocketsToKubelet',
  'HPAGeneration',
  'PortForwardWebsockets',
  'StrictIPCIDRValidation',
  'TranslateStreamCloseWebsocketRequests',
];

/** What becomes of it until the release is open. */
export const UPSTREAM_ANNOUNCEMENTS: readonly Announcement[] = [
  ...GOING.map((gate) => ({
    field: `featureGates.${gate}`,
    since: 38,
    isIn: (config: ConfigView) => config.isSet(`featureGates.${gate}`),
    what: 'the gate is to go, and a kubelet does not start with a gate that it does not know',
    source: SOURCE,
  })),
  ...LOCKED.map((gate) => ({
    field: `featureGates.${gate}`,
    since: 38,
    isIn: (config: ConfigView) => config.isSet(`featureGates.${gate}`) && !config.gate(gate),
    what: 'the gate is to be locked to true, and a kubelet does not start where it is false',
    source: SOURCE,
  })),
];
