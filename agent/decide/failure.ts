/** Why an assignment does not run, in words that do not change between releases. */
export type FailureReason =
  /** The KubeletNode's spec cannot be read. */
  | 'InvalidAssignment'
  /** The config source is not in the cluster (any more). */
  | 'ConfigMapNotFound'
  /** The API server could not be asked for it. */
  | 'DownloadFailed'
  /** What came is not what was assigned. */
  | 'PayloadMismatch'
  /** What version the kubelet has could not be found out. */
  | 'VersionUnknown'
  /** The payload could not be written to the node's disk. */
  | 'CheckpointFailed'
  /** It sets a field that is denied. */
  | 'FieldDenied'
  /** The kubelet of this version would not start with it. */
  | 'ConfigInvalid'
  /** The kubelet would not start with it on this node. */
  | 'PreflightFailed'
  /** There is no way to put it where the kubelet reads it. */
  | 'CannotInstall'
  /** The kubelet kept dying with it. */
  | 'CrashLoop'
  /** The kubelet was healthy with it and not healthy, by turns. */
  | 'Flapping'
  /** The machine went down and came up again with it, more than once, and nobody had ordered that. */
  | 'MachineRebooted'
  /** The kubelet was not healthy with it in time. */
  | 'NotHealthy'
  /** The kubelet was healthy, but the Node was not Ready any more. */
  | 'NodeNotReady'
  /** The machine came under pressure with it, or its pods out of memory, and was not before. */
  | 'NodeHarmed'
  /** The kubelet ran something else than the config says. */
  | 'ConfigContradicted'
  /** The kubelet could not be restarted. */
  | 'RestartFailed'
  /** A person stopped the kubelet: the config is tried when it is started again. */
  | 'KubeletStopped'
  /** The order to reboot the machine was not accepted; it is given again. */
  | 'RebootFailed'
  /** The machine did not reboot in the time that the pool gives it. */
  | 'RebootMissing'
  /** It failed on a kubelet that was not healthy before either: tried again when that one is. */
  | 'UnhealthyBefore'
  /** The host's guard could not be made ready, so nothing was changed. */
  | 'GuardFailed'
  /** The guard took the config back: no agent was there to judge it. */
  | 'AgentSilent'
  /** Another writer changed the managed files in mid-trial. */
  | 'FilesChanged'
  /** The node's copy of the payload was lost or damaged. */
  | 'CheckpointLost'
  /** The last known good config did not come up either; local runs. */
  | 'FallbackFailed'
  /** The kubelet keeps ending at rest, with a config that it had proven. */
  | 'ProvenConfigFails'
  /** Not even local comes up. */
  | 'KubeletBroken'
  /** The note of why it was rejected was lost with a damaged file. */
  | 'RecordLost'
  /** An agent of another version wrote the state directory: this one touches nothing. */
  | 'StateUnreadable';

/** `message` is a sentence for people, without a full stop at its end. */
export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  /** It ends without a person: a full disk, a file that another process holds open. Never part of what a config is rejected for. */
  readonly mayPass?: boolean;
}
