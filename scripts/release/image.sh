#!/bin/sh
# Builds the image for the machine that it runs on, and pushes it: image.sh IMAGE VERSION ARCHITECTURE
# Prints its digest, and nothing else, on standard output. No emulation: every architecture is built on a machine of its own.
set -eu
image=$1 version=$2 architecture=$3
tag="$image:$version-$architecture"

docker build --pull --platform "linux/$architecture" --tag "$tag" . >&2
docker push --quiet "$tag" >&2
# What was pushed, by its content: a tag can be moved by others before the next job looks.
digest=$(docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$tag" |
  sed -n "s|^$image@\(sha256:[0-9a-f]\{64\}\)\$|\1|p" | tail -n 1)
if [ -z "$digest" ]; then
  echo "image.sh: docker does not say what it pushed as $tag" >&2
  exit 1
fi
echo "$digest"
