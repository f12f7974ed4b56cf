#!/usr/bin/env bash
# Makes the real Kubernetes 1.20.2 that the cluster tests run: etcd, kube-apiserver, kubelet, kubectl, and a container
# runtime for the kubelet. Everything comes from Debian 12's own packages, binary and source. Prints the directory that
# holds the result as its last line of output; a directory that is already complete is printed at once.
#
# 1.20 is the oldest kubelet that is supported, the one whose source Debian carries, and it still has Dynamic Kubelet
# Configuration, so that the two can be compared.
#
# Run as root on Debian 12. The first run takes about three minutes on two cores, 2 GB of memory and 4 GB of disk; what
# stays is 400 MB. The machine gains a few command-line packages (TOOLS below), no service.
# The result is kept under ${KUBELET_GITOPS_CACHE:-$HOME/.cache/kubelet-gitops}, named after the recipe's hash, so that
# a changed recipe never meets an old result.
#
#   build.sh           build what is missing and print the directory
#   build.sh --where   print the directory only, whether or not it is there (exit 0: complete, 1: not built yet)
set -euo pipefail

readonly VERSION=1.20.2

# Unpacked into the result, not installed: Debian's containerd and Docker's exclude each other, and the packages of etcd
# and containerd bring services that would start now or at the next boot.
readonly UNPACKED_PACKAGES=(etcd-server kubernetes-client containerd runc containernetworking-plugins)

# Installed, because they are plain tools without a service. The kubelet calls the network ones, mount among them.
readonly TOOLS=(golang-go golang-github-modern-go-reflect2-dev dpkg-dev openssl
  libseccomp2 iptables conntrack socat ethtool iproute2 mount procps util-linux)

main() {
  local cache recipe result
  cache=${KUBELET_GITOPS_CACHE:-${HOME:-/root}/.cache/kubelet-gitops}
  recipe=$(cat "${BASH_SOURCE[0]}" <(uname -m) | sha256sum | cut -c1-12)
  result=$cache/kubernetes-$VERSION-$recipe

  if [[ ${1:-} == --where ]]; then
    echo "$result"
    [[ -d $result ]]
    return
  fi
  [[ -d $result ]] || build_once "$result" >&2
  echo "$result"
}

# Several test files may ask at the same time: the first builds, the others wait and find the result.
build_once() {
  local result=$1
  require_debian_root
  mkdir -p "$(dirname "$result")"
  exec 9>"$(dirname "$result")/build.lock"
  flock 9
  if [[ ! -d $result ]]; then
    work=$(mktemp -d "$result.build-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    chmod 755 "$work" # apt downloads as a user of its own
    mkdir "$work/result"
    prepare_apt
    step "installing build tools" apt install --yes --no-install-recommends --no-remove "${TOOLS[@]}"
    step "unpacking ${UNPACKED_PACKAGES[*]}" unpack_packages
    step "fetching the source of kubernetes" fetch_source
    step "generating the OpenAPI definitions" generate_openapi
    step "building kube-apiserver and kubelet" build_binaries
    step "trying the result" check_result
    mv "$work/result" "$result"
  fi
  exec 9>&-
}

require_debian_root() {
  if [[ $EUID -ne 0 ]] || ! grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release; then
    echo "build.sh: needs root on Debian 12 (bookworm): it installs packages and builds Debian's kubernetes source" >&2
    exit 2
  fi
}

# Runs a step with its output in a log; the end of the log is shown when the step fails.
step() {
  local title=$1 started=$SECONDS status
  shift
  echo "build.sh: $title ..."
  # Not "if ! ...": a condition would switch errexit off inside the step.
  set +e
  (set -e; "$@") >"$work/log" 2>&1
  status=$?
  set -e
  if ((status != 0)); then
    tail -n 60 "$work/log"
    echo "build.sh: $title: failed with status $status; above is the end of its output"
    exit 1
  fi
  echo "build.sh: $title: $((SECONDS - started)) s"
}

# A copy of the machine's own package sources that asks for source packages as well, with lists of its own: the
# machine's sources and lists stay as they are, and its mirror and its trust in it are reused.
prepare_apt() {
  local file
  mkdir -p "$work/sources" "$work/lists/partial" "$work/archives/partial" "$work/packages"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [[ -f $file ]] || continue
    case $file in
      *.list) sed -nE 's/^[[:space:]]*deb[[:space:]]+(.*)/deb \1\ndeb-src \1/p' "$file" >"$work/sources/${file##*/}" ;;
      *.sources) sed -E 's/^Types:.*/Types: deb deb-src/' "$file" >"$work/sources/${file##*/}" ;;
    esac
  done
  step "reading the package lists" apt update
}

apt() {
  DEBIAN_FRONTEND=noninteractive apt-get -q \
    -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/sources" \
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work" -o Dir::Cache::Archives=archives \
    -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}

unpack_packages() {
  local package root=$work/unpacked
  (cd "$work/packages" && apt download "${UNPACKED_PACKAGES[@]}")
  for package in "$work/packages"/*.deb; do
    dpkg-deb --extract "$package" "$root"
  done
  cp "$root"/usr/bin/{etcd,kubectl,containerd,containerd-shim-runc-v2} "$root"/usr/sbin/runc "$work/result/"
  cp -r "$root/usr/lib/cni" "$work/result/cni"
}

# Leaves the tree at $GOPATH/src/k8s.io/kubernetes: it builds in GOPATH mode only, since its go.mod is not tidy for a newer Go.
fetch_source() {
  local tree=$work/go/src/k8s.io/kubernetes reflect2=vendor/github.com/modern-go/reflect2
  mkdir -p "$work/source" "$(dirname "$tree")"
  (cd "$work/source" && apt source --only-source kubernetes)
  mv "$work"/source/kubernetes-*/ "$tree"
  grep -q "^kubernetes (.*$VERSION" "$tree/debian/changelog"
  # The vendored reflect2 1.0.1 writes through a wild pointer when it walks a map under Go 1.18 or newer: random crashes.
  rm -r "${tree:?}/$reflect2"
  cp -r "/usr/share/gocode/src/github.com/modern-go/reflect2" "$tree/$reflect2"
  # Built with Go 1.18 or newer, the validation of custom resources takes an empty string for null and refuses it.
  local validate=vendor/k8s.io/kube-openapi/pkg/validation/validate/type.go
  local takes_empty='data == nil || reflect.DeepEqual(reflect.Zero(reflect.TypeOf(data)), reflect.ValueOf(data))'
  grep -qF "$takes_empty" "$tree/$validate"
  sed -i "s/$takes_empty/data == nil/" "$tree/$validate"
}

# The one generated file that the source package lacks.
generate_openapi() {
  cd "$work/go/src/k8s.io/kubernetes"
  gobuild -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  local inputs
  # vendor/k8s.io links to the staging packages; grep follows links that are named, hence the trailing "*/".
  inputs=$(grep -rl --include='*.go' --exclude-dir=code-generator --exclude-dir=sample-apiserver \
    '+k8s:openapi-gen=' pkg cmd plugin vendor/k8s.io/*/ |
    xargs -n1 dirname | tr -s / | sort -u | sed 's|^|k8s.io/kubernetes/|' | paste -sd,)
  goenv "$work/openapi-gen" --go-header-file hack/boilerplate/boilerplate.generatego.txt --input-dirs "$inputs" \
    --output-base "$work/go/src" --output-package k8s.io/kubernetes/pkg/generated/openapi \
    --output-file-base zz_generated.openapi --report-filename "$work/openapi-violations"
}

# Unless the version is linked in, the server and the kubelet call themselves v0.0.0. What the server answers at /version
# is client-go's copy of it, since the aggregator comes first; everything else reads component-base's.
build_binaries() {
  cd "$work/go/src/k8s.io/kubernetes"
  local package flags='-s -w'
  for package in k8s.io/kubernetes/vendor/k8s.io/{component-base/version,client-go/pkg/version}; do
    flags+=" -X $package.gitVersion=v$VERSION -X $package.gitMajor=1 -X $package.gitMinor=20"
  done
  gobuild -trimpath -o "$work/result/" -ldflags "$flags" ./cmd/kube-apiserver ./cmd/kubelet
}

gobuild() {
  goenv /usr/lib/go/bin/go build "$@"
}

# The compiler's own cache goes away with the work directory.
goenv() {
  env -u GOROOT -u GOFLAGS PATH="/usr/lib/go/bin:$PATH" GO111MODULE=off CGO_ENABLED=0 \
    GOPATH="$work/go" GOCACHE="$work/go-cache" "$@"
}

check_result() {
  "$work/result/kube-apiserver" --version | grep -q "v$VERSION"
  "$work/result/kubelet" --version | grep -q "v$VERSION"
  "$work/result/kubectl" version --client | grep -q "v$VERSION"
  "$work/result/etcd" --version >/dev/null
  "$work/result/containerd" --version >/dev/null
  "$work/result/runc" --version >/dev/null
}

main "$@"
