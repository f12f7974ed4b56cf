#!/usr/bin/env bash
# Makes the module of a minor of Kubernetes beside this file, from the published module of a version: new-minor.sh 1.38.1
set -euo pipefail
version=${1:?usage: new-minor.sh VERSION, for example 1.38.1}
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/kubernetes-${version%.*}
theirs=$(cd / && go mod download -json "k8s.io/kubernetes@v$version" | jq -er .GoMod)
mkdir -p "$folder"
{
  echo "module kubelet-gitops.dev/test/kubernetes-${version%.*}"
  sed -n 's/^go /go /p' "$theirs"
  printf 'tool k8s.io/kubernetes/cmd/%s\n' kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl
  echo "require k8s.io/kubernetes v$version"
  # Its own repository has these beside it; they are published one by one.
  sed -nE "s#^[[:space:]](k8s\.io/[a-z-]+) => \./staging.*#replace \1 => \1 v0.${version#1.}#p" "$theirs"
} >"$folder/go.mod"
cd "$folder"
go mod tidy
go mod edit -fmt
echo "$folder"
