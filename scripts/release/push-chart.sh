#!/bin/sh
# Pushes the chart as an OCI artifact and signs it: push-chart.sh HELM REGISTRY VERSION
set -eu
helm=$1 registry=$2 version=$3
here=$(dirname "$0")

said=$("$helm" push "release/kubelet-gitops-chart-$version.tgz" "oci://$registry" 2>&1)
echo "$said" >&2
digest=$(echo "$said" | sed -n 's/^Digest: \(sha256:[0-9a-f]\{64\}\)$/\1/p')
if [ -z "$digest" ]; then
  echo "push-chart.sh: helm named no digest" >&2
  exit 1
fi
sh "$here/sign.sh" "$registry/kubelet-gitops@$digest"
echo "$digest"
