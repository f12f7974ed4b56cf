#!/usr/bin/env bash
# Makes real programs for the tests from their published Go modules: Kubernetes of several minors, a container runtime,
# etcd, helm. Versions and checksums stand in the go.mod and go.sum of the folders beside this file. Prints the directory
# that holds the programs as its last line of output.
#
# Needs Go 1.26 or newer on Linux; runc needs gcc and libseccomp-dev as well. A first kube-apiserver takes about ten
# minutes of CPU. Only the programs that are named are built, and only once: they are kept under
# ${KUBELET_GITOPS_CACHE:-$HOME/.cache/kubelet-gitops}, named after the hash of this recipe and the folder, so that a
# changed version never meets an old result.
#
#   build.sh kubernetes-1.37 kube-apiserver kubectl           build what is missing and print the directory
#   build.sh --where kubernetes-1.37 kube-apiserver kubectl   print the directory (exit 0: complete, 1: something is missing)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here

main() {
  local only_where=false folder directory program
  local -a missing=()
  if [[ ${1:-} == --where ]]; then
    only_where=true
    shift
  fi
  folder=${1:?usage: build.sh [--where] FOLDER PROGRAM...}
  shift
  require_folder "$folder"
  directory=$(result_of "$folder" "$@")
  for program in "$@"; do
    [[ -x $directory/$program ]] || missing+=("$program")
  done
  if ! $only_where && ((${#missing[@]})); then
    build "$folder" "$directory" "${missing[@]}" >&2
    missing=()
  fi
  echo "$directory"
  ((${#missing[@]} == 0))
}

require_go() {
  local minor
  minor=$(go env GOVERSION 2>/dev/null | sed -nE 's/^go1\.([0-9]+).*/\1/p')
  ((${minor:-0} >= 26)) && return
  echo "build.sh: needs Go 1.26 or newer as go in PATH, and there is ${minor:+1.}${minor:-none}" >&2
  exit 2
}

require_folder() {
  [[ -f $here/$1/go.mod ]] && return
  echo "build.sh: there is no $1 here, but $(cd "$here" && printf '%s ' */)" >&2
  exit 2
}

# The oracle lies apart: its source changes more often than the programs take time to build.
result_of() {
  local recipe name=$1
  local -a sources=("$here/build.sh" "$here/$1"/go.{mod,sum})
  mapfile -t -O "${#sources[@]}" sources < <(find "$here/$1" -name '*.go' | sort)
  if [[ ${*:2} == oracle ]]; then
    name+=-oracle
    mapfile -t -O "${#sources[@]}" sources < <(oracle_of "$1")
  fi
  recipe=$(cat "${sources[@]}" <(uname -m) | sha256sum | cut -c1-12)
  echo "${KUBELET_GITOPS_CACHE:-${HOME:-/root}/.cache/kubelet-gitops}/$name-$recipe"
}

# Several test files may ask at the same time: the first builds, the others wait and find the result.
build() {
  local folder=$1 directory=$2 program
  local -a packages
  shift 2
  require_go
  mkdir -p "$directory"
  exec 9>"$directory/.lock"
  flock 9
  for program in "$@"; do
    [[ -x $directory/$program ]] && continue
    echo "build.sh: building $program of $folder ..."
    mapfile -t packages < <(package_of "$folder" "$program")
    ((${#packages[@]})) || return 1
    compile "$folder" "$directory/.$program" "${packages[@]}"
    mv "$directory/.$program" "$directory/$program"
    echo "build.sh: built $program, $SECONDS s after the start"
  done
  exec 9>&-
}

# The files of the oracle but those that are for other minors: since_26.go, until_25.go.
oracle_of() {
  local file minor=${1#kubernetes-1.}
  for file in "$here"/oracle/*.go; do
    if [[ $file =~ since_([0-9]+) ]] && ((minor < BASH_REMATCH[1])); then continue; fi
    if [[ $file =~ until_([0-9]+) ]] && ((minor > BASH_REMATCH[1])); then continue; fi
    echo "$file"
  done
}

# The tool of the module that has this name, or its only one; the oracle is ours, file by file, and of the module's version.
package_of() {
  local tools named
  if [[ $2 == oracle ]]; then
    oracle_of "$1"
    return
  fi
  tools=$(cd "$here/$1" && go mod edit -json | jq -r '.Tool[].Path')
  named=$(grep "/$2\$" <<<"$tools" || true)
  if [[ -z $named && $(wc -l <<<"$tools") == 1 ]]; then named=$tools; fi
  if [[ -z $named ]]; then
    echo "build.sh: $1 has no program $2, but $(tr '\n' ' ' <<<"$tools")" >&2
    return 1
  fi
  echo "$named"
}

# Unless its version is linked in, a program of Kubernetes calls itself v0.0.0. runc enters namespaces in C, before Go
# starts: without that it builds, and starts nothing.
compile() {
  local folder=$1 output=$2 version flags='-s -w' stamp=k8s.io/component-base/version cgo=0 tags=
  shift 2
  if [[ ${output##*/} == .runc ]]; then
    cgo=1 tags=seccomp,netgo,osusergo flags+=' -extldflags -static'
  fi
  cd "$here/$folder"
  version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes 2>/dev/null || true)
  if [[ -n $version ]]; then
    flags+=" -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=$(cut -d. -f2 <<<"$version")"
  fi
  CGO_ENABLED=$cgo GOFLAGS=-mod=readonly go build -trimpath -tags "$tags" -ldflags "$flags" -o "$output" "$@"
}

main "$@"
