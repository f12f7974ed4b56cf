#!/usr/bin/env bash
# Makes the file system of a small Debian 12 that boots a real systemd in a container, for the node tests, with what a
# container runtime and a kubelet call; these themselves are mounted from outside. Prints its directory as the last line of output; one that is complete is printed at once. It is never changed: tests run on copies.
#
# Run as root on Debian 12. The first run takes about a minute and 250 MB. The machine gains debootstrap and
# systemd-container, no running service. The result is kept under ${KUBELET_GITOPS_CACHE:-$HOME/.cache/kubelet-gitops},
# named after the recipe's hash, so that a changed recipe never meets an old result.
#
#   tree.sh           make what is missing and print the directory
#   tree.sh --where   print the directory only, whether or not it is there (exit 0: complete, 1: not made yet)
set -euo pipefail

readonly SUITE=bookworm
readonly PACKAGES=systemd,systemd-sysv,dbus,libseccomp2,iproute2,iptables,conntrack,ethtool,socat,mount,kmod,procps
readonly TOOLS=(debootstrap systemd-container)

main() {
  local cache recipe result
  cache=${KUBELET_GITOPS_CACHE:-${HOME:-/root}/.cache/kubelet-gitops}
  recipe=$(cat "${BASH_SOURCE[0]}" <(uname -m) | sha256sum | cut -c1-12)
  result=$cache/node-$SUITE-$recipe
  if [[ ${1:-} == --where ]]; then
    echo "$result"
    [[ -d $result ]]
    return
  fi
  [[ -d $result ]] || make_once "$result" >&2
  echo "$result"
}

# Several test files may ask at the same time: the first makes it, the others wait and find it.
make_once() {
  local result=$1
  require_debian_root
  mkdir -p "$(dirname "$result")"
  exec 9>"$(dirname "$result")/tree.lock"
  flock 9
  if [[ ! -d $result ]]; then
    work=$(mktemp -d "$result.making-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    install_tools
    echo "tree.sh: unpacking Debian $SUITE with $PACKAGES ..."
    if ! debootstrap --variant=minbase --include="$PACKAGES" "$SUITE" "$work/tree" >"$work/log" 2>&1; then
      tail -n 40 "$work/log" "$work/tree/debootstrap/debootstrap.log"
      echo "tree.sh: debootstrap failed; above is the end of its output"
      exit 1
    fi
    trim "$work/tree"
    mv "$work/tree" "$result"
    echo "tree.sh: $SECONDS s"
  fi
  exec 9>&-
}

require_debian_root() {
  if [[ $EUID -ne 0 ]] || ! grep -q "^VERSION_CODENAME=$SUITE\$" /etc/os-release; then
    echo "tree.sh: needs root on Debian 12 ($SUITE): it installs packages and makes a system of its own kind" >&2
    exit 2
  fi
}

install_tools() {
  local tool missing=()
  for tool in "${TOOLS[@]}"; do
    dpkg -s "$tool" >/dev/null 2>&1 || missing+=("$tool")
  done
  [[ ${#missing[@]} -eq 0 ]] && return
  echo "tree.sh: installing ${missing[*]} ..."
  apt-get -q update >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends \
    --no-remove "${missing[@]}" >/dev/null
}

# What only makes the copies bigger and the boot slower: nobody logs in, and no disk is checked.
trim() {
  local tree=$1 unit
  rm -rf "$tree"/var/cache/apt/* "$tree"/var/lib/apt/lists/* "$tree"/usr/share/{doc,locale,man}
  for unit in console-getty.service getty.target e2scrub_reap.service systemd-logind.service; do
    ln -sf /dev/null "$tree/etc/systemd/system/$unit"
  done
}

main "$@"
