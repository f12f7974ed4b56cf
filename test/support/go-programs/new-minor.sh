#!/usr/bin/env bash
# Makes the module of a minor of Kubernetes beside this file, from the published module of a version:
#
#   new-minor.sh 1.38.1           a whole cluster: API server, controllers, scheduler, kubelet, kubectl
#   new-minor.sh 1.38.0-beta.0    the same of a pre-release
#   new-minor.sh 1.29.15 kubelet  what a minor needs that only the oracle is built for
set -euo pipefail
version=${1:?usage: new-minor.sh VERSION [PROGRAM...], for example 1.38.1}
shift
(($#)) || set -- kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl
minor=$(cut -d. -f1,2 <<<"$version")
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/kubernetes-$minor

die() {
  echo "new-minor.sh: $*" >&2
  exit 1
}

# Also where it fails, go says why in its answer.
module=$(cd / && go mod download -json "k8s.io/kubernetes@v$version" 2>/dev/null) || true
why=$(jq -r '.Error // empty' <<<"$module")
wanted=$(sed -nE 's/.* requires go >= ([0-9.]+).*/\1/p' <<<"$why")
[[ -z $wanted ]] || die "Kubernetes $version needs Go $wanted, and $(go env GOVERSION) is here: run this and build.sh with GOTOOLCHAIN=go$wanted"
[[ -z $why ]] || die "there is no Kubernetes $version to be had: $why"
theirs=$(jq -er .GoMod <<<"$module") || die "go mod download says nothing of Kubernetes $version"
mkdir -p "$folder"
{
  echo "module kubelet-gitops.dev/test/kubernetes-$minor"
  sed -n 's/^go /go /p' "$theirs"
  printf 'tool k8s.io/kubernetes/cmd/%s\n' "$@"
  echo "require k8s.io/kubernetes v$version"
  # Its own repository has these beside it; they are published one by one. What else it replaces, it only pins.
  sed -nE "s#^[[:space:]](k8s\.io/[a-z-]+) => \./staging.*#replace \1 => \1 v0.${version#1.}#p" "$theirs"
} >"$folder/go.mod"
cd "$folder"
# Where one of them is not to be had in this patch release, the one before does: the kubelet's own code is in none of them
# but k8s.io/kubelet and k8s.io/component-base.
until said=$(go mod tidy 2>&1); do
  mapfile -t missing < <(grep -oE 'k8s\.io/[a-z-]+@v0\.[0-9]+\.[1-9][0-9]*: (verifying|reading)' <<<"$said" | cut -d: -f1 | sort -u)
  ((${#missing[@]})) || die "the modules of Kubernetes $version are not all to be had, and $folder is not complete: $said"
  for module in "${missing[@]}"; do
    go mod edit -replace "${module%@*}=${module%.*}.$((${module##*.} - 1))"
  done
done
go mod edit -fmt
echo "$folder"
