#!/bin/sh
# Makes one image of those of the architectures, and signs it: index.sh IMAGE VERSION DIGEST...
# Prints the digest of the whole.
set -eu
image=$1 version=$2
shift 2
here=$(dirname "$0")

parts=
for digest in "$@"; do
  case $digest in
    sha256:????????????????????????????????????????????????????????????????) parts="$parts $image@$digest" ;;
    *) echo "index.sh: $digest is not a digest" >&2 && exit 2 ;;
  esac
done

# shellcheck disable=SC2086 # several words, none of which has a space in it
docker buildx imagetools create --tag "$image:$version" $parts >&2
digest=$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$image:$version")
sh "$here/sign.sh" "$image@$digest" "release/kubelet-gitops-$version.sbom.cdx.json"
echo "$digest"
