/**
 * The reasons with which an agent gives a config up that its kubelet never heard of. With every other reason the kubelet
 * ran it, or was to: the node fell back.
 */
const BEFORE_THE_KUBELET: ReadonlySet<string> = new Set([
  'InvalidAssignment',
  'ConfigMapNotFound',
  'DownloadFailed',
  'PayloadMismatch',
  'VersionUnknown',
  'CheckpointFailed',
  'FieldDenied',
  'ConfigInvalid',
  'PreflightFailed',
  'CannotInstall',
  'GuardFailed',
  'StateTooNew',
]);

export const touchedKubelet = (reason: string): boolean => !BEFORE_THE_KUBELET.has(reason);
