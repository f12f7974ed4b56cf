#!/usr/bin/env bash
# Makes what virtual machines of the tests boot: the file system of a small Debian 13 with systemd, its kernel and its first
# file system in memory, and a program that does nothing, for pods. Prints the directory as the last line of output; one that is
# complete is printed at once. It is never changed: machines run on copies.
#
# Run as root on Debian 12, with Go in PATH. The first run takes about two minutes and 400 MB. The machine gains QEMU and mmdebstrap, no
# running service. The result is kept under ${KUBELET_GITOPS_CACHE:-$HOME/.cache/kubelet-gitops}, named after the recipe's
# hash, so that a changed recipe never meets an old result.
#
#   tree.sh           make what is missing and print the directory
#   tree.sh --where   print the directory only, whether or not it is there (exit 0: complete, 1: not made yet)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here SUITE=trixie
readonly PACKAGES=systemd,systemd-sysv,dbus,udev,kmod,iproute2,nftables,conntrack,ethtool,socat,mount,procps,util-linux,e2fsprogs,linux-image-cloud-amd64,initramfs-tools
readonly TOOLS=(mmdebstrap qemu-system-x86 zstd e2fsprogs)

main() {
  local cache recipe result
  cache=${KUBELET_GITOPS_CACHE:-${HOME:-/root}/.cache/kubelet-gitops}
  recipe=$(cat "${BASH_SOURCE[0]}" "$here/idle.go" | sha256sum | cut -c1-12)
  result=$cache/machine-$SUITE-$recipe
  if [[ ${1:-} == --where ]]; then
    echo "$result"
    [[ -d $result ]] && for_each_missing_tool false
    return
  fi
  for_each_missing_tool install_tools >&2
  [[ -d $result ]] || make_once "$result" >&2
  echo "$result"
}

# Runs the command with the packages that are missing, if there are any.
for_each_missing_tool() {
  local tool missing=()
  for tool in "${TOOLS[@]}"; do
    dpkg -s "$tool" >/dev/null 2>&1 || missing+=("$tool")
  done
  ((${#missing[@]} == 0)) || "$@" "${missing[@]}"
}

install_tools() {
  require_debian_root
  echo "tree.sh: installing $* ..."
  apt-get -q update >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends \
    --no-remove "$@" >/dev/null
}

require_debian_root() {
  if [[ $EUID -ne 0 ]] || ! grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release || [[ $(uname -m) != x86_64 ]]; then
    echo "tree.sh: needs root on Debian 12 (bookworm), amd64: it installs packages and makes a system of its own kind" >&2
    exit 2
  fi
}

# Several test files may ask at the same time: the first makes it, the others wait and find it.
make_once() {
  local result=$1
  require_debian_root
  mkdir -p "$(dirname "$result")"
  exec 9>"$(dirname "$result")/machine.lock"
  flock 9
  if [[ ! -d $result ]]; then
    work=$(mktemp -d "$result.making-XXXXXX")
    trap 'rm -rf "$work"' EXIT
    echo "tree.sh: unpacking Debian $SUITE with its kernel ..."
    unpack "$work/root" >"$work/log" 2>&1 || fail "mmdebstrap"
    uncompressed_kernel "$work/root"/boot/vmlinuz-* "$work/vmlinux" || fail "taking the kernel out of its compressed image"
    mv "$work/root"/boot/initrd.img-* "$work/initrd"
    rm -rf "$work/root/boot" "$work/log"
    (cd "$here" && CGO_ENABLED=0 GO111MODULE=off go build -trimpath -ldflags '-s -w' -o "$work/idle" idle.go)
    chmod 755 "$work"
    mv "$work" "$result"
    trap - EXIT
    echo "tree.sh: $SECONDS s"
  fi
  exec 9>&-
}

fail() {
  tail -n 40 "$work/log"
  echo "tree.sh: $1 failed; above is the end of its output"
  exit 1
}

# The first file system has no more modules than it takes to find the disk: an emulated processor is slow to unpack them.
# shellcheck disable=SC2016 # Each hook has a shell of its own, with the directory as its first argument.
unpack() {
  mmdebstrap --mode=root --variant=minbase --include="$PACKAGES" \
    --essential-hook='mkdir -p "$1/etc/initramfs-tools/conf.d"; echo MODULES=list >"$1/etc/initramfs-tools/conf.d/machine"' \
    --customize-hook='printf "virtio_pci\nvirtio_blk\next4\n" >>"$1/etc/initramfs-tools/modules"' \
    --customize-hook='chroot "$1" update-initramfs -u' \
    --customize-hook='rm -rf "$1"/usr/share/doc "$1"/usr/share/locale "$1"/usr/share/man' \
    "$SUITE" "$1"
}

# QEMU loads it as it is, in no time; unpacked by the machine itself it takes half a minute.
uncompressed_kernel() {
  local image=$1 target=$2 offset
  while read -r offset; do
    tail -c "+$((offset + 1))" "$image" | zstd -dc >"$target" 2>/dev/null || true
    [[ $(head -c 4 "$target") == $'\x7fELF' ]] && return
  done < <(LC_ALL=C grep -aboP '\x28\xb5\x2f\xfd' "$image" | cut -d: -f1)
  return 1
}

main "$@"
