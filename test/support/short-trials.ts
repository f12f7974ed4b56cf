/** The file of a cluster that lets pools have trials of a moment, as tests do. @param spec more of its spec, as lines of two spaces */
export const clusterWithShortTrials = (
  name: string,
  spec = '',
): Readonly<Record<`clusters/${string}.yaml`, string>> => ({
  [`clusters/${name}.yaml`]: `apiVersion: kubelet-gitops.dev/v1alpha1
kind: ClusterConfig
spec:
  trial: {minDuration: 200ms}
${spec}`,
});
